// SPDX-License-Identifier: MIT
// Painting on a body: which parts choose together (groups), what is held (pins), and how stiff it
// is. The paint is a byte per vertex, kept as text inside the scene.
import { base64, fromBase64 } from './base64';
import type { Edits } from './edits';
import type { Hand } from './hand';
import { History } from './history';
import { shortNumber } from './plots';
import type { Setting, Vec3 } from './protocol';
import { choiceButtons, mainButton, makeButton, sliderRow } from './rows';
import { bodyEntry, isObject, modelOf, type Json, type JsonObject } from './scene_text';
import type { Session } from './session';
import type { Stage } from './stage';

type Kind = 'groups' | 'pins' | 'stiffness';
const KINDS: Record<Kind, { title: string; about: string; methods: string[] }> = {
  groups: { title: 'Groups', about: 'Parts with the same colour choose their example together.', methods: ['match', 'frames', 'slender'] },
  pins: { title: 'Pins', about: 'What is red is held in place.', methods: ['match', 'frames', 'fem', 'slender'] },
  stiffness: { title: 'Stiffness', about: 'Yellow is stiff, violet is soft.', methods: ['frames', 'fem'] },
};
const NUM_GROUPS = 6;
// The softest and the stiffest paint, over the body's own Young's modulus.
const SOFTEST = 0.1;
const STIFFEST = 10;
// Paint that changes nothing, half-way between them.
const EVEN = 127.5;
const EVERYWHERE = 1e9;

export class Painting implements Hand {
  readonly element = document.createElement('section');
  private kind: Kind | undefined;
  private body = 0;
  private modulus = 1e5;
  private value = 255;
  private line: Vec3 | undefined;
  private lineValue = 0;
  private isLining = false;
  private wish: 'stroke' | 'done' = 'stroke';
  private now: Uint8Array | undefined;
  private readonly history = new History<Uint8Array>();
  private readonly radius = sliderRow('paint-radius', 'size of the brush', 0.02, 0.6, 0.12, (v) => `${Math.round(100 * v)} %`);
  private readonly undoButton = makeButton('Undo', 'Undo (Ctrl-Z)', () => this.undo());
  private readonly redoButton = makeButton('Redo', 'Redo (Ctrl-Shift-Z)', () => this.redo());
  private readonly hint = document.createElement('p');

  constructor(
    private readonly session: Session,
    private readonly stage: Stage,
    private readonly edits: Edits,
  ) {
    this.element.className = 'paint';
    this.hint.className = 'note';
    session.on('painted', ({ bytes }) => this.hear(bytes));
    session.on('settings', ({ body, rows }) => this.learn(body, rows));
  }

  get isOn(): boolean {
    return this.kind !== undefined;
  }

  private learn(body: number, rows: Setting[]): void {
    const own = rows.find((row) => row.key === 'youngs_modulus');
    if (body === this.body && own) this.modulus = Number(own.value);
  }

  choose(body: number): void {
    this.body = body;
    this.fill();
  }

  private get method(): string {
    return this.session.methodOf(this.body);
  }
  private get entry(): number {
    return this.session.scene?.bodies[this.body]?.entry ?? 0;
  }

  // What is shown ---------------------------------------------------------------------------------

  private fill(): void {
    document.body.classList.toggle('is-painting', this.isOn);
    const title = document.createElement('h2');
    title.textContent = this.kind ? `Paint: ${KINDS[this.kind].title.toLowerCase()}` : 'Paint';
    const kinds = (Object.keys(KINDS) as Kind[]).filter((kind) => KINDS[kind].methods.includes(this.method));
    this.element.hidden = kinds.length === 0;
    if (this.kind) {
      this.element.replaceChildren(title, ...this.makeTools(this.kind));
      this.tellHistory();
      return;
    }
    const buttons = document.createElement('div');
    buttons.className = 'buttons';
    for (const kind of kinds) buttons.append(makeButton(KINDS[kind].title, KINDS[kind].about, () => this.begin(kind)));
    this.element.replaceChildren(title, buttons);
  }

