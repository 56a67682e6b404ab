// SPDX-License-Identifier: MIT
// The examples of a body: a strip with pictures, names and strengths, kept inside the scene's text.
import { base64 } from './base64';
import type { Edits } from './edits';
import type { Keeper, Posing } from './posing';
import { makeButton } from './rows';
import { isObject, modelOf, type Json, type JsonObject } from './scene_text';
import type { Session } from './session';

const METHODS = ['match', 'frames', 'slender'];

export class Poses implements Keeper {
  readonly element = document.createElement('section');
  /** Set once it is made, because it asks this one to keep poses. */
  posing!: Posing;
  private body = 0;
  private pictures: (string | undefined)[] = [];
  private readonly strip = document.createElement('ul');
  private readonly buttons = document.createElement('div');

  constructor(
    private readonly session: Session,
    private readonly edits: Edits,
    /** A small picture of a body with the given positions and normals. */
    private readonly draw: (body: number, surface: Float32Array) => string,
    private readonly say: (text: string) => void,
  ) {
    this.element.innerHTML = '<h2>Poses by hand</h2>';
    this.element.className = 'poses';
    this.strip.className = 'strip';
    this.buttons.className = 'buttons';
    this.element.append(this.strip, this.buttons);
    session.on('examples', ({ body, surfaces }) => {
      if (body !== this.body) return;
      this.pictures = surfaces.map((surface) => (surface.length > 0 ? this.draw(body, surface) : undefined));
      this.fill();
    });
  }

  /** Shows the poses of a body. */
  choose(body: number): void {
    this.body = body;
    const count = this.examples().length;
    this.element.hidden = !METHODS.includes(this.session.methodOf(body));
    this.pictures = [];
    this.fill();
    if (!this.element.hidden && count > 0) this.session.send({ do: 'examples', body, count });
  }

  private get entry(): number {
    return this.session.scene?.bodies[this.body]?.entry ?? 0;
  }

  private examples(): Json[] {
    const list = modelOf(this.session.parsed, this.entry)?.node.examples;
    return Array.isArray(list) ? list : [];
  }

  private nameOf(example: Json | undefined, i: number): string {
    return isObject(example) && typeof example.name === 'string' ? example.name : `example ${i + 1}`;
  }

  // The strip -------------------------------------------------------------------------------------

  fill(): void {
    const isOn = this.posing?.isOn ?? false;
    document.body.classList.toggle('is-posing', isOn);
    this.strip.hidden = isOn;
    this.buttons.replaceChildren();
    if (isOn) {
      this.buttons.append(this.posing.element);
      return;
    }
    this.strip.replaceChildren(...this.examples().map((example, i) => this.makeItem(example, i)));
    const undo = makeButton('Undo', 'Undo (Ctrl-Z)', () => this.edits.undo());
    const redo = makeButton('Redo', 'Redo (Ctrl-Shift-Z)', () => this.edits.redo());
    undo.disabled = !this.edits.canUndo;
    redo.disabled = !this.edits.canRedo;
    this.buttons.append(makeButton('New pose', 'Shape the body by hand', () => this.start(-1)), undo, redo);
  }

  private makeItem(example: Json, i: number): HTMLElement {
    const name = this.nameOf(example, i);
    const item = document.createElement('li');
    const picture = this.pictures[i];
    const image = new Image(56, 56);
    image.alt = '';
    if (picture) image.src = picture;
    image.hidden = !picture;
    const rows = document.createElement('div');
    rows.append(this.makeName(name, i), this.makeStrength(example, name, i), this.makeButtons(name, i));
    item.append(image, rows);
    return item;
  }

  private makeName(name: string, i: number): HTMLElement {
    const label = document.createElement('input');
    label.value = name;
    label.setAttribute('aria-label', `Name of pose ${i + 1}`);
    label.addEventListener('change', () => {
      if (label.value) this.change(i, (one) => ({ ...one, name: label.value }));
    });
    return label;
  }

  private makeStrength(example: Json, name: string, i: number): HTMLElement {
    const slider = document.createElement('input');
    slider.type = 'range';
    slider.max = '1';
    slider.step = '0.05';
    slider.value = String(isObject(example) && typeof example.strength === 'number' ? example.strength : 1);
    slider.title = 'How strongly it attracts';
    slider.setAttribute('aria-label', `Strength of ${name}`);
    slider.addEventListener('change', () => this.change(i, (one) => ({ ...one, strength: Number(slider.value) })));
    return slider;
  }

  private makeButtons(name: string, i: number): HTMLElement {
    const line = document.createElement('div');
    line.className = 'buttons';
    const act = (text: string, title: string, does: () => void): void => {
      const button = makeButton(text, title, does);
      button.setAttribute('aria-label', `${title}: ${name}`);
      line.append(button);
    };
    act('Edit', 'Change this pose', () => this.start(i));
    act('Copy', 'Duplicate', () => this.edit((list) => list.splice(i + 1, 0, this.renamed(list[i]!, this.freeName(`${name} copy`)))));
    act('✕', 'Delete', () => this.edit((list) => list.splice(i, 1)));
    return line;
  }

  // Posing ----------------------------------------------------------------------------------------

  /** example: the one to start from; -1: the rest pose. */
  start(example: number): void {
    if (!this.session.scene || this.posing.isOn) return;
    this.posing.begin(this.body, example);
    this.fill();
  }

  leave(): void {
    this.posing.end();
    this.session.send({ do: 'pose-end' });
    this.fill();
  }

  keep(positions: Float32Array, example: number, isNew: boolean): void {
    if (positions.length === 0) {
      this.say('Poses of this body cannot be kept.');
      return;
    }
    const bytes = new Uint8Array(positions.buffer, positions.byteOffset, positions.byteLength);
    const shape = { positions: base64(bytes) };
    this.posing.end();
    this.edit((list) => {
      const old = list[example];
      if (example >= 0 && !isNew && isObject(old)) {
        const { deform: _deform, file: _file, surface_file: _surface, ...rest } = old;
        list[example] = { ...rest, name: this.nameOf(old, example), ...shape };
      } else {
        list.push({ name: this.freeName('pose'), ...shape });
      }
    });
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
    return isObject(example) ? { ...example, name } : example;
  }

  private change(i: number, how: (example: JsonObject) => JsonObject): void {
    this.edit((list) => {
      const one = list[i];
      if (isObject(one)) list[i] = how(one);
    });
  }

  private edit(change: (list: Json[]) => void): void {
    this.edits.edit((scene) => {
      const model = modelOf(scene, this.entry);
      if (!model) return;
      const list = Array.isArray(model.node.examples) ? model.node.examples : [];
      change(list);
      if (list.length > 0) model.node.examples = list;
      else delete model.node.examples;
    });
  }
}
