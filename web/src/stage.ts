// SPDX-License-Identifier: MIT
// What stands in the studio: bodies, obstacles, pins and the spring to the pointer.
import * as three from 'three';
import { readFrame, type Frame } from './frame';
import { InsideMarks } from './inside_marks';
import type { Handle, Scene, Vec3 } from './protocol';
import { showBody, type Look, type ShownBody } from './shown_body';
import { disposeObject, placeObstacle, showObstacle } from './shown_obstacle';
import type { Studio } from './studio';

const MAX_PINS = 64;
// Radius of the markers, in sizes of the scene.
const MARKER = 0.012;
const PIN_COLOR = new three.Color(0xd1242f);
const ANCHOR_COLOR = new three.Color(0x6b6f76);
// As far as the core looks for a pin to remove, in sizes of the body.
const PIN_REACH = 0.12;

export interface Touched {
  body: number;
  point: three.Vector3;
}

function boxOf(frame: Frame): three.Box3 {
  const box = new three.Box3();
  const point = new three.Vector3();
  for (const body of frame.bodies) {
    for (let i = 0; i < body.positions.length; i += 3) {
      point.fromArray(body.positions, i);
      if (Number.isFinite(point.x + point.y + point.z)) box.expandByPoint(point);
    }
  }
  if (box.isEmpty()) box.setFromCenterAndSize(new three.Vector3(), new three.Vector3(1, 1, 1));
  return box;
}

export class Stage {
  private scene: Scene | undefined;
  private bodies: ShownBody[] = [];
  private obstacles: three.Object3D[] = [];
  private isFramed = false;
  private readonly ray = new three.Raycaster();
  private readonly pins: three.InstancedMesh;
  private readonly spring: three.Line;
  private size = 1;
  frame: Frame | undefined;
  /** Of the bodies in the first frame. */
  box = new three.Box3();
  private view: Look = { planes: [], edges: false, labels: false };
  private handles: Handle[] | undefined;
  private readonly cursor: three.Mesh<three.BufferGeometry, three.MeshBasicMaterial>;
  private buffer: ArrayBuffer | undefined;
  private readonly marks: InsideMarks;

