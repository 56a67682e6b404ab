// SPDX-License-Identifier: MIT
// What page and worker say to each other, and page and program. Frames travel as one buffer, see
// frame.ts.

export type Vec3 = [number, number, number];

/** A change to a scene before it is built, e.g. bodies[0].match.beta to 0.5 (JSON). */
export interface Change {
  path: string;
  value: string;
}

// From the page -----------------------------------------------------------------------------------

export type Command =
  | { do: 'start'; core: string; threads: number }
  /** until: run to this frame as fast as possible, then pause; -1: play. */
  | { do: 'open'; path: string; text: string; changes: Change[]; until: number }
  | { do: 'play'; on: boolean }
  | { do: 'step' }
  | { do: 'restart' }
  | { do: 'speed'; factor: number }
  | { do: 'grab'; body: number; at: Vec3 }
  | { do: 'drag'; to: Vec3 }
  | { do: 'release' }
  | { do: 'pin'; body: number; at: Vec3 }
  | { do: 'field'; name: string }
  /** What frames carry besides; the plane keeps what has normal . p + offset >= 0. */
  | { do: 'inside'; contacts: boolean; axes: boolean; cut: boolean; skins: boolean; slaves: boolean; normal: Vec3; offset: number }
  /** Changes a setting of a body's method at once. */
  | { do: 'set'; body: number; key: string; value: string }
  | { do: 'settings'; body: number }
  /** Runs the scene from its start and answers with a body's vertices in all frames. */
  | { do: 'cache'; body: number }
  /** Runs the scene from its start and answers with a zip of a run folder. */
  | { do: 'keep'; name: string; text: string; changes: Change[] }
  /** Answers with the pose that is shown, and what the body feels of it. */
  | { do: 'pose'; body: number }
  /** Asks for the surface of the examples of a body. */
  | { do: 'examples'; body: number; count: number }
  /** Starts again to make a pose, from an example or, with -1, from the rest pose. */
  | { do: 'pose-begin'; body: number; example: number }
  | { do: 'pose-end' }
  | { do: 'pose-hold'; grip: Grip }
  /** Relative to where it was taken. id 0: the handle that was made last. */
  | { do: 'pose-move'; id: number; motion: Motion }
  | { do: 'pose-act'; what: PoseAction; id: number }
  /** An amount for each of DEFORMERS. */
  | { do: 'pose-deform'; amounts: number[]; axis: Vec3 }
  | { do: 'pose-save' }
  | { do: 'pose-load'; words: Float32Array }
  /** whole: all vertices, else those that layers of a scene are painted on. Bytes of another mesh are ignored. */
  | { do: 'paint-begin'; body: number; whole: boolean; bytes: Uint8Array }
  | { do: 'paint-dab'; at: Vec3; radius: number; value: number; softness: number }
  | { do: 'paint-line'; from: Vec3; to: Vec3; first: number; second: number }
  /** Answers with the paint. */
  | { do: 'paint-take' }
  | { do: 'paint-end' }
  /** Shows a frame of a run, and pauses. */
  | { do: 'seek'; frame: number }
  /** Files that the next scene reads, named as it names them. */
  | { do: 'files'; files: { name: string; bytes: ArrayBuffer }[] }
  /** A file of the reader's own: it becomes a soft body. method '': the word's own. */
  | { do: 'model'; name: string; bytes: ArrayBuffer; as: string; method: string }
  /** The page has drawn a frame and can take the next; the buffer may be used again. */
  | { do: 'drawn'; buffer: ArrayBuffer };

// From the worker ---------------------------------------------------------------------------------

