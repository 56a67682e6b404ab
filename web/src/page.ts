// SPDX-License-Identifier: MIT
// The page: starts the worker and connects what is seen with what runs.
import { Address } from './address';
import { button, find } from './dom';
import type { Editor } from './editor';
import { Edits } from './edits';
import { Recorder, download, isModel, isScene, listenToDrops, objText } from './files';
import { Gallery, type Entry } from './gallery';
import type { Hand } from './hand';
import { icons } from './icons';
import { Inside } from './inside';
import { fillHelp, listenToKeys, type KeyAction } from './keys';
import { readLink, unpackText, writeLink, type Link } from './link';
import { Painting } from './painting';
import { Panel } from './panel';
import { shortNumber } from './plots';
import { Pointer } from './pointer';
import { Poses } from './poses';
import { Posing } from './posing';
import type { Change, Report, Scene } from './protocol';
import { RunSource, ServerSource } from './server_source';
import { Session } from './session';
import { portraitOf } from './shown_body';
import { WorkerSource } from './source';
import { Stage } from './stage';
import { Studio } from './studio';

const FIRST_SCENE = 'twist';
// A model that is so many times larger or smaller than 1 m was hardly meant so.
const FAR = 100;
const NARROW = matchMedia('(max-width: 860px)');
// With less, the text takes the place of the gallery.
const WIDE = matchMedia('(min-width: 1500px)');
const REDUCED = matchMedia('(prefers-reduced-motion: reduce)');

const canvas = find<HTMLCanvasElement>('canvas');
const link = readLink(location);
/** The program shows something, and this page is where it is seen. */
const isRemote = link.view === 'run' || link.view === 'live';
const session = new Session(link.view === 'run' ? new RunSource() : link.view === 'live' ? new ServerSource() : new WorkerSource());
const address = new Address(session, FIRST_SCENE, link.threads);
document.body.dataset.view = link.view;
let paused = false;
let gallery: Gallery | undefined;
const entries = fetch('gallery.json').then((response) => response.json() as Promise<Entry[]>);
let schema = '';

// Drawing -----------------------------------------------------------------------------------------

// Made before the studio, whose camera controls must not see drags of bodies.
const grabbing: Hand = {
  press: (body, at) => {
    session.send({ do: 'grab', body, at });
    if (body !== panel.body) panel.choose(body);
  },
  drag: (to) => session.send({ do: 'drag', to }),
  release: () => session.send({ do: 'release' }),
  pin: (body, at) => session.send({ do: 'pin', body, at }),
};
const pointer = new Pointer(canvas, () => (posing.isOn ? posing : painting.isOn ? painting : grabbing));
const studio = new Studio(canvas);
const stage = new Stage(studio);
// A run can only be looked at.
if (link.view !== 'run') pointer.stage = stage;
const edits = new Edits(session, () => poses.fill());
const poses = new Poses(session, edits, drawPose, showProblem);
const posing = new Posing(
  session,
  stage,
  async (move, done) => {
    const { Gizmo } = await import('./gizmo');
    return new Gizmo(studio, canvas, move, done);
  },
  poses,
);
poses.posing = posing;
const painting = new Painting(session, stage, edits);
const inside = new Inside(stage, studio, find('legend'), (command) => session.send(command));
const panel = new Panel(find('panel'), { session, edits, poses, painting, inside }, rememberInLink);

const THUMB = 112;
function drawPose(body: number, surface: Float32Array): string {
  const own = session.scene?.bodies[body];
  const model = own && session.scene?.models[own.model];
  if (!own || !model) return '';
  const object = portraitOf(own, model, surface);
  const picture = studio.portrait(object, THUMB);
  object.geometry.dispose();
  object.material.dispose();
  return picture;
}
if (link.view === 'run') {
  poses.element.remove();
  painting.element.remove();
  inside.limitToRuns();
}

