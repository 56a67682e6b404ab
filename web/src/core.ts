// SPDX-License-Identifier: MIT
// The C core as a typed object. Used by the worker only.
import { POSE_ACTIONS, type Change, type Grip, type Handle, type Motion, type PoseAction, type PoseCheck, type Report, type Scene, type Setting, type Vec3 } from './protocol';

/** What Emscripten makes of the core. */
interface Module {
  HEAPU8: Uint8Array;
  HEAPU32: Uint32Array;
  HEAPF32: Float32Array;
  FS: {
    writeFile(path: string, bytes: Uint8Array): void;
    readFile(path: string): Uint8Array;
    unlink(path: string): void;
    mkdirTree(path: string): void;
  };
  _malloc(bytes: number): number;
  _free(at: number): void;
  ccall(name: string, result: 'number' | 'string' | null, types: string[], values: unknown[]): unknown;
}
export type CreateModule = (options: object) => Promise<Module>;

interface ArrayPlace {
  at: number;
  count: number;
}

function isPlace(value: unknown): value is ArrayPlace {
  return typeof value === 'object' && value !== null && 'at' in value && 'count' in value;
}

/** As core_open takes them. */
const linesOf = (changes: Change[]): string => changes.map((change) => `${change.path}\t${change.value.replace(/\s+/g, ' ')}\n`).join('');

export class Core {
  private constructor(
    private readonly module: Module,
    /** What the core wrote to standard error. */
    private readonly complaints: string[],
  ) {}

  static async create(make: CreateModule, url: string, threads: number, onProgress: (what: string, share: number) => void): Promise<Core> {
    const folder = url.slice(0, url.lastIndexOf('/') + 1);
    const complaints: string[] = [];
    const module = await make({
      threads,
      mainScriptUrlOrBlob: url,
      locateFile: (file: string) => folder + file,
      onProgress,
      printErr: (line: string) => complaints.push(line),
    });
    return new Core(module, complaints);
  }

  /** Returns how many threads there are. */
  start(threads: number): number {
    return this.number('page_start', threads);
  }

  /** Throws with the core's message. */
  open(path: string, text: string, changes: Change[]): void {
    this.give('page_open', path, text, linesOf(changes));
  }

  /** The scene from its start as a run folder, file by file; told: how many frames are done. */
  *run(text: string, changes: Change[], frames: number, told: (frame: number) => void): Generator<{ name: string; bytes: Uint8Array }> {
    const dir = '/run';
    const take = (name: string): { name: string; bytes: Uint8Array } => {
      const bytes = this.module.FS.readFile(`${dir}/${name}`);
      this.module.FS.unlink(`${dir}/${name}`);
      return { name, bytes };
    };
    const frameName = (frame: number): string => `frames/${String(frame).padStart(6, '0')}.ywf`;
    this.give('page_keep_start', dir, text, linesOf(changes));
    yield take('scene.json');
    yield take('shown.ywr');
    yield take(frameName(0));
    for (let frame = 1; frame <= frames; ++frame) {
      if (this.number('page_keep_frame') < 0) throw new Error(this.message());
      told(frame);
      yield take(frameName(frame));
    }
    if (this.number('page_keep_end') < 0) throw new Error(this.message());
    yield take('log.csv');
    yield take('snapshot.yws');
    yield take('run.json');
  }

  /** Calls a function that takes texts; throws with the core's message. */
  private give(name: string, ...texts: string[]): void {
    const status = this.module.ccall(name, 'number', texts.map(() => 'string'), texts);
    if ((status as number) < 0) throw new Error(this.message());
  }

  restart(): void {
    if (this.number('page_restart') < 0) throw new Error(this.message());
  }

  step(): void {
    this.number('page_step');
  }

  get frame(): number {
    return this.number('page_frame_number');
  }
  get framesPerSecond(): number {
    return this.number('page_frames_per_second');
  }
  get memory(): number {
    return this.module.HEAPU8.length;
  }
  message(): string {
    return this.text('page_message');
  }
  /** Words for materials, and the methods that have each, the default first. */
  presets(): Record<string, string[]> {
    const words = JSON.parse(this.text('page_presets')) as Record<string, string>;
    return Object.fromEntries(Object.entries(words).map(([word, methods]) => [word, methods.split(' ')]));
  }
  schema(): string {
    return this.text('page_schema');
  }

  /** The scene, with copies of its arrays: they outlive it. */
  scene(): Scene {
    const copy = (key: string, value: unknown): unknown => {
      if (!isPlace(value)) return value;
      const heap = key === 'colors' || key === 'positions' ? this.module.HEAPF32 : this.module.HEAPU32;
      return heap.slice(value.at / 4, value.at / 4 + value.count);
    };
    return JSON.parse(this.text('page_scene'), copy) as Scene;
  }

  report(): Report {
    return JSON.parse(this.text('page_report')) as Report;
  }

  /** The frame, copied once: into `buffer` if it fits. */
  takeFrame(buffer: ArrayBuffer | undefined): ArrayBuffer {
    const at = this.number('page_take_frame');
    if (at === 0) throw new Error(this.message());
    const count = this.number('page_frame_words');
    const out = buffer && buffer.byteLength === 4 * count ? buffer : new ArrayBuffer(4 * count);
    new Float32Array(out).set(this.module.HEAPF32.subarray(at / 4, at / 4 + count));
    return out;
  }

