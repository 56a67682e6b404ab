// SPDX-License-Identifier: MIT
// Marks for what is inside: contacts as dots with their normals, regions as small axes, slaves as points.
import * as three from 'three';
import type { Frame } from './frame';

// In sizes of the scene.
const DOT = 0.006;
const NORMAL = 0.03;
const AXIS = 0.018;
const CONTACT = 0xe3256b;
const SLAVE = 0x0b6e99;
const SLAVE_PIXELS = 3;
const MAX_DOTS = 4000;

/** Lines that are drawn over everything; their arrays grow as needed. */
class Lines {
  readonly object: three.LineSegments<three.BufferGeometry, three.LineBasicMaterial>;
  private positions = new Float32Array();

  constructor(material: three.LineBasicMaterialParameters) {
    this.object = new three.LineSegments(new three.BufferGeometry(), new three.LineBasicMaterial({ depthTest: false, transparent: true, ...material }));
    this.object.frustumCulled = this.object.visible = false;
    this.object.renderOrder = 2;
  }

  /** Room for the ends of `count` lines; the colours are made once per size. */
  reserve(count: number, colorOf?: (line: number) => [number, number, number]): Float32Array {
    const { geometry } = this.object;
    if (this.positions.length < 6 * count) {
      this.positions = new Float32Array(6 * Math.ceil(1.5 * count));
      geometry.setAttribute('position', new three.BufferAttribute(this.positions, 3));
      if (colorOf) {
        const colors = new Float32Array(this.positions.length);
        for (let i = 0; i < colors.length / 3; ++i) colors.set(colorOf(i >> 1), 3 * i);
        geometry.setAttribute('color', new three.BufferAttribute(colors, 3));
      }
    }
    this.object.visible = count > 0;
    geometry.setDrawRange(0, 2 * count);
    const attribute = geometry.getAttribute('position');
    if (attribute) attribute.needsUpdate = true;
    return this.positions;
  }
}

export class InsideMarks {
  readonly object = new three.Group();
  private readonly dots: three.InstancedMesh;
  private readonly normals = new Lines({ color: CONTACT });
  private readonly axes = new Lines({ vertexColors: true });
  private readonly slaves: three.Points<three.BufferGeometry, three.PointsMaterial>;

  constructor() {
    const material = new three.MeshBasicMaterial({ color: CONTACT, depthTest: false, transparent: true });
    this.dots = new three.InstancedMesh(new three.SphereGeometry(1, 8, 6), material, MAX_DOTS);
    this.dots.frustumCulled = false;
    this.dots.renderOrder = 2;
    this.dots.count = 0;
    const point = new three.PointsMaterial({ color: SLAVE, size: SLAVE_PIXELS, sizeAttenuation: false, depthTest: false, transparent: true, opacity: 0.8 });
    this.slaves = new three.Points(new three.BufferGeometry(), point);
    this.slaves.frustumCulled = this.slaves.visible = false;
    this.slaves.renderOrder = 2;
    this.object.add(this.dots, this.normals.object, this.axes.object, this.slaves);
  }

  update(frame: Frame, size: number): void {
    this.showContacts(frame.contacts, size);
    this.showAxes(frame.axes, size);
    this.showSlaves(frame.slaves);
  }

  private showContacts(contacts: Float32Array, size: number): void {
    const count = Math.min(contacts.length / 6, MAX_DOTS);
    const ends = this.normals.reserve(count);
    const place = new three.Matrix4();
    const radius = DOT * size;
    for (let i = 0; i < count; ++i) {
      const [x, y, z, u, v, w] = contacts.subarray(6 * i, 6 * i + 6) as unknown as [number, number, number, number, number, number];
      place.makeScale(radius, radius, radius).setPosition(x, y, z);
      this.dots.setMatrixAt(i, place);
      ends.set([x, y, z, x + NORMAL * size * u, y + NORMAL * size * v, z + NORMAL * size * w], 6 * i);
    }
    this.dots.count = count;
    this.dots.instanceMatrix.needsUpdate = true;
  }

  private showSlaves(positions: Float32Array): void {
    this.slaves.visible = positions.length > 0;
    if (positions.length === 0) return;
    const { geometry } = this.slaves;
    const known = geometry.getAttribute('position') as three.BufferAttribute | undefined;
    if (known && known.array.length >= positions.length) known.set(positions);
    else geometry.setAttribute('position', new three.BufferAttribute(positions.slice(), 3));
    geometry.getAttribute('position').needsUpdate = true;
    geometry.setDrawRange(0, positions.length / 3);
  }

  private showAxes(axes: Float32Array, size: number): void {
    const count = axes.length / 7;
    // Red, green and blue for x, y and z.
    const ends = this.axes.reserve(3 * count, (line) => [Number(line % 3 === 0), 0.7 * Number(line % 3 === 1), Number(line % 3 === 2)]);
    const turn = new three.Quaternion();
    const arm = new three.Vector3();
    for (let i = 0; i < count; ++i) {
      turn.fromArray(axes, 7 * i + 3);
      for (let k = 0; k < 3; ++k) {
        arm.set(Number(k === 0), Number(k === 1), Number(k === 2)).applyQuaternion(turn).multiplyScalar(AXIS * size);
        const at = 6 * (3 * i + k);
        ends.set(axes.subarray(7 * i, 7 * i + 3), at);
        ends.set([axes[7 * i]! + arm.x, axes[7 * i + 1]! + arm.y, axes[7 * i + 2]! + arm.z], at + 3);
      }
    }
  }
}
