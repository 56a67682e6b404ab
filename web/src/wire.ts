// SPDX-License-Identifier: MIT
// Binary messages of `yawara view`, see apps/yawara/server/wire.h. Frames become what the core packs
// in the browser, so that the rest of the page does not know the difference.
import type { Message, PoseCheck } from './protocol';

const OPENED = 1;
const FRAME = 2;
const EXAMPLES = 3;
const POSE = 4;
const POSE_STATE = 5;
const PAINTED = 6;

const HEADER_WORDS = 14;
const BODY_WORDS = 8;
const OBSTACLE_WORDS = 10;
const PART_SURFACE = 1;
const PART_PARTICLES = 2;
const PART_VALUES = 4;
const PART_SKIN = 8;
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

function readExamples(buffer: ArrayBuffer): Message {
  const [body, count] = new Int32Array(buffer, 4, 2) as unknown as [number, number];
  const surfaces: Float32Array[] = [];
  for (let at = 12; surfaces.length < count; ) {
    const words = new Int32Array(buffer, at, 1)[0]!;
    surfaces.push(new Float32Array(buffer, at + 4, words));
    at += 4 + 4 * words;
  }
  return { say: 'examples', body, surfaces };
}

function readPose(buffer: ArrayBuffer): Message {
  const [body, length] = new Int32Array(buffer, 4, 2) as unknown as [number, number];
  const positions = new Float32Array(buffer, 12 + 4 * Math.ceil(length / 4));
  const checks = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 12, length))) as PoseCheck[];
  return { say: 'pose', body, positions, checks };
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

  indices(out: Uint32Array): void {
    const bytes = this.take(Uint32Array, 1)[0];
    out.set(bytes === 2 ? this.take(Uint16Array, out.length) : this.take(Uint32Array, out.length));
  }

  /** Position and value of each corner, in turn. */
  cut(out: Float32Array): void {
    const positions = new Float32Array((out.length / 4) * 3);
    const values = new Float32Array(out.length / 4);
    this.positions(positions);
    this.scalars(values);
    values.forEach((value, i) => {
      out.set(positions.subarray(3 * i, 3 * i + 3), 4 * i);
      out[4 * i + 3] = value;
    });
  }

  plain(out: Float32Array): void {
    out.set(this.take(Float32Array, out.length));
  }
}

/** Words that the parts of a body take, without its cut. */
function bodyWords(count: number, parts: number, triangles: number): number {
  const each = (parts & PART_SURFACE ? 6 : 0) + (parts & PART_PARTICLES ? 4 : 0) + (parts & PART_SKIN ? 7 : 0) + (parts & PART_VALUES ? 1 : 0);
  return each * count + (parts & PART_SKIN ? 3 * triangles : 0);
}

/** Says in the tables where everything is to be; returns how many words there are. */
function placeParts(ints: Int32Array, front: number): number {
  const [bodies, obstacles] = ints as unknown as [number, number];
  let words = front;
  const place = (at: number, size: number): void => {
    ints[at] = words;
    words += size;
  };
  let at = HEADER_WORDS;
  for (let i = 0; i < bodies; ++i, at += BODY_WORDS) {
    place(at, bodyWords(ints[at + 1]!, ints[at + 2]!, ints[at + 3]!));
    place(at + 4, 12 * ints[at + 5]!);
  }
  for (let i = 0; i < obstacles; ++i, at += OBSTACLE_WORDS) place(at + 8, 6 * ints[at + 9]!);
  place(8, 6 * ints[9]!);
  place(10, 7 * ints[11]!);
  place(12, 3 * ints[13]!);
  return words;
}

function readBody(reader: Reader, out: Float32Array, entry: Int32Array): void {
  const [offset, count, parts, triangles, cut, cutTriangles] = entry as unknown as [number, number, number, number, number, number];
  let at = offset;
  const next = (size: number): Float32Array => out.subarray(at, (at += size));
  const nextIndices = (size: number): Uint32Array => new Uint32Array(out.buffer, 4 * at, next(size).length);
  if (parts !== 0) reader.positions(next(3 * count));
  if (parts & (PART_SURFACE | PART_SKIN)) reader.normals(next(3 * count));
  if (parts & PART_PARTICLES) reader.scalars(next(count));
  if (parts & PART_SKIN) {
    reader.indices(nextIndices(count));
    reader.indices(nextIndices(3 * triangles));
  }
  if (parts & PART_VALUES) reader.scalars(next(count));
  if (cutTriangles > 0) reader.cut(out.subarray(cut, cut + 12 * cutTriangles));
}

/** The frame as core_frame.c packs it. */
function readFrame(buffer: ArrayBuffer): ArrayBuffer {
  const [bodies, obstacles, pins, grabs] = new Int32Array(buffer, 4, 4) as unknown as [number, number, number, number];
  const front = HEADER_WORDS + BODY_WORDS * bodies + OBSTACLE_WORDS * obstacles + 3 * pins + 6 * grabs;
  const ints = new Int32Array(buffer, 4, front);
  const out = new Float32Array(placeParts(ints, front));
  out.set(new Float32Array(buffer, 4, front));
  const reader = new Reader(buffer, 4 + 4 * front);
  let at = HEADER_WORDS;
  for (let i = 0; i < bodies; ++i, at += BODY_WORDS) readBody(reader, out, ints.subarray(at, at + BODY_WORDS));
  for (let i = 0; i < obstacles; ++i, at += OBSTACLE_WORDS) {
    const [offset, count] = ints.subarray(at + 8, at + 10) as unknown as [number, number];
    if (count === 0) continue;
    reader.positions(out.subarray(offset, offset + 3 * count));
    reader.normals(out.subarray(offset + 3 * count, offset + 6 * count));
  }
  reader.plain(out.subarray(ints[8]!, ints[8]! + 6 * ints[9]!));
  reader.plain(out.subarray(ints[10]!, ints[10]! + 7 * ints[11]!));
  if (ints[13]! > 0) reader.positions(out.subarray(ints[12]!, ints[12]! + 3 * ints[13]!));
  return out.buffer;
}

/** A message that carries bytes, see viewer_command.h. */
export function withLoad(command: object, load: Uint8Array): ArrayBuffer {
  const json = new TextEncoder().encode(JSON.stringify(command));
  const out = new Uint8Array(4 + json.length + load.length);
  new DataView(out.buffer).setUint32(0, json.length, true);
  out.set(json, 4);
  out.set(load, 4 + json.length);
  return out.buffer;
}

export function readBinary(buffer: ArrayBuffer): Message {
  const kind = new Uint32Array(buffer, 0, 1)[0]!;
  if (kind === OPENED) return readOpened(buffer);
  if (kind === FRAME) return { say: 'frame', buffer: readFrame(buffer) };
  if (kind === EXAMPLES) return readExamples(buffer);
  if (kind === POSE) return readPose(buffer);
  if (kind === POSE_STATE) return { say: 'pose-state', words: new Float32Array(buffer, 4) };
  if (kind === PAINTED) return { say: 'painted', bytes: new Uint8Array(buffer, 4) };
  throw new Error(`the program sent a message of kind ${kind}, which this page does not know`);
}
