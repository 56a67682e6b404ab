// SPDX-License-Identifier: MIT
// Runs the core: keeps time, steps, and sends frames. A frame is sent only when the page has drawn
// the one before, so nothing queues up when drawing is slow.
import { Core, type CreateModule } from './core';
import { readFrame } from './frame';
import { PointCache } from './point_cache';
import type { Command, Message } from './protocol';
import { Zip } from './zip';

declare function importScripts(url: string): void;
declare const createCore: CreateModule;
interface WorkerScope {
  postMessage(message: Message, transfer: Transferable[]): void;
  onmessage: ((event: MessageEvent<Command>) => void) | null;
}
const scope = self as unknown as WorkerScope;

// How often numbers are sent, ms.
const REPORT_EVERY = 100;
// While the core runs to a frame, without waiting: how often what it has reached is shown, ms.
const GLANCE_EVERY = 250;
// The most that is caught up after a pause of the browser, s.
const MAX_LAG = 0.1;

let core: Core | undefined;
let isOpen = false;
let playing = false;
let speed = 1;
/** Runs to this frame without waiting; -1: none. */
let until = -1;
/** Frames owed, and when that was counted. */
let owed = 0;
let lastTime = 0;
let lastReport = 0;
let lastFrame = 0;
let pageIsReady = true;
let mustShow = false;
let spare: ArrayBuffer | undefined;
let timer = 0;

function say(message: Message, transfer: Transferable[] = []): void {
  scope.postMessage(message, transfer);
}

function setPlaying(on: boolean): void {
  playing = on;
  owed = 0;
  lastTime = performance.now();
  say({ say: 'paused', on: !on });
}

function sendFrame(): void {
  if (!core || !pageIsReady) return;
  const buffer = core.takeFrame(spare);
  spare = undefined;
  pageIsReady = mustShow = false;
  lastFrame = performance.now();
  say({ say: 'frame', buffer }, [buffer]);
}

function sendReport(now: boolean): void {
  if (!core || (!now && performance.now() - lastReport < REPORT_EVERY)) return;
  lastReport = performance.now();
  say({ say: 'report', report: core.report(), memory: core.memory });
}

/** Steps as many frames as the clock asks for; true if there was one. */
function advance(): boolean {
  if (!core) return false;
  if (until >= 0) {
    if (core.frame < until) core.step();
    if (core.frame >= until) {
      until = -1;
      setPlaying(false);
      sendReport(true);
    }
    return true;
  }
  if (!playing) return false;
  const now = performance.now();
  owed += Math.min((now - lastTime) / 1000, MAX_LAG) * core.framesPerSecond * speed;
  lastTime = now;
  if (owed < 1) return false;
  core.step();
  // A scene too heavy for real time runs as fast as it can, without debts.
  owed = Math.min(owed - 1, 1);
  return true;
}

function loop(): void {
  timer = 0;
  if (!isOpen) return;
  if (advance()) {
    mustShow = true;
    sendReport(false);
  }
  if (mustShow && (until < 0 || performance.now() - lastFrame > GLANCE_EVERY)) sendFrame();
  if (playing || until >= 0) schedule();
}

// A message to oneself is handled at once, a timer only after some milliseconds.
const channel = new MessageChannel();
channel.port1.onmessage = loop;
function schedule(): void {
  if (timer) return;
  if (core && playing && until < 0 && owed < 1) {
    const wait = ((1 - owed) / (core.framesPerSecond * speed)) * 1000;
    timer = setTimeout(loop, Math.min(wait, 1000)) as unknown as number;
  } else {
    timer = -1;
    channel.port2.postMessage(0);
  }
}

function show(): void {
  mustShow = true;
  sendFrame();
  sendReport(true);
}

async function start(url: string, threads: number): Promise<void> {
  importScripts(url);
  core = await Core.create(createCore, url, threads, (what, share) => say({ say: 'progress', what, share }));
  const count = core.start(threads);
  say({ say: 'started', threads: count, schema: core.schema(), presets: core.presets() });
}

function open(command: Extract<Command, { do: 'open' }>): void {
  if (!core) return;
  try {
    core.open(command.path, command.text, command.changes);
  } catch (error) {
    say({ say: 'failed', message: (error as Error).message });
    return;
  }
  isOpen = true;
  say({ say: 'opened', scene: core.scene(), warning: core.message() });
  until = command.until;
  setPlaying(command.until < 0);
  show();
  schedule();
}

/** What frames carry besides bodies, as the page asked for it. */
let view: Parameters<Core['lookInside']> = [0, [0, 0, 0], 0];

/** Untouched, from the start; the page waits. */
function makeCache(own: Core, body: number): void {
  const scene = own.scene();
  const model = scene.models[scene.bodies[body]?.model ?? 0];
  const cache = new PointCache(model && !model.particles ? model.source : undefined);
  setPlaying(false);
  own.restart();
  // Points, not skins.
  own.lookInside(0, [0, 0, 0], 0);
  for (let i = 0; i <= scene.frames; ++i) {
    if (i > 0) own.step();
    const frame = readFrame(own.takeFrame(undefined)).bodies[body];
    if (frame && frame.kind !== 'none') cache.add(frame);
    if (i % 10 === 0) say({ say: 'progress', what: 'running the scene', share: i / scene.frames });
  }
  const bytes = cache.bytes();
  say({ say: 'cache', body, bytes }, [bytes]);
  own.lookInside(...view);
  own.restart();
  show();
}