let waiting: ArrayBuffer | undefined;
function draw(): void {
  requestAnimationFrame(draw);
  const buffer = waiting;
  waiting = undefined;
  if (!buffer) {
    studio.draw(false);
    return;
  }
  const old = stage.show(buffer);
  studio.draw(true);
  if (stage.frame) inside.explain(stage.frame);
  session.send({ do: 'drawn', buffer: old ?? new ArrayBuffer(0) }, old ? [old] : []);
  if (!canvas.dataset.shown) {
    canvas.dataset.shown = 'true';
    performance.mark('first picture');
  }
}

// Scenes ------------------------------------------------------------------------------------------

/** Gives the core the files that the next scene reads. */
async function sendFiles(list: { part: string; name: string }[]): Promise<void> {
  const files = await Promise.all(list.map(async ({ part, name }) => ({ name, bytes: await (await fetch(part)).arrayBuffer() })));
  session.send({ do: 'files', files }, files.map(({ bytes }) => bytes));
}

/** The scene that was picked last: others may still be on their way. */
let picked = '';
async function openScene({ scene, at, changes, text: packed }: Pick<Link, 'scene' | 'at' | 'changes' | 'text'>): Promise<void> {
  const name = (picked = scene || FIRST_SCENE);
  const [response, known] = await Promise.all([packed ? undefined : fetch(`scenes/${encodeURIComponent(name)}.json`), entries]);
  const text = response?.ok ? await response.text() : await unpackText(packed);
  if (!text) {
    showProblem(packed ? 'The address is damaged: the scene in it cannot be read.' : `There is no scene "${name}".`);
    return;
  }
  const files = known.find((entry) => entry.name === name)?.files ?? [];
  if (files.length > 0) await sendFiles(files.map((file) => ({ part: `scenes/${encodeURIComponent(file)}`, name: file })));
  if (picked !== name) return;
  address.lead(text, !packed);
  openText(name, text, changes, at);
  find('model').hidden = true;
  gallery?.mark(name);
  if (NARROW.matches) setDrawer('gallery', false);
}

function openText(name: string, text: string, changes: Change[], until: number): void {
  picked = '';
  leaveTools();
  edits.forget();
  session.open({ name, text, changes, until, keepView: false });
}

/** The scene that `yawara view` serves, with the files that it reads. */
async function openServed({ at, changes, text: packed }: Link): Promise<void> {
  const served = (await (await fetch('open/scene.json', { cache: 'no-store' })).json()) as { name: string; text: string; changes: Change[]; files: { part: string; name: string }[] };
  await sendFiles(served.files);
  const text = packed ? await unpackText(packed) : served.text;
  address.lead(text, !packed);
  openText(served.name, text, [...served.changes, ...changes], at);
}

function pick(name: string): void {
  // The page then simulates by itself, for which it starts again.
  if (isRemote) {
    location.assign(writeLink({ view: '', scene: name, changes: [], at: -1, threads: link.threads, text: '' }));
    return;
  }
  address.go(name);
  void openScene({ scene: name, at: -1, changes: [], text: '' });
}

/** The address shows what was changed, so that a link shows it too. */
function rememberInLink(): void {
  if (!isRemote) address.remember();
}

function openLink(next: Link): void {
  if (next.view === 'scene') void openServed(next);
  else void openScene(next);
}

addEventListener('popstate', () => {
  const next = readLink(location);
  if (isRemote || next.view === 'run' || next.view === 'live') location.reload();
  else openLink(next);
});

/** A frame that was sent before a scene opened is of the one before. */
function dropWaiting(): void {
  if (!waiting) return;
  session.send({ do: 'drawn', buffer: waiting }, [waiting]);
  waiting = undefined;
}

/** A scene that opens, or starts again, has neither pose nor paint in the making. */
function leaveTools(): void {
  if (painting.isOn) painting.end();
  if (!posing.isOn) return;
  posing.end();
  poses.fill();
}

