// SPDX-License-Identifier: MIT
// Bodies as three.js objects: a surface, or balls for loose particles. The arrays of a frame become
// the arrays of the attributes, so they are not copied again on the way to the graphics card.
import * as three from 'three';
import { colorLabels, colorValues } from './colors';
import type { BodyFrame, Frame } from './frame';
import type { Body, Model } from './protocol';

export interface Hit {
  distance: number;
  point: three.Vector3;
}

/** A body that can be drawn and hit by a ray. */
export interface ShownBody {
  readonly object: three.Object3D;
  update(frame: BodyFrame, whole: Frame): void;
  hit(ray: three.Raycaster): Hit | undefined;
  look(look: Look): void;
  dispose(): void;
}

/** How bodies are looked into. */
export interface Look {
  planes: three.Plane[];
  edges: boolean;
  /** Values are labels, each with a colour of its own. */
  labels: boolean;
}

function materialOf(body: Body, vertexColors: boolean): three.MeshPhysicalMaterial {
  return new three.MeshPhysicalMaterial({
    color: vertexColors ? 0xffffff : new three.Color().fromArray(body.color),
    vertexColors,
    roughness: 0.75 - 0.45 * body.gloss,
    clearcoat: 0.3 * body.gloss,
    clearcoatRoughness: 0.35,
    side: three.DoubleSide,
    shadowSide: three.FrontSide,
  });
}

/** Replaces the array of an attribute; a new size needs a new buffer on the graphics card. */
function setArray(geometry: three.BufferGeometry, name: string, array: Float32Array, make: (array: Float32Array) => three.BufferAttribute): void {
  const attribute = geometry.getAttribute(name) as three.BufferAttribute | undefined;
  if (attribute && attribute.array.length === array.length) {
    attribute.array = array;
    attribute.needsUpdate = true;
    return;
  }
  geometry.setAttribute(name, make(array).setUsage(three.DynamicDrawUsage));
}

// Surfaces ----------------------------------------------------------------------------------------

const perVertex = (array: Float32Array): three.BufferAttribute => new three.BufferAttribute(array, 3);

/** Outlines of the sections of tets, which are triangles, or quads as two triangles in a row with the same first corner. */
function outlines(positions: Float32Array): Float32Array {
  const lines: number[] = [];
  const add = (a: number, b: number): void => {
    for (const corner of [a, b]) lines.push(positions[3 * corner]!, positions[3 * corner + 1]!, positions[3 * corner + 2]!);
  };
  const isSame = (a: number, b: number): boolean => [0, 1, 2].every((k) => positions[3 * a + k] === positions[3 * b + k]);
  const count = positions.length / 3;
  for (let i = 0; i < count; i += 3) {
    const isQuad = i + 3 < count && isSame(i, i + 3) && isSame(i + 2, i + 4);
    add(i, i + 1);
    add(i + 1, i + 2);
    if (isQuad) {
      i += 3;
      add(i + 1, i + 2);
    }
    add(i + 2, i);
  }
  return new Float32Array(lines);
}

/** The inside of tets along a plane. */
class CutFace {
  readonly object: three.Mesh<three.BufferGeometry, three.MeshStandardMaterial>;
  private readonly tets: three.LineSegments<three.BufferGeometry, three.LineBasicMaterial>;
  private colors = new Float32Array();

