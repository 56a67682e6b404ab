// SPDX-License-Identifier: MIT
// The room in which everything stands: lights, backdrop, camera. Light or dark as the page is.
import * as three from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import type { Scene } from './protocol';

// Towards the sun.
const SUN = new three.Vector3(0.45, 1, 0.55).normalize();
const SHADOW_PIXELS = 2048;
// How a camera looks that no scene gives: degrees to the right of the front and above, and vertical angle.
const AZIMUTH = 28;
const ELEVATION = 18;
const FOV = 32;
// Scenes' own views are made for pictures that are at least so many times as wide as tall.
const WIDTH = 1.25;

const LIGHT_BACK = 0xe6e3de;
const DARK_BACK = 0x26282d;

const TO_SRGB = Uint8ClampedArray.from({ length: 256 }, (_, i) => {
  const c = i / 255;
  return 255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055);
});

/** Pixels of a render target, which are linear and bottom up, as an address. */
function pictureOf(pixels: Uint8Array, size: number): string {
  const small = document.createElement('canvas');
  small.width = small.height = size;
  const context = small.getContext('2d');
  if (!context) return '';
  const image = context.createImageData(size, size);
  for (let row = 0; row < size; ++row) {
    for (let i = 0; i < 4 * size; ++i) {
      const value = pixels[4 * size * (size - 1 - row) + i]!;
      image.data[4 * size * row + i] = i % 4 === 3 ? 255 : TO_SRGB[value]!;
    }
  }
  context.putImageData(image, 0, 0);
  return small.toDataURL('image/webp', 0.8);
}

