// SPDX-License-Identifier: MIT
// Examples made by hand. A new pose starts a copy of the scene in which gravity rests, nothing moves
// by itself and the body's preference is off; what its own elasticity makes of drags and pins is
// kept as an example, inside the scene's text.
import type { Change } from './protocol';
import { modelOf, parseScene, type Json } from './scene_text';
import type { Session } from './session';

const THUMB = 96;
const METHODS = ['match', 'frames'];

function base64(floats: Float32Array): string {
  const bytes = new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength);
  let text = '';
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

interface Moment {
  text: string;
  changes: Change[];
}

export class Poses {
  readonly element = document.createElement('section');
  private body = 0;
  /** The scene as it was before the pose; undefined: not posing. */
  private before: Moment | undefined;
  private readonly done: Moment[] = [];
  private readonly undone: Moment[] = [];
  private readonly pictures = new Map<string, string>();
  private readonly strip = document.createElement('ul');
  private readonly buttons = document.createElement('div');

  constructor(
    private readonly session: Session,
    private readonly snapshot: (size: number) => string,
    private readonly say: (text: string) => void,
  ) {
    this.element.innerHTML = '<h2>Poses by hand</h2>';
    this.strip.className = 'strip';
    this.buttons.className = 'buttons';
    this.element.append(this.strip, this.buttons);
    session.on('pose', (message) => this.keep(message.positions));
  }

  get isPosing(): boolean {
    return this.before !== undefined;
  }

  /** Shows the poses of a body. */
  choose(body: number): void {
    this.body = body;
    this.element.hidden = !METHODS.includes(this.session.methodOf(body));
    this.fill();
  }

  private get entry(): number {
    return this.session.scene?.bodies[this.body]?.entry ?? 0;
  }

  private examples(): Json[] {
    const list = modelOf(this.session.parsed, this.entry)?.node.examples;
    return Array.isArray(list) ? list : [];
  }

  private nameOf(example: Json, i: number): string {
    const name = typeof example === 'object' && example !== null && !Array.isArray(example) ? example.name : undefined;
    return typeof name === 'string' ? name : `example ${i + 1}`;
  }

  private button(text: string, title: string, act: () => void): HTMLButtonElement {
    const button = document.createElement('button');
    button.textContent = text;
    button.title = title;
    button.className = 'icon-text';
    button.addEventListener('click', act);
    return button;
  }

  private fill(): void {
    this.strip.replaceChildren();
    this.examples().forEach((example, i) => this.strip.append(this.makeItem(this.nameOf(example, i), i)));
    this.buttons.replaceChildren();
    if (this.isPosing) {
      this.buttons.append(
        this.button('Keep', 'Keep this shape as an example', () => this.session.send({ do: 'pose', body: this.body })),
        this.button('Cancel', 'Back to the scene', () => this.leave()),
      );
      return;
    }
    const undo = this.button('Undo', 'Undo (Ctrl-Z)', () => this.undo());
    const redo = this.button('Redo', 'Redo (Ctrl-Shift-Z)', () => this.redo());
    undo.disabled = this.done.length === 0;
    redo.disabled = this.undone.length === 0;
    this.buttons.append(this.button('New pose', 'Shape the body by hand', () => this.start()), undo, redo);
  }

  private makeItem(name: string, i: number): HTMLElement {
    const item = document.createElement('li');
    const picture = this.pictures.get(name);
    if (picture) {
      const image = new Image();
      image.src = picture;
      image.alt = '';
      item.append(image);
    }
    const label = document.createElement('input');
    label.value = name;
    label.setAttribute('aria-label', `Name of pose ${i + 1}`);
    label.disabled = this.isPosing;
    label.addEventListener('change', () => this.rename(i, label.value));
    const act = (text: string, title: string, does: () => void): HTMLButtonElement => {
      const button = this.button(text, title, does);
      button.setAttribute('aria-label', `${title}: ${name}`);
      button.disabled = this.isPosing;
      return button;
    };
    item.append(
      label,
      act('Edit', 'Start a new pose from this one', () => this.start(name)),
      act('Copy', 'Duplicate', () => this.edit((list) => list.splice(i + 1, 0, this.renamed(list[i]!, this.freeName(`${name} copy`))))),
      act('✕', 'Delete', () => this.edit((list) => list.splice(i, 1))),
    );
    return item;
  }

