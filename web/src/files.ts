// SPDX-License-Identifier: MIT
// Files of the reader's own: dropped meshes and scenes come in, scenes, meshes and movies go out.
import type { Frame } from './frame';
import type { Scene } from './protocol';

const MODELS = /\.(obj|ply|stl|gltf|glb|node|ele|msh|vtk|vtu|mesh)$/i;
export function isModel(name: string): boolean {
  return MODELS.test(name);
}

export function isScene(name: string): boolean {
  return /\.json$/i.test(name);
}

/** Calls open with the files that are dropped on the page together. */
export function listenToDrops(target: HTMLElement, open: (files: File[]) => void): void {
  addEventListener('dragover', (event) => {
    event.preventDefault();
    target.classList.add('dropping');
  });
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) target.classList.remove('dropping');
  });
  addEventListener('drop', (event) => {
    event.preventDefault();
    target.classList.remove('dropping');
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length > 0) open(files);
  });
}

export function download(name: string, parts: BlobPart[], type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** All bodies of a frame as one OBJ file, an object each, as they are shown; particles are points. */
export function objText(scene: Scene, frame: Frame): string {
  const lines = [`# ${scene.name}, frame ${frame.number}, made by Yawara; metres, y is up`];
  let first = 1;
  frame.bodies.forEach((body, i) => {
    if (body.kind === 'none') return;
    lines.push(`o ${scene.bodies[i]!.name.replace(/\s/g, '_')}`);
    // Vertices on creases are shown once per side; the file has each vertex of the surface once.
    const model = scene.models[scene.bodies[i]!.model]!;
    const places: number[] = [];
    for (let k = 0; k < body.count; ++k) places[body.kind === 'surface' ? model.source[k]! : k] = k;
    for (const k of places) lines.push(`v ${body.positions[3 * k]} ${body.positions[3 * k + 1]} ${body.positions[3 * k + 2]}`);
    const corner = (k: number): number => first + (body.kind === 'surface' ? model.source[k]! : k);
    const triangles = body.kind === 'surface' ? model.triangles : (body.triangles ?? new Uint32Array());
    for (let t = 0; t < triangles.length; t += 3) {
      lines.push(`f ${corner(triangles[t]!)} ${corner(triangles[t + 1]!)} ${corner(triangles[t + 2]!)}`);
    }
    first += places.length;
  });
  return `${lines.join('\n')}\n`;
}

/** Films the canvas until it is stopped. */
export class Recorder {
  private recorder: MediaRecorder | undefined;

  constructor(private readonly canvas: HTMLCanvasElement) {}

  get isOn(): boolean {
    return this.recorder !== undefined;
  }

  start(): void {
    const type = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'].find((one) => MediaRecorder.isTypeSupported(one));
    const pieces: Blob[] = [];
    const recorder = new MediaRecorder(this.canvas.captureStream(60), { ...(type ? { mimeType: type } : {}), videoBitsPerSecond: 12_000_000 });
    recorder.ondataavailable = (event) => pieces.push(event.data);
    recorder.onstop = () => void new Blob(pieces).arrayBuffer().then((bytes) => download('yawara.webm', [bytes], 'video/webm'));
    recorder.start(1000);
    this.recorder = recorder;
  }

  stop(): void {
    this.recorder?.stop();
    this.recorder = undefined;
  }
}