session.on('opened', ({ scene, warning }) => {
  dropWaiting();
  leaveTools();
  stage.open(scene, session.keepView);
  find('title').textContent = scene.name.replaceAll('_', ' ');
  document.title = `${scene.name} – Yawara`;
  find('description').textContent = scene.description;
  find('problem').hidden = true;
  find('progress').hidden = true;
  editor?.show(session.text);
  editor?.mark('');
  panel.open(session.keepView);
  looking.scene = scene;
  if (session.keepView || address.isStale) rememberInLink();
  if (warning) showProblem(warning);
});

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
  editor?.mark(text);
}

/** For scripts in the browser's console. */
const looking: { scene?: Scene; report?: Report; memory?: number; session: Session; posing: Posing; stage: Stage } = { session, posing, stage };
Object.assign(window, { yawara: looking });

session.on('report', ({ report, memory }) => {
  looking.report = report;
  looking.memory = memory;
  find('time').textContent = `${report.time.toFixed(2)} s`;
  find('frame').textContent = ` · frame ${report.frame}`;
  find('hash').textContent = report.hash;
  canvas.dataset.frame = String(report.frame);
  panel.show(report);
  if (report.diverged > 0) showProblem('A body diverged and was stopped. Try smaller values, or more substeps.');
});
session.on('paused', ({ on }) => {
  paused = on;
  find('play').innerHTML = on ? icons.play : icons.pause;
  find('play').setAttribute('aria-label', on ? 'Play' : 'Pause');
});
session.on('progress', ({ what, share }) => {
  find('progress').textContent = `${what} … ${Math.round(100 * share)} %`;
  find('progress').hidden = false;
});
session.on('failed', ({ message }) => showProblem(message));
session.on('crashed', ({ message }) => showProblem(isRemote ? message : `The simulation stopped: ${message}\nReload the page to start again.`));
session.on('frame', ({ buffer }) => (waiting = buffer));
session.on('started', (message) => {
  document.body.dataset.threads = String(message.threads);
  schema = message.schema;
  presets = message.presets ?? {};
  fillPresets();
  // Who asked for less motion gets none unasked.
  if (!isRemote) openLink({ ...link, at: link.at < 0 && REDUCED.matches ? 0 : link.at });
});

// The timeline of a run ---------------------------------------------------------------------------

const timeline = find<HTMLInputElement>('timeline');
timeline.addEventListener('input', () => session.send({ do: 'seek', frame: Number(timeline.value) }));
session.on('frames', ({ available, asked }) => {
  timeline.max = String(available);
  timeline.hidden = false;
  panel.length = asked;
  find('frames').textContent = available < asked ? ` of ${available}, ${asked} to come` : ` of ${available}`;
});
session.on('report', ({ report }) => {
  if (document.activeElement !== timeline || !timeline.matches(':active')) timeline.value = String(report.frame);
});

// Files -------------------------------------------------------------------------------------------

const preset = find<HTMLSelectElement>('preset');
const method = find<HTMLSelectElement>('method');
let presets: Record<string, string[]> = {};
function fillPresets(): void {
  for (const word of Object.keys(presets)) preset.add(new Option(word, word));
  fillMethods();
}
/** The methods that have the chosen word; its own comes first. */
function fillMethods(): void {
  method.replaceChildren(...(presets[preset.value] ?? []).map((word) => new Option(word, word)));
}
let model: { name: string; bytes: ArrayBuffer } | undefined;

function buildModel(): void {
  if (!model) return;
  find('progress').textContent = `${model.name}: filling it with tets …`;
  find('progress').hidden = false;
  session.send({ do: 'model', name: model.name, bytes: model.bytes.slice(0), as: preset.value, method: method.value });
}

/** Files that belong together: a scene with what it reads, or a mesh with what it needs beside it. */
async function openFiles(files: File[]): Promise<void> {
  const main = files.find(({ name }) => isScene(name)) ?? files.find(({ name }) => isModel(name));
  if (!main) {
    showProblem(`${files.map(({ name }) => name).join(', ')}: neither a mesh (OBJ, PLY, STL, glTF) nor a scene (JSON).`);
    return;
  }
  const text = isScene(main.name) ? await main.text() : '';
  await bringFiles(files.filter((file) => file !== main), text);
  if (text) {
    gallery?.mark('');
    find('model').hidden = true;
    openText(main.name.replace(/\.json$/i, ''), text, [], -1);
    return;
  }
  address.addLocal(main.name);
  model = { name: main.name, bytes: await main.arrayBuffer() };
  find('model').hidden = false;
  buildModel();
}

