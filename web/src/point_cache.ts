// SPDX-License-Identifier: MIT
// PC2 files: the vertices of one surface in every frame, as Blender's and other programs' caches.
import type { BodyFrame } from './frame';

const HEADER_BYTES = 32;

export class PointCache {
  private readonly samples: Float32Array[] = [];

  /** source: vertex of the surface that each shown vertex follows; undefined for particles. */
  constructor(private readonly source: Uint32Array | undefined) {}

  add(body: BodyFrame): void {
    if (!this.source) {
      this.samples.push(body.positions.slice());
      return;
    }
    let count = 0;
    for (const vertex of this.source) count = Math.max(count, vertex + 1);
    const sample = new Float32Array(3 * count);
    this.source.forEach((vertex, k) => sample.set(body.positions.subarray(3 * k, 3 * k + 3), 3 * vertex));
    this.samples.push(sample);
  }

  /** Empty if the number of points changes, which the format cannot say. */
  bytes(): ArrayBuffer {
    const size = this.samples[0]?.length ?? 0;
    if (size === 0 || this.samples.some((sample) => sample.length !== size)) return new ArrayBuffer(0);
    const out = new ArrayBuffer(HEADER_BYTES + 4 * size * this.samples.length);
    new Uint8Array(out).set(new TextEncoder().encode('POINTCACHE2'));
    const view = new DataView(out);
    view.setInt32(12, 1, true);
    view.setInt32(16, size / 3, true);
    view.setFloat32(20, 0, true);
    view.setFloat32(24, 1, true);
    view.setInt32(28, this.samples.length, true);
    this.samples.forEach((sample, i) => new Float32Array(out, HEADER_BYTES + 4 * size * i, size).set(sample));
    return out;
  }
}
