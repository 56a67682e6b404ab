// SPDX-License-Identifier: MIT
// The page: starts the worker and connects what is seen with what runs.
import { Gallery, type Entry } from './gallery';
import { icons } from './icons';
import { fillHelp, listenToKeys, type KeyAction } from './keys';
import { readLink, writeLink } from './link';
import { Numbers } from './numbers';
import { Pointer } from './pointer';
import type { Change, Command, Message, Report, Scene } from './protocol';
import { Stage } from './stage';
import { Studio } from './studio';

const FIRST_SCENE = 'twist';
const NARROW = matchMedia('(max-width: 860px)');

function find<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

const canvas = find<HTMLCanvasElement>('canvas');
const worker = new Worker('worker.js');
const send = (command: Command, transfer: Transferable[] = []): void => worker.postMessage(command, transfer);

const link = readLink(location.search);
let sceneName = '';
let changes: Change[] = [];
let scene: Scene | undefined;
let paused = false;
let gallery: Gallery | undefined;

// Drawing -----------------------------------------------------------------------------------------

let stage: Stage;
// Made before the studio, whose camera controls must not see drags of bodies.
new Pointer(canvas, () => stage, {
  grab: (body, at) => send({ do: 'grab', body, at }),
  drag: (to) => send({ do: 'drag', to }),
  release: () => send({ do: 'release' }),
  pin: (body, at) => send({ do: 'pin', body, at }),
});
const studio = new Studio(canvas);
stage = new Stage(studio);
const numbers = new Numbers(() => scene);
find('panel').append(numbers.element);

let waiting: ArrayBuffer | undefined;
function draw(): void {
  requestAnimationFrame(draw);
  if (waiting) {
    const buffer = waiting;
    waiting = undefined;
    const old = stage.show(buffer);
    studio.draw(true);
    send({ do: 'drawn', buffer: old ?? new ArrayBuffer(0) }, old ? [old] : []);
    if (!canvas.dataset.shown) {
      canvas.dataset.shown = 'true';
      performance.mark('first picture');
    }
  } else {
    studio.draw(false);
  }
}

// Scenes ------------------------------------------------------------------------------------------

async function openScene(name: string, at = -1, with_: Change[] = []): Promise<void> {
  const response = await fetch(`scenes/${encodeURIComponent(name)}.json`);
  if (!response.ok) {
    showProblem(`There is no scene "${name}".`);
    return;
  }
  sceneName = name;
  const text = await response.text();
  changes = with_;
  send({ do: 'open', path: `${name}.json`, text, changes, until: at });
  gallery?.mark(name);
  if (NARROW.matches) setDrawer('gallery', false);
}

function pick(name: string): void {
  history.pushState(null, '', writeLink({ scene: name, changes: [], at: -1, threads: link.threads }));
  void openScene(name);
}

addEventListener('popstate', () => {
  const next = readLink(location.search);
  void openScene(next.scene || FIRST_SCENE, next.at, next.changes);
});

function onOpened(opened: Scene, warning: string): void {
  scene = looking.scene = opened;
  stage.open(opened, false);
  find('title').textContent = opened.name.replaceAll('_', ' ');
  document.title = `${opened.name} – Yawara`;
  find('description').textContent = opened.description;
  find('problem').hidden = true;
  find('progress').hidden = true;
  numbers.choose(firstWithExamples(opened), poseNames);
  if (warning) console.info(warning);
}

function firstWithExamples(opened: Scene): number {
  return Math.max(opened.bodies.findIndex((body) => opened.models[body.model]?.method === 'match' && /twist|pose/.test(body.name)), 0);
}

function poseNames(count: number): string[] {
  return Array.from({ length: count }, (_, i) => (i === 0 ? 'rest' : `example ${i}`));
}

// Words -------------------------------------------------------------------------------------------

function showProblem(text: string): void {
  const box = find('problem');
  box.textContent = text;
  const close = document.createElement('button');
  close.textContent = 'Close';
  close.addEventListener('click', () => (box.hidden = true));
  box.append(close);
  box.hidden = false;
  find('progress').hidden = true;
}

/** For scripts in the browser's console. */
const looking: { scene?: Scene; report?: Report } = {};
Object.assign(window, { yawara: looking });

function showReport(report: Report): void {
  looking.report = report;
  find('time').textContent = `${report.time.toFixed(2)} s`;
  find('frame').textContent = ` · frame ${report.frame}`;
  find('hash').textContent = report.hash;
  canvas.dataset.frame = String(report.frame);
  if (!document.body.classList.contains('no-panel')) numbers.show(report);
  if (report.diverged > 0) showProblem('A body diverged and was stopped. Try smaller values, or more substeps.');
}