/** Gives the core files where a scene looks for them: in the folders, too, in which it names one of them. */
async function bringFiles(files: File[], scene: string): Promise<void> {
  const names = new Set(files.map(({ name }) => name));
  const paths = [...scene.matchAll(/"([^"\n]*\/)([^"\n/]*)"/g)].filter(([, , name]) => names.has(name!));
  const folders = new Set(['', ...paths.map(([, folder]) => folder!)]);
  for (const file of files) {
    const bytes = await file.arrayBuffer();
    address.addLocal(file.name);
    session.send({ do: 'files', files: [...folders].map((folder) => ({ name: folder + file.name, bytes })) });
  }
}
session.on('starter', ({ name, text, size }) => {
  gallery?.mark('');
  openText(name.replace(/\.\w+$/, ''), text, [], -1);
  const isFar = size > FAR || size < 1 / FAR;
  find('model-note').textContent = `Its longest side is ${shortNumber(size, 'm')} in the file, and 1 m here.${isFar ? ' Perhaps the file is not in metres.' : ''}`;
});
if (!isRemote) listenToDrops(document.body, (files) => void openFiles(files));
preset.addEventListener('change', () => {
  fillMethods();
  buildModel();
});
method.addEventListener('change', buildModel);
const chooser = find<HTMLInputElement>('file');
chooser.addEventListener('change', () => {
  if (chooser.files?.length) void openFiles([...chooser.files]);
  chooser.value = '';
});

const recorder = new Recorder(canvas);
button('save-scene', 'Scene', () => download(`${session.name}.json`, [session.text], 'application/json'));
button('save-obj', 'OBJ', () => {
  if (session.scene && stage.frame) download(`${session.name}_${stage.frame.number}.obj`, [objText(session.scene, stage.frame)], 'text/plain');
});
button('save-pc2', 'PC2', () => session.send({ do: 'cache', body: panel.body }));
session.on('cache', ({ body, bytes }) => {
  find('progress').hidden = true;
  if (bytes.byteLength > 0) download(`${session.name}_${session.scene?.bodies[body]?.name ?? body}.pc2`, [bytes], 'application/octet-stream');
  else showProblem('The number of points of this body changes, which a PC2 file cannot hold.');
});
button('save-run', 'Run', () => session.send({ do: 'keep', name: session.name, text: session.text, changes: session.changes }));
session.on('kept', ({ name, parts }) => {
  find('progress').hidden = true;
  download(`${name}.zip`, parts, 'application/zip');
});
async function copyLink(): Promise<void> {
  const shown = await address.link();
  if (!shown) {
    showProblem('No link can show this scene, which reads files of this device or is very large. Download it instead.');
    return;
  }
  await navigator.clipboard.writeText(shown);
  find('copy-link').textContent = 'Copied';
  setTimeout(() => (find('copy-link').textContent = 'Link'), 1500);
}
button('copy-link', 'Link', () => void copyLink());
// Browsers lend the clipboard to secure pages only; the address bar has the same link.
find('copy-link').hidden = isRemote || !navigator.clipboard;
button('record', 'Record', () => {
  if (recorder.isOn) recorder.stop();
  else recorder.start();
  find('record').textContent = recorder.isOn ? 'Stop' : 'Record';
});

// The scene as text -------------------------------------------------------------------------------