export type Message =
  /** presets: words for materials, with the methods that have each, the default first; the program has none. */
  | { say: 'started'; threads: number; schema: string; presets?: Record<string, string[]> }
  | { say: 'progress'; what: string; share: number }
  /** own: what the program has open; without it, what the page asked for. */
  | { say: 'opened'; scene: Scene; warning: string; own?: { name: string; text: string; changes: Change[] } }
  | { say: 'failed'; message: string }
  | { say: 'frame'; buffer: ArrayBuffer }
  /** memory: bytes that the core has taken. */
  | { say: 'report'; report: Report; memory: number }
  | { say: 'paused'; on: boolean }
  /** Of a run: the last frame on disk, and the last one that it is to have. */
  | { say: 'frames'; available: number; asked: number }
  | { say: 'settings'; body: number; rows: Setting[] }
  /** Vertices in the model's place; empty if the body is no tet mesh. checks: of the examples, and last of the pose. */
  | { say: 'pose'; body: number; positions: Float32Array; checks: PoseCheck[] }
  /** Positions and then normals of the shown surface, of each example. */
  | { say: 'examples'; body: number; surfaces: Float32Array[] }
  /** A handle was made (held) or has changed; 0: nothing is held. */
  | { say: 'posed'; handles: Handle[]; held: number }
  | { say: 'pose-state'; words: Float32Array }
  | { say: 'painted'; bytes: Uint8Array }
  /** A PC2 file; empty if the number of points changes. */
  | { say: 'cache'; body: number; bytes: ArrayBuffer }
  /** A zip, in parts. */
  | { say: 'kept'; name: string; parts: ArrayBuffer[] }
  /** size: longest side in the file, in its unit. */
  | { say: 'starter'; name: string; text: string; size: number }
  | { say: 'crashed'; message: string };

/** What is taken hold of; see poser.h. */
export interface Grip {
  at: Vec3;
  radius: number;
  brush: boolean;
  strength: number;
  falloff: number;
  mirror: boolean;
}

export interface Motion {
  offset: Vec3;
  /** x y z w */
  turn: [number, number, number, number];
  scale: number;
}

/** In the order of core_pose_action. */
export const POSE_ACTIONS = ['drop', 'relax', 'bake', 'stroke-end'] as const;
export type PoseAction = (typeof POSE_ACTIONS)[number];

/** In the order of yw_deform_kind. */
export const DEFORMERS = ['twist', 'bend', 's_bend', 'shear', 'taper', 'squash', 'stretch', 'scale'] as const;

export interface Handle {
  id: number;
  twin: number;
  /** Made by itself, to hold the far side. */
  anchor: boolean;
  at: Vec3;
  motion: Motion;
}

/** See yw_pose_report and, for the flaw, yw_pose_flaw; 0: fine. */
export interface PoseCheck {
  flaw: number;
  nearest: number;
  inverted: number;
  stretch: number;
  seen: number;
  distance: number;
  words: string;
}

/** What does not change from frame to frame. */
export interface Scene {
  name: string;
  description: string;
  fps: number;
  frames: number;
  substeps: number;
  camera?: { eye: Vec3; target: Vec3; fov: number };
  models: Model[];
  bodies: Body[];
  obstacles: Obstacle[];
}

export interface Model {
  method: string;
  tets: number;
  /** Shown as balls: there is no surface. */
  particles: boolean;
  vertices: number;
  triangles: Uint32Array;
  /** Vertex of the model's surface that each shown vertex follows. */
  source: Uint32Array;
}

export interface Field {
  name: string;
  unit: string;
  meaning: string;
}

export interface Body {
  name: string;
  model: number;
  /** Index in "bodies" of the scene file. */
  entry: number;
  mass: number;
  size: number;
  gloss: number;
  color: Vec3;
  /** Linear RGB of each vertex of the model's surface, or of each particle. */
  colors?: Float32Array;
  fields: Field[];
}

export interface Obstacle {
  name: string;
  visible: boolean;
  color: Vec3;
  /** Side of checker squares, m; 0: none. */
  checker: number;
  normal?: Vec3;
  offset?: number;
  positions?: Float32Array;
  triangles?: Uint32Array;
  source?: Uint32Array;
}

/** One row of the table that also makes the schema. */
export interface Setting {
  key: string;
  kind: 'number' | 'integer' | 'boolean' | 'choice';
  value: number | boolean | string;
  default: number | boolean | string;
  low?: number;
  high?: number;
  /** low itself is not allowed. */
  above?: boolean;
  unit: string;
  about: string;
  choices?: string[];
  /** Defines the model: the scene must be built again. */
  model: boolean;
}

export interface Statistic {
  name: string;
  unit: string;
  value: number | null;
}

/** Numbers of the last step. null: not finite, or the method has none. */
export interface Report {
  frame: number;
  time: number;
  hash: string;
  particles: number;
  contacts: number;
  recovered: number;
  stalled: number;
  diverged: number;
  seconds: number;
  kinetic: number | null;
  elastic: number | null;
  gravitational: number | null;
  bodies: { center: Vec3; weights?: (number | null)[]; statistics: Statistic[] }[];
}
