// SPDX-License-Identifier: MIT
// Binary messages of `yawara view`, see apps/yawara/server/wire.h. Frames become what the core packs
// in the browser, so that the rest of the page does not know the difference.
import type { Message } from './protocol';

const OPENED = 1;
const FRAME = 2;

const HEADER_WORDS = 12;
const BODY_WORDS = 8;
const OBSTACLE_WORDS = 8;
const PART_SURFACE = 1;
const PART_VALUES = 4;
const NOT_A_NUMBER = 65535;

function readOpened(buffer: ArrayBuffer): Message {
  const length = new Uint32Array(buffer, 4, 1)[0]!;
  const arrays = 8 + 4 * Math.ceil(length / 4);
  const text = new TextDecoder().decode(new Uint8Array(buffer, 8, length));
  const view = (key: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || !('at' in value) || !('count' in value)) return value;
    const { at, count } = value as { at: number; count: number };
    const Kind = key === 'colors' || key === 'positions' ? Float32Array : Uint32Array;
    return new Kind(buffer, arrays + at, count);
  };
  return JSON.parse(text, view) as Message;
}

/** Reads the bodies of a frame, one part after the other. */
class Reader {
  private at: number;

  constructor(
    private readonly buffer: ArrayBuffer,
    start: number,
  ) {
    this.at = start;
  }

  private take<T>(Kind: { new (buffer: ArrayBuffer, at: number, count: number): T; BYTES_PER_ELEMENT: number }, count: number): T {
    const part = new Kind(this.buffer, this.at, count);
    this.at += 4 * Math.ceil((count * Kind.BYTES_PER_ELEMENT) / 4);
    return part;
  }

  positions(out: Float32Array): void {
    const scale = this.take(Float32Array, 6);
    const numbers = this.take(Uint16Array, out.length);
    for (let i = 0; i < out.length; i += 3) {
      for (let k = 0; k < 3; ++k) out[i + k] = scale[k]! + scale[3 + k]! * numbers[i + k]!;
    }
  }

  normals(out: Float32Array): void {
    const pairs = this.take(Int8Array, (out.length / 3) * 2);
    for (let i = 0, j = 0; i < out.length; i += 3, j += 2) {
      let x = pairs[j]! / 127;
      let y = pairs[j + 1]! / 127;
      const z = 1 - Math.abs(x) - Math.abs(y);
      if (z < 0) {
        const folded = (1 - Math.abs(y)) * Math.sign(x || 1);
        y = (1 - Math.abs(x)) * Math.sign(y || 1);
        x = folded;
      }
      const length = Math.hypot(x, y, z) || 1;
      out[i] = x / length;
      out[i + 1] = y / length;
      out[i + 2] = z / length;
    }
  }

  scalars(out: Float32Array): void {
    const [low, step] = this.take(Float32Array, 2) as unknown as [number, number];
    const numbers = this.take(Uint16Array, out.length);
    for (let i = 0; i < out.length; ++i) out[i] = numbers[i] === NOT_A_NUMBER ? Number.NaN : low + step * numbers[i]!;
  }
}

/** The frame as core_frame.c packs it. */
function readFrame(buffer: ArrayBuffer): ArrayBuffer {
  const [bodies, obstacles, pins, grabs] = new Int32Array(buffer, 4, 4) as unknown as [number, number, number, number];
  const front = HEADER_WORDS + BODY_WORDS * bodies + OBSTACLE_WORDS * obstacles + 3 * pins + 6 * grabs;
  const ints = new Int32Array(buffer, 4, front);
  let words = front;
  for (let i = 0, at = HEADER_WORDS; i < bodies; ++i, at += BODY_WORDS) {
    const parts = ints[at + 2]!;
    ints[at] = words;
    words += ints[at + 1]! * (parts === 0 ? 0 : (parts & PART_SURFACE ? 6 : 4) + (parts & PART_VALUES ? 1 : 0));
  }
  const out = new Float32Array(words);
  out.set(new Float32Array(buffer, 4, front));
  const reader = new Reader(buffer, 4 + 4 * front);
  for (let i = 0, at = HEADER_WORDS; i < bodies; ++i, at += BODY_WORDS) {
    const [offset, count, parts] = ints.subarray(at, at + 3) as unknown as [number, number, number];
    if (parts === 0) continue;
    const middle = offset + 3 * count;
    const end = middle + count * (parts & PART_SURFACE ? 3 : 1);
    reader.positions(out.subarray(offset, middle));
    if (parts & PART_SURFACE) reader.normals(out.subarray(middle, end));
    else reader.scalars(out.subarray(middle, end));
    if (parts & PART_VALUES) reader.scalars(out.subarray(end, end + count));
  }
  return out.buffer;
}

export function readBinary(buffer: ArrayBuffer): Message {
  const kind = new Uint32Array(buffer, 0, 1)[0]!;
  if (kind === OPENED) return readOpened(buffer);
  if (kind === FRAME) return { say: 'frame', buffer: readFrame(buffer) };
  throw new Error(`the program sent a message of kind ${kind}, which this page does not know`);
}