  private makeTools(kind: Kind): HTMLElement[] {
    const about = document.createElement('p');
    about.className = 'note';
    about.textContent = KINDS[kind].about;
    const actions = document.createElement('div');
    actions.className = 'buttons';
    actions.append(makeButton('Fill', 'Paint everything', () => this.paintAll()));
    if (kind === 'stiffness') actions.append(makeButton('Gradient', 'Between two clicks', () => this.beginLine()));
    actions.append(this.undoButton, this.redoButton);
    const end = document.createElement('div');
    end.className = 'buttons';
    end.append(
      mainButton('Done', 'Keep the paint in the scene', () => this.ask('done')),
      makeButton('Cancel', 'Back to the scene', () => this.cancel()),
    );
    this.hint.textContent = '';
    return [about, this.makeValue(kind), this.radius.row, actions, this.hint, end];
  }

  private makeValue(kind: Kind): HTMLElement {
    if (kind === 'stiffness') {
      const show = (v: number): string => shortNumber(this.modulus * SOFTEST * (STIFFEST / SOFTEST) ** (v / 255), 'Pa');
      const { row, input } = sliderRow('paint-value', "Young's modulus", 0, 255, this.value, show);
      input.addEventListener('input', () => (this.value = Number(input.value)));
      return row;
    }
    const choices: [string, string, string][] =
      kind === 'pins'
        ? [
            ['255', 'Hold', 'Paint pins'],
            ['0', 'Free', 'Remove pins'],
          ]
        : Array.from({ length: NUM_GROUPS }, (_, i) => [String(i), String(i + 1), `Group ${i + 1}`]);
    const buttons = choiceButtons(kind === 'pins' ? 'Pins' : 'Group', choices, (value) => (this.value = Number(value)));
    buttons.element.classList.toggle('group-colors', kind === 'groups');
    buttons.set(String(this.value));
    return buttons.element;
  }

  // Beginning and ending --------------------------------------------------------------------------

  begin(kind: Kind): void {
    this.kind = kind;
    this.value = kind === 'groups' ? 1 : 255;
    this.history.clear();
    this.now = undefined;
    this.isLining = false;
    this.stage.labels = kind !== 'stiffness';
    const bytes = this.saved(kind);
    this.show(bytes);
    if (kind === 'stiffness' && bytes.length === 0) this.dab([0, 0, 0], EVERYWHERE, EVEN, 0);
    this.fill();
    this.ask('stroke');
  }

  private show(bytes: Uint8Array): void {
    this.session.send({ do: 'paint-begin', body: this.body, whole: this.kind !== 'stiffness', bytes });
  }

  end(): void {
    this.kind = undefined;
    this.stage.labels = false;
    this.stage.showCursor(undefined, 0);
    this.fill();
  }

  private cancel(): void {
    this.end();
    this.session.send({ do: 'paint-end' });
    this.session.send({ do: 'play', on: true });
  }

  // Strokes ---------------------------------------------------------------------------------------

  private get reach(): number {
    return Number(this.radius.input.value) * (this.session.scene?.bodies[this.body]?.size ?? 1);
  }

  private dab(at: Vec3, radius: number, value: number, softness: number): void {
    this.session.send({ do: 'paint-dab', at, radius, value, softness });
  }

  press(body: number, at: Vec3): void {
    if (body !== this.body) return;
    if (this.isLining) this.setLine(at);
    else this.stroke(at);
  }

  private stroke(at: Vec3): void {
    this.dab(at, this.reach, this.value, this.kind === 'stiffness' ? 0.6 : 0);
  }

  drag(_to: Vec3, x: number, y: number): void {
    const touched = this.isLining ? undefined : this.stage.touch(x, y);
    if (touched?.body === this.body) this.stroke([touched.point.x, touched.point.y, touched.point.z]);
  }

  release(): void {
    if (!this.isLining) this.ask('stroke');
  }

  pin(): void {}

  hover(body: number | undefined, at: Vec3 | undefined): void {
    this.stage.showCursor(body === this.body ? at : undefined, this.isLining ? 0.02 : this.reach);
  }