  /** For scenes that read it. */
  writeFile(name: string, bytes: Uint8Array): void {
    const slash = name.lastIndexOf('/');
    if (slash > 0) this.module.FS.mkdirTree(name.slice(0, slash));
    this.module.FS.writeFile(name, bytes);
  }

  grab(body: number, at: Vec3): void {
    this.number('page_grab', body, ...at);
  }
  drag(to: Vec3): void {
    this.number('page_drag', ...to);
  }
  release(): void {
    this.number('page_release');
  }
  pin(body: number, at: Vec3): void {
    if (this.number('page_pin', body, ...at) < 0) throw new Error(this.message());
  }
  lookInside(flags: number, normal: Vec3, offset: number): void {
    this.number('page_look_inside', flags, ...normal, offset);
  }
  showField(name: string): void {
    this.module.ccall('page_show_field', null, ['string'], [name]);
  }

  set(body: number, key: string, value: string): void {
    const status = this.module.ccall('page_set', 'number', ['number', 'string', 'string'], [body, key, value]);
    if ((status as number) < 0) throw new Error(this.message());
  }
  settings(body: number): Setting[] {
    return JSON.parse(this.module.ccall('page_settings', 'string', ['number'], [body]) as string) as Setting[];
  }
  pose(body: number): Float32Array {
    const at = this.number('page_pose', body);
    const count = this.number('page_pose_count');
    return this.module.HEAPF32.slice(at / 4, at / 4 + 3 * count);
  }
  /** What the body feels of its examples and, last, of its present pose. */
  checkPoses(body: number, withPose: boolean): PoseCheck[] {
    return JSON.parse(this.module.ccall('page_pose_check', 'string', ['number', 'number'], [body, Number(withPose)]) as string) as PoseCheck[];
  }
  exampleSurface(body: number, example: number): Float32Array {
    const at = this.number('page_example_surface', body, example);
    return this.module.HEAPF32.slice(at / 4, at / 4 + 6 * this.number('page_example_vertices'));
  }

  beginPose(body: number, example: number): void {
    this.check(this.number('page_pose_begin', body, example));
  }
  endPose(): void {
    this.number('page_pose_end');
  }
  hold(grip: Grip): number {
    return this.check(this.number('page_pose_hold', ...grip.at, grip.radius, Number(grip.brush), grip.strength, grip.falloff, Number(grip.mirror)));
  }
  moveHandle(id: number, { offset, turn, scale }: Motion): void {
    this.check(this.number('page_pose_move', id, ...offset, ...turn, scale));
  }
  actOnPose(what: PoseAction, id: number): void {
    this.check(this.number('page_pose_act', POSE_ACTIONS.indexOf(what), id));
  }
  deform(amounts: number[], axis: Vec3): void {
    this.lend(new Uint8Array(new Float32Array(amounts).buffer), (at) => this.check(this.number('page_pose_deform', at, ...axis)));
  }
  savePose(): Float32Array {
    const at = this.number('page_pose_save');
    return this.module.HEAPF32.slice(at / 4, at / 4 + (at ? this.number('page_pose_words') : 0));
  }
  loadPose(words: Float32Array): void {
    this.lend(new Uint8Array(words.buffer, words.byteOffset, words.byteLength), (at) => this.check(this.number('page_pose_load', at, words.length)));
  }
  handles(): Handle[] {
    return JSON.parse(this.text('page_handles')) as Handle[];
  }

  beginPaint(body: number, whole: boolean, bytes: Uint8Array): void {
    this.lend(bytes, (at) => this.check(this.number('page_paint_begin', body, Number(whole), at, bytes.length)));
  }
  endPaint(): void {
    this.number('page_paint_end');
  }
  dab(at: Vec3, radius: number, value: number, softness: number): void {
    this.number('page_paint_dab', ...at, radius, value, softness);
  }
  paintLine(from: Vec3, to: Vec3, first: number, second: number): void {
    this.number('page_paint_line', ...from, ...to, first, second);
  }
  paint(): Uint8Array {
    const at = this.number('page_paint');
    return this.module.HEAPU8.slice(at, at + this.number('page_paint_count'));
  }

  /** Throws with the core's message. */
  private check(status: number): number {
    if (status < 0) throw new Error(this.message());
    return status;
  }
  /** Bytes in the core's memory for the time of a call. */
  private lend(bytes: Uint8Array, call: (at: number) => void): void {
    const at = this.module._malloc(Math.max(bytes.length, 1));
    this.module.HEAPU8.set(bytes, at);
    try {
      call(at);
    } finally {
      this.module._free(at);
    }
  }

  /** Keeps a file for scenes to read, and returns the text of one with it. */
  starter(name: string, bytes: Uint8Array, as: string, method: string): { text: string; size: number } {
    this.module.FS.writeFile(name, bytes);
    this.complaints.length = 0;
    const text = this.module.ccall('page_starter', 'string', ['string', 'string', 'string'], [name, as, method]) as string;
    if (!text) throw new Error(this.complaints.join('\n').replace(/^yawara: /, ''));
    const size = this.module.ccall('page_model_size', 'number', ['string'], [name]) as number;
    return { text, size };
  }

  private number(name: string, ...values: number[]): number {
    return this.module.ccall(name, 'number', values.map(() => 'number'), values) as number;
  }
  private text(name: string): string {
    return this.module.ccall(name, 'string', [], []) as string;
  }
}