function showPaused(on: boolean): void {
  paused = on;
  const button = find('play');
  button.innerHTML = on ? icons.play : icons.pause;
  button.setAttribute('aria-label', on ? 'Play' : 'Pause');
}

// The worker --------------------------------------------------------------------------------------

function listen(message: Message): void {
  switch (message.say) {
    case 'started':
      document.body.dataset.threads = String(message.threads);
      void openScene(link.scene || FIRST_SCENE, link.at, link.changes);
      break;
    case 'progress':
      find('progress').textContent = `${message.what} … ${Math.round(100 * message.share)} %`;
      find('progress').hidden = false;
      break;
    case 'opened':
      onOpened(message.scene, message.warning);
      break;
    case 'failed':
      showProblem(message.message);
      break;
    case 'crashed':
      showProblem(`The simulation stopped: ${message.message}\nReload the page to start again.`);
      break;
    case 'frame':
      waiting = message.buffer;
      break;
    case 'report':
      showReport(message.report);
      break;
    case 'paused':
      showPaused(message.on);
      break;
  }
}
worker.onmessage = (event: MessageEvent<Message>) => listen(event.data);
worker.onerror = (event) => showProblem(`The simulation stopped: ${event.message}`);

// Controls ----------------------------------------------------------------------------------------

function setDrawer(name: 'gallery' | 'panel', open: boolean): void {
  document.body.classList.toggle(`no-${name}`, !open);
  find(`open-${name}`).setAttribute('aria-expanded', String(open));
  // Over a narrow view only one of them fits.
  if (open && NARROW.matches) setDrawer(name === 'panel' ? 'gallery' : 'panel', false);
}
const isOpen = (name: 'gallery' | 'panel'): boolean => !document.body.classList.contains(`no-${name}`);

const togglePlay = (): void => send({ do: 'play', on: paused });
const speed = find<HTMLSelectElement>('speed');
function setSpeed(factor: string): void {
  speed.value = factor;
  send({ do: 'speed', factor: Number(factor) });
}

const help = find<HTMLDialogElement>('help');
const actions: KeyAction[] = [
  { key: 'p', shown: 'P', about: 'pause or play', act: togglePlay },
  { key: 'o', shown: 'O', about: 'one frame', act: () => send({ do: 'step' }) },
  { key: 'r', shown: 'R', about: 'restart', act: () => send({ do: 'restart' }) },
  { key: 's', shown: 'S', about: 'slow motion', act: () => setSpeed(speed.value === '1' ? '0.25' : '1') },
  { key: '[', shown: '[', about: 'previous scene', act: () => gallery && pick(gallery.next(sceneName, -1)) },
  { key: ']', shown: ']', about: 'next scene', act: () => gallery && pick(gallery.next(sceneName, 1)) },
  { key: 'Tab', shown: 'Tab', about: 'show or hide the panel', act: () => setDrawer('panel', !isOpen('panel')), inView: true },
  { key: 'Home', shown: 'Home', about: 'reset the view', act: () => studio.resetView() },
  { key: '?', shown: '?', about: 'this list', act: () => help.showModal() },
];
listenToKeys(actions, canvas);
fillHelp(help, actions);

function button(id: string, icon: string, act: () => void): void {
  find(id).innerHTML = icon;
  find(id).addEventListener('click', act);
}
button('play', icons.pause, togglePlay);
button('step', icons.step, () => send({ do: 'step' }));
button('restart', icons.restart, () => send({ do: 'restart' }));
button('home', icons.home, () => studio.resetView());
speed.addEventListener('change', () => setSpeed(speed.value));
find('open-gallery').addEventListener('click', () => setDrawer('gallery', !isOpen('gallery')));
find('open-panel').addEventListener('click', () => setDrawer('panel', !isOpen('panel')));
find('open-help').addEventListener('click', () => help.showModal());

// Start -------------------------------------------------------------------------------------------

if (NARROW.matches) {
  setDrawer('gallery', false);
  setDrawer('panel', false);
}
const threads = crossOriginIsolated ? link.threads || Math.min(navigator.hardwareConcurrency || 1, 8) : 1;
const variant = threads > 1 ? 'threads' : 'single';
send({ do: 'start', core: new URL(`core/core_${variant}.js`, location.href).href, threads });
void fetch('gallery.json')
  .then((response) => response.json() as Promise<Entry[]>)
  .then((entries) => {
    gallery = new Gallery(find('gallery'), entries, pick);
    gallery.mark(sceneName || link.scene || FIRST_SCENE);
  });
draw();