  // Posing ----------------------------------------------------------------------------------------

  /** from: name of the example to start with. */
  start(from?: string): void {
    const { session } = this;
    if (!session.scene || this.isPosing) return;
    this.before = { text: session.text, changes: session.changes };
    const calm: Change[] = [{ path: 'gravity', value: '[0,0,0]' }];
    const entries = new Set(session.scene.bodies.map((body) => body.entry));
    for (const entry of entries) {
      calm.push({ path: `bodies[${entry}].velocity`, value: '[0,0,0]' }, { path: `bodies[${entry}].angular_velocity`, value: '[0,0,0]' });
    }
    calm.push({ path: `bodies[${this.entry}].${session.methodOf(this.body)}.beta`, value: '0' });
    if (from) calm.push({ path: `bodies[${this.entry}].start_pose`, value: JSON.stringify(from) });
    session.open({ name: session.name, text: session.text, changes: [...session.changes, ...calm], until: -1, keepView: true });
  }

  private leave(): void {
    const back = this.before;
    if (!back) return;
    this.before = undefined;
    this.session.open({ name: this.session.name, ...back, until: -1, keepView: true });
  }

  private keep(positions: Float32Array): void {
    const back = this.before;
    if (!back) return;
    if (positions.length === 0) {
      this.say('This body has no tets, so its poses cannot be kept.');
      return;
    }
    const name = this.freeName('pose');
    this.pictures.set(name, this.snapshot(THUMB));
    this.before = undefined;
    this.session.changes = back.changes;
    this.edit((list) => list.push({ name, positions: base64(positions) }), back);
  }

  // Editing the list ------------------------------------------------------------------------------

  private freeName(wish: string): string {
    const names = new Set(this.examples().map((example, i) => this.nameOf(example, i)));
    if (!names.has(wish) && wish !== 'pose') return wish;
    let n = 1;
    while (names.has(`${wish} ${n}`)) ++n;
    return `${wish} ${n}`;
  }

  private renamed(example: Json, name: string): Json {
    return typeof example === 'object' && example !== null && !Array.isArray(example) ? { ...example, name } : example;
  }

  private rename(i: number, name: string): void {
    if (name) this.edit((list) => (list[i] = this.renamed(list[i]!, name)));
  }

  private edit(change: (list: Json[]) => void, from: Moment = { text: this.session.text, changes: this.session.changes }): void {
    const scene = parseScene(from.text);
    const model = modelOf(scene, this.entry);
    if (!scene || !model) return;
    const list = Array.isArray(model.node.examples) ? model.node.examples : [];
    change(list);
    if (list.length > 0) model.node.examples = list;
    else delete model.node.examples;
    this.done.push(from);
    this.undone.length = 0;
    this.go({ text: JSON.stringify(scene, null, 2), changes: from.changes });
  }

  private go(to: Moment): void {
    this.session.open({ name: this.session.name, ...to, until: -1, keepView: true });
  }

  undo(): void {
    const to = this.done.pop();
    if (!to || this.isPosing) return;
    this.undone.push({ text: this.session.text, changes: this.session.changes });
    this.go(to);
  }

  redo(): void {
    const to = this.undone.pop();
    if (!to || this.isPosing) return;
    this.done.push({ text: this.session.text, changes: this.session.changes });
    this.go(to);
  }

  /** Another scene has nothing to do with what was done here. */
  forget(): void {
    this.done.length = this.undone.length = 0;
    this.pictures.clear();
    this.before = undefined;
  }
}