/** As makeCache: untouched, from the start; the page waits. */
function keepRun(own: Core, { name, text, changes }: Extract<Command, { do: 'keep' }>): void {
  const { frames } = own.scene();
  const zip = new Zip();
  setPlaying(false);
  const tell = (frame: number): void => {
    if (frame % 10 === 0) say({ say: 'progress', what: 'running the scene', share: frame / frames });
  };
  for (const file of own.run(text, changes, frames, tell)) zip.add(`${name}/${file.name}`, file.bytes);
  const parts = zip.finish();
  say({ say: 'kept', name, parts }, parts);
  own.restart();
  show();
}

/** The handle that was made last. */
let lastHeld = 0;

function sendHandles(own: Core, held: number): void {
  say({ say: 'posed', handles: own.handles(), held });
}

function sendPose(own: Core, body: number): void {
  const positions = own.pose(body);
  say({ say: 'pose', body, positions, checks: positions.length > 0 ? own.checkPoses(body, true) : [] });
}

function obey(command: Command): void {
  if (command.do === 'start') {
    start(command.core, command.threads).catch((error: Error) => say({ say: 'crashed', message: error.message }));
    return;
  }
  if (command.do === 'open') return open(command);
  if (command.do === 'files') {
    for (const { name, bytes } of command.files) core?.writeFile(name, new Uint8Array(bytes));
    return;
  }
  if (command.do === 'model') {
    if (core) say({ say: 'starter', name: command.name, ...core.starter(command.name, new Uint8Array(command.bytes), command.as, command.method) });
    return;
  }
  if (!core || (!isOpen && command.do !== 'inside')) return;
  switch (command.do) {
    case 'play':
      setPlaying(command.on);
      schedule();
      break;
    case 'step':
      setPlaying(false);
      core.step();
      show();
      break;
    case 'restart':
      core.restart();
      owed = 0;
      show();
      break;
    case 'speed':
      speed = command.factor;
      break;
    case 'grab':
      core.grab(command.body, command.at);
      show();
      break;
    case 'drag':
      core.drag(command.to);
      if (!playing) show();
      break;
    case 'release':
      core.release();
      show();
      break;
    case 'pin':
      core.pin(command.body, command.at);
      show();
      break;
    case 'field':
      core.showField(command.name);
      show();
      break;
    case 'inside':
      view = [Number(command.contacts) + 2 * Number(command.axes) + 4 * Number(command.cut) + 8 * Number(command.skins) + 16 * Number(command.slaves), command.normal, command.offset];
      core.lookInside(...view);
      if (isOpen) show();
      break;
    case 'set':
      core.set(command.body, command.key, command.value);
      if (!playing) show();
      break;
    case 'settings':
      say({ say: 'settings', body: command.body, rows: core.settings(command.body) });
      break;
    case 'cache':
      makeCache(core, command.body);
      break;
    case 'keep':
      keepRun(core, command);
      break;
    case 'pose':
      sendPose(core, command.body);
      break;
    case 'examples':
      say({ say: 'examples', body: command.body, surfaces: Array.from({ length: command.count }, (_, k) => core!.exampleSurface(command.body, k)) });
      break;
    case 'pose-begin':
      core.beginPose(command.body, command.example);
      setPlaying(true);
      schedule();
      show();
      sendHandles(core, 0);
      break;
    case 'pose-end':
      core.endPose();
      show();
      break;
    case 'pose-hold':
      lastHeld = core.hold(command.grip);
      sendHandles(core, lastHeld);
      break;
    case 'pose-move':
      core.moveHandle(command.id || lastHeld, command.motion);
      if (!playing) show();
      sendHandles(core, command.id || lastHeld);
      break;
    case 'pose-act':
      try {
        core.actOnPose(command.what, command.id);
      } finally {
        show();
        sendHandles(core, 0);
      }
      break;
    case 'pose-deform':
      core.deform(command.amounts, command.axis);
      show();
      sendHandles(core, 0);
      break;
    case 'pose-save':
      say({ say: 'pose-state', words: core.savePose() });
      break;
    case 'pose-load':
      core.loadPose(command.words);
      show();
      sendHandles(core, 0);
      break;
    case 'paint-begin':
      setPlaying(false);
      core.beginPaint(command.body, command.whole, command.bytes);
      show();
      break;
    case 'paint-dab':
      core.dab(command.at, command.radius, command.value, command.softness);
      show();
      break;
    case 'paint-line':
      core.paintLine(command.from, command.to, command.first, command.second);
      show();
      break;
    case 'paint-take':
      say({ say: 'painted', bytes: core.paint() });
      break;
    case 'paint-end':
      core.endPaint();
      show();
      break;
    case 'drawn':
      spare = command.buffer;
      pageIsReady = true;
      if (mustShow && until < 0) sendFrame();
      break;
  }
}

scope.onmessage = (event) => {
  try {
    obey(event.data);
  } catch (error) {
    say({ say: 'failed', message: (error as Error).message });
  }
};
self.addEventListener('unhandledrejection', (event) => say({ say: 'crashed', message: String((event as PromiseRejectionEvent).reason) }));