  constructor(private readonly studio: Studio) {
    const dot = new three.SphereGeometry(1, 16, 12);
    this.pins = new three.InstancedMesh(dot, new three.MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9 }), MAX_PINS);
    this.pins.frustumCulled = false;
    this.pins.renderOrder = 2;
    const line = new three.BufferGeometry();
    line.setAttribute('position', new three.BufferAttribute(new Float32Array(6), 3));
    this.spring = new three.Line(line, new three.LineBasicMaterial({ color: 0x1f6feb, depthTest: false, transparent: true }));
    this.spring.frustumCulled = false;
    this.spring.renderOrder = 2;
    this.spring.visible = false;
    this.pins.count = 0;
    this.cursor = new three.Mesh(new three.SphereGeometry(1, 24, 16), new three.MeshBasicMaterial({ color: 0x1f6feb, transparent: true, opacity: 0.18, depthWrite: false }));
    this.cursor.visible = false;
    this.marks = new InsideMarks();
    studio.scene.add(this.pins, this.spring, this.cursor, this.marks.object);
    // Floors are painted for light or dark.
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.repaint());
  }

  open(scene: Scene, keepView: boolean): void {
    for (const body of this.bodies) {
      this.studio.scene.remove(body.object);
      body.dispose();
    }
    this.removeObstacles();
    this.scene = scene;
    this.bodies = scene.bodies.map((body) => showBody(body, scene.models[body.model]!));
    for (const body of this.bodies) {
      this.studio.scene.add(body.object);
      body.look(this.view);
    }
    this.isFramed = keepView;
    this.frame = undefined;
    if (keepView) this.addObstacles();
  }

  private repaint(): void {
    if (!this.scene || !this.frame || !this.isFramed) return;
    this.removeObstacles();
    this.addObstacles();
    this.frame.obstacles.forEach((obstacle, i) => placeObstacle(this.obstacles[i]!, obstacle));
    this.studio.invalidate();
  }

  private removeObstacles(): void {
    for (const object of this.obstacles) {
      this.studio.scene.remove(object);
      disposeObject(object);
    }
    this.obstacles = [];
  }

  private addObstacles(): void {
    this.obstacles = this.scene!.obstacles.map((obstacle) => showObstacle(obstacle, this.size));
    for (const object of this.obstacles) this.studio.scene.add(object);
  }

  /** Shows a frame. Returns the buffer of the one before, which is no longer needed. */
  show(buffer: ArrayBuffer): ArrayBuffer | undefined {
    const frame = readFrame(buffer);
    const old = this.buffer;
    this.buffer = buffer;
    this.frame = frame;
    if (!this.scene || frame.bodies.length !== this.bodies.length) return old;
    frame.bodies.forEach((body, i) => this.bodies[i]!.update(body, frame));
    if (!this.isFramed) {
      const box = (this.box = boxOf(frame));
      this.reachFloor(box);
      this.size = Math.max(box.getSize(new three.Vector3()).length(), 1e-3);
      this.addObstacles();
      this.studio.frame(box, this.scene.camera);
      this.isFramed = true;
    }
    frame.obstacles.forEach((obstacle, i) => placeObstacle(this.obstacles[i]!, obstacle));
    this.markHolds(frame);
    this.marks.update(frame, this.size);
    return old;
  }

  /** What falls is still in view when it lies on the floor. */
  private reachFloor(box: three.Box3): void {
    for (const { normal, offset } of this.scene!.obstacles) {
      if (normal && normal[1] > 0.99) box.min.y = Math.min(box.min.y, offset ?? 0);
    }
  }

  look(view: Look): void {
    this.view = view;
    for (const body of this.bodies) body.look(view);
  }

  /** Values of bodies are labels. */
  set labels(on: boolean) {
    this.look({ ...this.view, labels: on });
  }

  /** Handles of a pose, shown instead of pins. */
  markHandles(handles: Handle[] | undefined): void {
    this.handles = handles;
    if (this.frame) this.markHolds(this.frame);
    this.studio.invalidate();
  }

  /** How far the hand reaches around a point of a body. */
  showCursor(at: Vec3 | undefined, radius: number): void {
    if (!at && !this.cursor.visible) return;
    this.cursor.visible = at !== undefined;
    if (at) this.cursor.position.fromArray(at);
    this.cursor.scale.setScalar(Math.max(radius, 1e-6));
    this.studio.invalidate();
  }

  /** True if two points are within a few markers of each other. */
  isNear(a: Vec3, b: Vec3): boolean {
    return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) < 6 * MARKER * this.size;
  }

  /** True if a pin of the last frame is within reach of a point on a body. */
  hasPinAt(body: number, at: Vec3): boolean {
    const reach = PIN_REACH * (this.scene?.bodies[body]?.size ?? 0);
    const point = new three.Vector3(...at);
    return this.frame?.pins.some((pin) => point.distanceTo(new three.Vector3().fromArray(pin)) <= reach) ?? false;
  }

  private markHolds(frame: Frame): void {
    const place = new three.Matrix4();
    const radius = MARKER * this.size;
    const marks: ArrayLike<number>[] = this.handles ? this.handles.map((handle) => handle.at) : frame.pins;
    marks.slice(0, MAX_PINS).forEach((mark, i) => {
      place.makeScale(radius, radius, radius).setPosition(mark[0]!, mark[1]!, mark[2]!);
      this.pins.setMatrixAt(i, place);
      this.pins.setColorAt(i, this.handles?.[i]?.anchor ? ANCHOR_COLOR : PIN_COLOR);
    });
    this.pins.count = Math.min(marks.length, MAX_PINS);
    if (this.pins.instanceColor) this.pins.instanceColor.needsUpdate = true;
    this.pins.instanceMatrix.needsUpdate = true;
    this.spring.visible = frame.grab !== undefined;
    if (!frame.grab) return;
    const ends = this.spring.geometry.getAttribute('position') as three.BufferAttribute;
    ends.set(frame.grab.held, 0);
    ends.set(frame.grab.pointer, 3);
    ends.needsUpdate = true;
  }

  /** The nearest body at a place of the view, x and y from -1 to 1. */
  touch(x: number, y: number): Touched | undefined {
    this.ray.setFromCamera(new three.Vector2(x, y), this.studio.camera);
    let best: (Touched & { distance: number }) | undefined;
    this.bodies.forEach((shown, body) => {
      const hit = shown.hit(this.ray);
      if (hit && (!best || hit.distance < best.distance)) best = { body, point: hit.point, distance: hit.distance };
    });
    return best;
  }

  /** Where the ray through a place of the view meets the plane through `point` that faces the eye. */
  across(x: number, y: number, point: three.Vector3): three.Vector3 | undefined {
    this.ray.setFromCamera(new three.Vector2(x, y), this.studio.camera);
    const normal = this.studio.camera.getWorldDirection(new three.Vector3());
    const plane = new three.Plane().setFromNormalAndCoplanarPoint(normal, point);
    return this.ray.ray.intersectPlane(plane, new three.Vector3()) ?? undefined;
  }
}