export class Studio {
  readonly scene = new three.Scene();
  readonly camera = new three.PerspectiveCamera(FOV, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  readonly renderer: three.WebGLRenderer;
  private readonly sun = new three.DirectionalLight(0xfff4e6, 2.6);
  private readonly sky = new three.HemisphereLight(0xffffff, 0xb8b0a6, 1.5);
  private readonly dark = matchMedia('(prefers-color-scheme: dark)');
  private box = new three.Box3();
  private given: Scene['camera'];
  private isStale = true;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.renderer = new three.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: false });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.localClippingEnabled = true;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = three.PCFShadowMap;
    this.renderer.toneMapping = three.ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 0.9;
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(SHADOW_PIXELS, SHADOW_PIXELS);
    this.sun.shadow.radius = 5;
    this.sun.shadow.normalBias = 0.02;
    this.scene.add(this.sun, this.sun.target, this.sky);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = !matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.controls.dampingFactor = 0.12;
    this.controls.maxPolarAngle = Math.PI * 0.98;
    this.dark.addEventListener('change', () => this.paintBackdrop());
    this.paintBackdrop();
  }

  get backdrop(): three.Color {
    return new three.Color(this.dark.matches ? DARK_BACK : LIGHT_BACK);
  }

  private paintBackdrop(): void {
    this.isStale = true;
    this.scene.background = this.backdrop;
    this.scene.fog = new three.Fog(this.backdrop, 1, 10);
    this.sky.intensity = this.dark.matches ? 1.4 : 1.5;
    this.sky.groundColor.set(this.dark.matches ? 0x8a8680 : 0xb8b0a6);
    this.sun.intensity = this.dark.matches ? 2.4 : 2.6;
    this.fitFog();
  }

  /** Lights and limits for what is in the box; the view of the scene, or one that sees the box. */
  frame(box: three.Box3, camera: Scene['camera']): void {
    this.box = box;
    this.given = camera;
    const size = Math.max(box.getSize(new three.Vector3()).length(), 1e-3);
    const center = box.getCenter(new three.Vector3());
    this.sun.target.position.copy(center);
    this.sun.position.copy(center).addScaledVector(SUN, 3 * size);
    const eye = this.sun.shadow.camera;
    eye.left = eye.bottom = -1.1 * size;
    eye.right = eye.top = 1.1 * size;
    eye.near = 0.5 * size;
    eye.far = 6 * size;
    eye.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.006 * size;
    this.camera.near = 0.01 * size;
    this.camera.far = 60 * size;
    this.resetView();
    this.fitFog();
  }

  resetView(): void {
    const { camera, controls } = this;
    // Without damping, an update ends what a drag still moves.
    controls.enableDamping = false;
    controls.update();
    if (this.given) {
      camera.fov = this.given.fov;
      camera.position.fromArray(this.given.eye);
      controls.target.fromArray(this.given.target);
      camera.position.sub(controls.target).multiplyScalar(this.stepBack(camera.aspect)).add(controls.target);
    } else {
      const center = this.box.getCenter(new three.Vector3());
      const radius = Math.max(0.5 * this.box.getSize(new three.Vector3()).length(), 1e-3);
      const half = Math.tan((FOV * Math.PI) / 360);
      const angle = three.MathUtils.degToRad(AZIMUTH);
      const height = three.MathUtils.degToRad(ELEVATION);
      camera.fov = FOV;
      camera.position
        .set(Math.sin(angle) * Math.cos(height), Math.sin(height), Math.cos(angle) * Math.cos(height))
        .multiplyScalar((1.15 * radius * this.stepBack(camera.aspect)) / half)
        .add(center);
      controls.target.copy(center);
    }
    camera.updateProjectionMatrix();
    controls.update();
    this.isStale = true;
    controls.enableDamping = !matchMedia('(prefers-reduced-motion: reduce)').matches;
  }

  /** Views are made for wide pictures; in a tall one the camera is so many times farther away, to see as much across. */
  private stepBack(aspect: number): number {
    return this.given ? Math.max(1, WIDTH / aspect) : 1 / Math.min(1, aspect);
  }

  /** The floor fades into the backdrop behind what is seen. */
  private fitFog(): void {
    if (!(this.scene.fog instanceof three.Fog)) return;
    const reach = this.camera.position.distanceTo(this.controls.target) + 0.5 * this.box.getSize(new three.Vector3()).length();
    this.scene.fog.near = 1.3 * reach;
    this.scene.fog.far = 4.2 * reach;
  }

  /** True if the size has changed. */
  private resize(): boolean {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return false;
    const size = this.renderer.getSize(new three.Vector2());
    if (size.x === width && size.y === height) return false;
    this.renderer.setSize(width, height, false);
    // Beside a text, or above a panel, the same is in view.
    const { camera, controls } = this;
    const nearer = this.stepBack(camera.aspect);
    camera.aspect = width / height;
    camera.position.sub(controls.target).multiplyScalar(this.stepBack(camera.aspect) / nearer).add(controls.target);
    camera.updateProjectionMatrix();
    this.fitFog();
    return true;
  }

  /** The next draw is not skipped. */
  invalidate(): void {
    this.isStale = true;
  }

  /** A small picture of one object alone, as an address. */
  portrait(object: three.Mesh, size: number): string {
    const scene = new three.Scene();
    scene.background = this.backdrop;
    const box = new three.Box3().setFromObject(object);
    const center = box.getCenter(new three.Vector3());
    const radius = Math.max(0.5 * box.getSize(new three.Vector3()).length(), 1e-6);
    const camera = new three.PerspectiveCamera(FOV, 1, 0.1 * radius, 20 * radius);
    const away = this.camera.position.clone().sub(this.controls.target).normalize();
    camera.position.copy(center).addScaledVector(away, (1.05 * radius) / Math.sin((FOV * Math.PI) / 360));
    camera.lookAt(center);
    const sun = new three.DirectionalLight(0xffffff, 2.4);
    sun.position.copy(camera.position).add(SUN.clone().multiplyScalar(radius));
    sun.target.position.copy(center);
    scene.add(object, sun, sun.target, new three.HemisphereLight(0xffffff, 0xb8b0a6, 1.6));
    const target = new three.WebGLRenderTarget(size, size, { samples: 4 });
    this.renderer.setRenderTarget(target);
    this.renderer.render(scene, camera);
    const pixels = new Uint8Array(4 * size * size);
    this.renderer.readRenderTargetPixels(target, 0, 0, size, size, pixels);
    this.renderer.setRenderTarget(null);
    target.dispose();
    this.invalidate();
    return pictureOf(pixels, size);
  }

  /** Draws if something has changed: a new frame, the view, the size. */
  draw(isNew: boolean): void {
    const hasMoved = this.controls.update();
    const hasGrown = this.resize();
    if (!isNew && !hasMoved && !hasGrown && !this.isStale) return;
    this.isStale = false;
    this.renderer.render(this.scene, this.camera);
  }
}