  constructor(private readonly body: Body) {
    // Behind its outlines.
    const material = new three.MeshStandardMaterial({ vertexColors: true, side: three.DoubleSide, roughness: 0.9, flatShading: true, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
    this.object = new three.Mesh(new three.BufferGeometry(), material);
    this.tets = new three.LineSegments(new three.BufferGeometry(), new three.LineBasicMaterial({ color: 0x101010, transparent: true, opacity: 0.6 }));
    this.object.frustumCulled = this.object.visible = this.tets.frustumCulled = this.tets.visible = false;
    this.object.add(this.tets);
  }

  set edges(on: boolean) {
    this.tets.visible = on;
  }

  /** corners: position and value of each. */
  update(corners: Float32Array, whole: Frame): void {
    const count = corners.length / 4;
    const { geometry } = this.object;
    this.object.visible = count > 0;
    if (count === 0) return;
    const positions = new Float32Array(3 * count);
    const values = new Float32Array(count);
    if (this.colors.length !== 3 * count) this.colors = new Float32Array(3 * count);
    for (let i = 0; i < count; ++i) {
      positions.set(corners.subarray(4 * i, 4 * i + 3), 3 * i);
      values[i] = corners[4 * i + 3]!;
    }
    if (Number.isNaN(values[0]!)) {
      // A little paler than the outside.
      for (let i = 0; i < this.colors.length; ++i) this.colors[i] = 0.35 + 0.55 * this.body.color[i % 3]!;
    } else {
      colorValues(values, whole.low, whole.high, this.colors);
    }
    setArray(geometry, 'position', positions, perVertex);
    setArray(geometry, 'color', this.colors, perVertex);
    geometry.setDrawRange(0, count);
    if (this.tets.visible) setArray(this.tets.geometry, 'position', outlines(positions), perVertex);
  }

  dispose(): void {
    for (const part of [this.object, this.tets]) {
      part.geometry.dispose();
      part.material.dispose();
    }
  }
}

export class SurfaceBody implements ShownBody {
  readonly object: three.Mesh<three.BufferGeometry, three.MeshPhysicalMaterial>;
  private readonly ownColors: Float32Array | undefined;
  private fieldColors: Float32Array | undefined;
  private showsField = false;
  private labels = false;
  private readonly edges: three.Mesh<three.BufferGeometry, three.MeshBasicMaterial>;
  private readonly cutFace: CutFace;

  constructor(
    private readonly body: Body,
    model: Model,
  ) {
    const geometry = new three.BufferGeometry();
    geometry.setIndex(new three.BufferAttribute(model.triangles, 1));
    if (body.colors) {
      const colors = new Float32Array(3 * model.vertices);
      for (let i = 0; i < model.vertices; ++i) {
        for (let k = 0; k < 3; ++k) colors[3 * i + k] = body.colors[3 * model.source[i]! + k]!;
      }
      this.ownColors = colors;
      geometry.setAttribute('color', new three.BufferAttribute(colors, 3));
    }
    this.object = new three.Mesh(geometry, materialOf(body, body.colors !== undefined));
    this.object.castShadow = this.object.receiveShadow = true;
    this.object.frustumCulled = false;
    this.object.visible = false;
    this.edges = new three.Mesh(geometry, new three.MeshBasicMaterial({ color: 0x101010, wireframe: true, transparent: true, opacity: 0.45 }));
    this.edges.frustumCulled = this.edges.visible = false;
    this.cutFace = new CutFace(body);
    this.object.add(this.edges, this.cutFace.object);
  }

  look({ planes, edges, labels }: Look): void {
    this.labels = labels;
    this.object.material.clippingPlanes = this.edges.material.clippingPlanes = planes;
    this.object.material.clipShadows = true;
    this.edges.visible = this.cutFace.edges = edges;
  }

  update(frame: BodyFrame, whole: Frame): void {
    const { geometry } = this.object;
    this.object.visible = frame.kind === 'surface';
    if (frame.kind !== 'surface') return;
    setArray(geometry, 'position', frame.positions, perVertex);
    setArray(geometry, 'normal', frame.normals!, perVertex);
    geometry.boundingSphere = null;
    this.cutFace.update(frame.cut, whole);
    this.paint(frame, whole);
  }

  private paint(frame: BodyFrame, whole: Frame): void {
    const { geometry, material } = this.object;
    if (frame.values) {
      this.fieldColors ??= new Float32Array(3 * frame.count);
      if (this.labels) colorLabels(frame.values, this.fieldColors);
      else colorValues(frame.values, whole.low, whole.high, this.fieldColors);
      setArray(geometry, 'color', this.fieldColors, perVertex);
    } else if (this.showsField) {
      if (this.ownColors) setArray(geometry, 'color', this.ownColors, perVertex);
    }
    if (this.showsField === (frame.values !== undefined)) return;
    this.showsField = frame.values !== undefined;
    material.vertexColors = this.showsField || this.ownColors !== undefined;
    if (material.vertexColors) material.color.set(0xffffff);
    else material.color.fromArray(this.body.color);
    material.needsUpdate = true;
  }

  hit(ray: three.Raycaster): Hit | undefined {
    if (!this.object.visible) return undefined;
    return ray.intersectObject(this.object, false)[0];
  }

  dispose(): void {
    this.object.geometry.dispose();
    this.object.material.dispose();
    this.edges.material.dispose();
    this.cutFace.dispose();
  }
}

// Particles ---------------------------------------------------------------------------------------

// Balls are one small mesh, drawn once per particle; the shader puts it in place.
function placeBalls(material: three.Material): void {
  material.onBeforeCompile = (shader) => {
    shader.vertexShader =
      'attribute vec3 center;\nattribute float radius;\n' +
      shader.vertexShader.replace('#include <begin_vertex>', 'vec3 transformed = position * radius + center;');
  };
}

const perBall = (size: number) => (array: Float32Array) => new three.InstancedBufferAttribute(array, size);

export class ParticleBody implements ShownBody {
  readonly object = new three.Group();
  private readonly balls: three.Mesh<three.InstancedBufferGeometry, three.MeshPhysicalMaterial>;
  private frame: BodyFrame | undefined;
  private tints = new Float32Array();
  /** A surface around the balls, shown instead of them if a frame has one. */
  private readonly skin: three.Mesh<three.BufferGeometry, three.MeshPhysicalMaterial>;

  constructor(private readonly body: Body) {
    const ball = new three.IcosahedronGeometry(1, 1);
    const geometry = new three.InstancedBufferGeometry();
    geometry.setAttribute('position', ball.getAttribute('position'));
    geometry.setAttribute('normal', ball.getAttribute('position'));
    this.balls = new three.Mesh(geometry, materialOf(body, true));
    this.balls.customDepthMaterial = new three.MeshDepthMaterial({ depthPacking: three.RGBADepthPacking });
    placeBalls(this.balls.material);
    placeBalls(this.balls.customDepthMaterial);
    this.skin = new three.Mesh(new three.BufferGeometry(), materialOf(body, body.colors !== undefined));
    for (const mesh of [this.balls, this.skin]) {
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = mesh.visible = false;
    }
    this.object.add(this.balls, this.skin);
  }

  update(frame: BodyFrame, whole: Frame): void {
    this.balls.visible = frame.kind === 'particles' && frame.count > 0;
    this.skin.visible = frame.kind === 'skin' && frame.count > 0;
    this.frame = frame;
    if (this.skin.visible) this.updateSkin(frame);
    if (!this.balls.visible) return;
    const { geometry } = this.balls;
    // Buffers of another size cannot be updated in place.
    if (geometry.instanceCount !== frame.count) geometry.dispose();
    geometry.instanceCount = frame.count;
    setArray(geometry, 'center', frame.positions, perBall(3));
    setArray(geometry, 'radius', frame.radii!, perBall(1));
    if (this.tints.length !== 3 * frame.count) this.tints = new Float32Array(3 * frame.count);
    if (frame.values) colorValues(frame.values, whole.low, whole.high, this.tints);
    else this.ownTints(frame.count);
    setArray(geometry, 'color', this.tints, perBall(3));
  }

  private updateSkin(frame: BodyFrame): void {
    const { geometry } = this.skin;
    setArray(geometry, 'position', frame.positions, perVertex);
    setArray(geometry, 'normal', frame.normals!, perVertex);
    geometry.setIndex(new three.BufferAttribute(frame.triangles!, 1));
    geometry.boundingSphere = null;
    const own = this.body.colors;
    if (!own) return;
    const colors = new Float32Array(3 * frame.count);
    frame.owners!.forEach((owner, i) => {
      for (let k = 0; k < 3; ++k) colors[3 * i + k] = own[3 * owner + k] ?? this.body.color[k]!;
    });
    setArray(geometry, 'color', colors, perVertex);
  }

  look({ planes }: Look): void {
    this.balls.material.clippingPlanes = this.skin.material.clippingPlanes = planes;
  }

  private ownTints(count: number): void {
    const own = this.body.colors;
    for (let i = 0; i < count; ++i) {
      for (let k = 0; k < 3; ++k) this.tints[3 * i + k] = own?.[3 * i + k] ?? this.body.color[k]!;
    }
  }

  hit(ray: three.Raycaster): Hit | undefined {
    if (this.skin.visible) return ray.intersectObject(this.skin, false)[0];
    if (!this.balls.visible || !this.frame) return undefined;
    const { positions, radii, count } = this.frame;
    const sphere = new three.Sphere();
    const point = new three.Vector3();
    let best: Hit | undefined;
    for (let i = 0; i < count; ++i) {
      sphere.set(point.fromArray(positions, 3 * i).clone(), radii![i]!);
      const at = ray.ray.intersectSphere(sphere, new three.Vector3());
      if (!at) continue;
      const distance = at.distanceTo(ray.ray.origin);
      if (!best || distance < best.distance) best = { distance, point: at };
    }
    return best;
  }

  dispose(): void {
    for (const mesh of [this.balls, this.skin]) {
      mesh.geometry.dispose();
      mesh.material.dispose();
      mesh.customDepthMaterial?.dispose();
    }
  }
}

/** A surface in another shape, for a picture. surface: positions, then normals. */
export function portraitOf(body: Body, model: Model, surface: Float32Array): three.Mesh<three.BufferGeometry, three.Material> {
  const geometry = new three.BufferGeometry();
  geometry.setIndex(new three.BufferAttribute(model.triangles, 1));
  const half = surface.length / 2;
  geometry.setAttribute('position', perVertex(surface.subarray(0, half)));
  geometry.setAttribute('normal', perVertex(surface.subarray(half)));
  return new three.Mesh(geometry, materialOf(body, false));
}

export function showBody(body: Body, model: Model): ShownBody {
  return model.particles ? new ParticleBody(body) : new SurfaceBody(body, model);
}
