// SPDX-License-Identifier: MIT
// The C core as a typed object. Used by the worker only.
import type { Change, Report, Scene, Setting, Vec3 } from './protocol';

/** What Emscripten makes of the core. */
interface Module {
  HEAPU8: Uint8Array;
  HEAPU32: Uint32Array;
  HEAPF32: Float32Array;
  FS: { writeFile(path: string, bytes: Uint8Array): void; mkdirTree(path: string): void };
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
    const lines = changes.map((change) => `${change.path}\t${change.value.replace(/\s+/g, ' ')}\n`).join('');
    const status = this.module.ccall('page_open', 'number', ['string', 'string', 'string'], [path, text, lines]);
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