let editor: Editor | undefined;
async function toggleEditor(): Promise<void> {
  const isOn = document.body.classList.toggle('with-editor');
  find('open-editor').setAttribute('aria-expanded', String(isOn));
  if (!WIDE.matches) setDrawer('gallery', !isOn && !NARROW.matches);
  if (isOn && NARROW.matches) setDrawer('panel', false);
  if (!isOn || editor) return;
  const { Editor: Maker } = await import('./editor');
  editor = new Maker(find('editor'), schema, (text) => edits.type(text));
  editor.show(session.text);
}

// Controls ----------------------------------------------------------------------------------------

function setDrawer(name: 'gallery' | 'panel', open: boolean): void {
  document.body.classList.toggle(`no-${name}`, !open);
  find(`open-${name}`).setAttribute('aria-expanded', String(open));
  // Over a narrow view only one of them fits.
  if (open && NARROW.matches) setDrawer(name === 'panel' ? 'gallery' : 'panel', false);
}
const isOpen = (name: 'gallery' | 'panel'): boolean => !document.body.classList.contains(`no-${name}`);

function restart(): void {
  leaveTools();
  session.send({ do: 'restart' });
}
const togglePlay = (): void => session.send({ do: 'play', on: paused });
const speed = find<HTMLSelectElement>('speed');
function setSpeed(factor: string): void {
  speed.value = factor;
  session.send({ do: 'speed', factor: Number(factor) });
}

/** Whose steps Ctrl-Z undoes. */
const undoer = (): { undo(): void; redo(): void } => (posing.isOn ? posing : painting.isOn ? painting : edits);

const help = find<HTMLDialogElement>('help');
const actions: KeyAction[] = [
  { key: 'p', shown: 'P', about: 'pause or play', act: togglePlay },
  { key: 'o', shown: 'O', about: 'one frame', act: () => session.send({ do: 'step' }) },
  { key: 'r', shown: 'R', about: 'restart', act: restart },
  { key: 's', shown: 'S', about: 'slow motion', act: () => setSpeed(speed.value === '1' ? '0.25' : '1') },
  { key: '[', shown: '[', about: 'previous scene', act: () => gallery && pick(gallery.next(session.name, -1)) },
  { key: ']', shown: ']', about: 'next scene', act: () => gallery && pick(gallery.next(session.name, 1)) },
  { key: 'Tab', shown: 'Tab', about: 'show or hide the panel', act: () => setDrawer('panel', !isOpen('panel')), inView: true },
  { key: 'Home', shown: 'Home', about: 'reset the view', act: () => studio.resetView() },
  { key: 'Ctrl+z', shown: 'Ctrl-Z', about: 'undo a change of poses, paint or parameters; with Shift: redo', act: () => undoer().undo() },
  { key: 'Ctrl+Shift+z', shown: '', about: '', act: () => undoer().redo() },
  { key: '?', shown: '?', about: 'this list', act: () => help.showModal() },
];
listenToKeys(actions, canvas);
fillHelp(help, actions);

button('play', icons.pause, togglePlay);
button('step', icons.step, () => session.send({ do: 'step' }));
button('restart', icons.restart, restart);
button('home', icons.home, () => studio.resetView());
speed.addEventListener('change', () => setSpeed(speed.value));
find('open-gallery').addEventListener('click', () => setDrawer('gallery', !isOpen('gallery')));
find('open-panel').addEventListener('click', () => setDrawer('panel', !isOpen('panel')));
find('open-editor').addEventListener('click', () => void toggleEditor());
find('open-help').addEventListener('click', () => help.showModal());

// Start -------------------------------------------------------------------------------------------

if (NARROW.matches) {
  setDrawer('gallery', false);
  setDrawer('panel', false);
}
const threads = crossOriginIsolated ? link.threads || Math.min(navigator.hardwareConcurrency || 1, 8) : 1;
const variant = threads > 1 ? 'threads' : 'single';
session.send({ do: 'start', core: new URL(`core/core_${variant}.js`, location.href).href, threads });
void entries.then((known) => {
  gallery = new Gallery(find('gallery'), known, pick);
  gallery.mark(session.name || link.scene || (link.view ? '' : FIRST_SCENE));
});
draw();
