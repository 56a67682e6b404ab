// SPDX-License-Identifier: MIT
// Reads the packed frames of core_frame.c. Everything is a view of the one buffer.

const HEADER_WORDS = 14;
const BODY_WORDS = 8;
const OBSTACLE_WORDS = 10;

const PART_SURFACE = 1;
const PART_PARTICLES = 2;
const PART_VALUES = 4;
const PART_SKIN = 8;

export interface BodyFrame {
  count: number;
  /** Neither: the body is not there yet. */
  kind: 'surface' | 'particles' | 'skin' | 'none';
  positions: Float32Array;
  normals?: Float32Array;
  radii?: Float32Array;
  values?: Float32Array;
  /** Of a skin: its triangles, and the particle nearest to each vertex. */
  triangles?: Uint32Array;
  owners?: Uint32Array;
  /** Position and value of three corners per triangle of a cut. */
  cut: Float32Array;
}

export interface ObstacleFrame {
  /** Position, rotation (x y z w) and scale. */
  pose: Float32Array;
  /** Of vertices, before the pose, of an obstacle that deforms. */
  positions?: Float32Array;
  normals?: Float32Array;
}

export interface Frame {
  number: number;
  time: number;
  /** Range of the field that is shown. */
  low: number;
  high: number;
  bodies: BodyFrame[];
  obstacles: ObstacleFrame[];
  pins: Float32Array[];
  /** Where the body is held, and where the pointer is. */
  grab?: { held: Float32Array; pointer: Float32Array };
  /** Position and normal of each contact. */
  contacts: Float32Array;
  /** Position and rotation (x y z w) of regions. */
  axes: Float32Array;
  /** Positions of the slaves of plastic bodies. */
  slaves: Float32Array;
}

function readBody(floats: Float32Array, ints: Int32Array, at: number): BodyFrame {
  const offset = ints[at]!;
  const count = ints[at + 1]!;
  const parts = ints[at + 2]!;
  const positions = floats.subarray(offset, offset + 3 * count);
  const isSurface = (parts & PART_SURFACE) !== 0;
  const isParticles = (parts & PART_PARTICLES) !== 0;
  const isSkin = (parts & PART_SKIN) !== 0;
  const cut = floats.subarray(ints[at + 4]!, ints[at + 4]! + 12 * ints[at + 5]!);
  const body: BodyFrame = { count, kind: isSurface ? 'surface' : isParticles ? 'particles' : isSkin ? 'skin' : 'none', positions, cut };
  let next = offset + 3 * count;
  if (isSkin) {
    body.normals = floats.subarray(next, next + 3 * count);
    next += 3 * count;
    body.owners = new Uint32Array(floats.buffer, 4 * next, count);
    next += count;
    body.triangles = new Uint32Array(floats.buffer, 4 * next, 3 * ints[at + 3]!);
  } else if (isSurface) {
    body.normals = floats.subarray(next, next + 3 * count);
    next += 3 * count;
  } else if (isParticles) {
    body.radii = floats.subarray(next, next + count);
    next += count;
  }
  if (parts & PART_VALUES) body.values = floats.subarray(next, next + count);
  return body;
}

function readObstacle(floats: Float32Array, ints: Int32Array, at: number): ObstacleFrame {
  const pose = floats.subarray(at, at + 8);
  const offset = ints[at + 8]!;
  const count = ints[at + 9]!;
  if (count === 0) return { pose };
  const middle = offset + 3 * count;
  return { pose, positions: floats.subarray(offset, middle), normals: floats.subarray(middle, middle + 3 * count) };
}

export function readFrame(buffer: ArrayBuffer): Frame {
  const floats = new Float32Array(buffer);
  const ints = new Int32Array(buffer);
  const [numBodies, numObstacles, numPins, numGrabs, number] = ints as unknown as [number, number, number, number, number];
  const frame: Frame = {
    number,
    time: floats[5]!,
    low: floats[6]!,
    high: floats[7]!,
    bodies: [],
    obstacles: [],
    pins: [],
    contacts: floats.subarray(ints[8]!, ints[8]! + 6 * ints[9]!),
    axes: floats.subarray(ints[10]!, ints[10]! + 7 * ints[11]!),
    slaves: floats.subarray(ints[12]!, ints[12]! + 3 * ints[13]!),
  };
  let at = HEADER_WORDS;
  for (let i = 0; i < numBodies; ++i, at += BODY_WORDS) frame.bodies.push(readBody(floats, ints, at));
  for (let i = 0; i < numObstacles; ++i, at += OBSTACLE_WORDS) frame.obstacles.push(readObstacle(floats, ints, at));
  for (let i = 0; i < numPins; ++i, at += 3) frame.pins.push(floats.subarray(at, at + 3));
  if (numGrabs > 0) {
    frame.grab = { held: floats.subarray(at, at + 3), pointer: floats.subarray(at + 3, at + 6) };
  }
  return frame;
}