  private paintAll(): void {
    this.dab([0, 0, 0], EVERYWHERE, this.value, 0);
    this.ask('stroke');
  }

  private beginLine(): void {
    this.isLining = true;
    this.line = undefined;
    this.hint.textContent = 'Click where the gradient begins.';
  }

  private setLine(at: Vec3): void {
    if (!this.line) {
      this.line = at;
      this.lineValue = this.value;
      this.hint.textContent = 'Now choose the value at the other end, and click there.';
      return;
    }
    this.session.send({ do: 'paint-line', from: this.line, to: at, first: this.lineValue, second: this.value });
    this.line = undefined;
    this.isLining = false;
    this.hint.textContent = '';
    this.ask('stroke');
  }

  // Undo ------------------------------------------------------------------------------------------

  private ask(wish: Painting['wish']): void {
    this.wish = wish;
    this.session.send({ do: 'paint-take' });
  }

  private hear(bytes: Uint8Array): void {
    if (!this.kind) return;
    if (this.wish === 'done') {
      this.keep(this.kind, bytes);
      return;
    }
    if (this.now) this.history.push(this.now);
    this.now = bytes;
    this.tellHistory();
  }

  private tellHistory(): void {
    this.undoButton.disabled = !this.history.canUndo;
    this.redoButton.disabled = !this.history.canRedo;
  }

  private go(to: Uint8Array | undefined): void {
    if (!to) return;
    this.now = to;
    this.show(to);
    this.tellHistory();
  }

  undo(): void {
    if (this.now) this.go(this.history.undo(this.now));
  }
  redo(): void {
    if (this.now) this.go(this.history.redo(this.now));
  }

  // In the scene ----------------------------------------------------------------------------------

  private settingsOf(scene: JsonObject | undefined): JsonObject | undefined {
    const node = modelOf(scene, this.entry)?.node;
    const settings = node?.[this.method];
    return isObject(settings) ? settings : undefined;
  }

  private saved(kind: Kind): Uint8Array {
    const scene = this.session.parsed;
    const text = (value: Json | undefined): Uint8Array => fromBase64(typeof value === 'string' ? value : '');
    if (kind === 'pins') {
      const pins = bodyEntry(scene, this.entry)?.pins;
      const own = Array.isArray(pins) ? pins.find(isPaint) : undefined;
      return text(isObject(own) ? own.painted : undefined);
    }
    const settings = this.settingsOf(scene);
    if (kind === 'groups') return text(isObject(settings?.groups) ? settings.groups.painted : undefined);
    const layers = Array.isArray(settings?.fields) ? settings.fields : [];
    const layer = layers.find(isPaint);
    const painted = isObject(layer) ? layer.painted : undefined;
    return text(isObject(painted) ? painted.values : undefined);
  }

  private keep(kind: Kind, bytes: Uint8Array): void {
    const isPlain = bytes.every((byte) => byte === bytes[0]);
    this.end();
    this.edits.edit((scene) => {
      const text = base64(bytes);
      const body = bodyEntry(scene, this.entry);
      const model = modelOf(scene, this.entry)?.node;
      if (!body || !model) return;
      if (kind === 'pins') {
        const others = Array.isArray(body.pins) ? body.pins.filter((pin) => !isPaint(pin)) : [];
        body.pins = isPlain && bytes[0] === 0 ? others : [...others, { painted: text }];
        return;
      }
      const settings = isObject(model[this.method]) ? (model[this.method] as JsonObject) : (model[this.method] = {});
      if (kind === 'groups') {
        if (isPlain) delete settings.groups;
        else settings.groups = { painted: text };
        return;
      }
      const others = Array.isArray(settings.fields) ? settings.fields.filter((layer) => !isPaint(layer)) : [];
      settings.fields = [...others, { painted: { values: text }, youngs_modulus: [this.modulus * SOFTEST, this.modulus * STIFFEST] }];
    });
  }
}

/** A pin or a layer that was painted here. */
function isPaint(value: Json): boolean {
  if (!isObject(value)) return false;
  const { painted } = value;
  return typeof painted === 'string' || (isObject(painted) && typeof painted.values === 'string');
}
