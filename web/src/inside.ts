// SPDX-License-Identifier: MIT
// Seeing inside: fields as colours with a legend, a cut, edges, contacts, turns of regions, skins.
import * as three from 'three';
import { scaleGradient } from './colors';
import type { Frame } from './frame';
import { shortNumber } from './plots';
import type { Command, Field, Scene } from './protocol';
import { checkRow, selectRow } from './rows';
import type { Stage } from './stage';
import type { Studio } from './studio';

export class Inside {
  readonly element = document.createElement('section');
  private readonly plane = new three.Plane(new three.Vector3(-1, 0, 0), 0);
  private readonly slider = document.createElement('input');
  private readonly color = selectRow('color-by', 'color by', [['', 'own colour']]);
  private readonly cut = selectRow('cut', 'cut', [
    ['', 'none'],
    ['x', 'across x'],
    ['y', 'across y'],
    ['z', 'across z'],
  ]);
  private readonly edges = checkRow('edges', 'edges, and tets in a cut');
  private readonly contacts = checkRow('contacts', 'contacts');
  private readonly axes = checkRow('axes', 'frames of regions');
  private readonly slaves = checkRow('slaves', 'slave particles');
  private readonly skins = checkRow('skins', 'skin of particles');
  private fields: Field[] = [];

  constructor(
    private readonly stage: Stage,
    private readonly studio: Studio,
    private readonly legend: HTMLElement,
    private readonly send: (command: Command) => void,
  ) {
    this.element.innerHTML = '<h2>See inside</h2>';
    this.slider.type = 'range';
    this.slider.max = '1';
    this.slider.step = '0.005';
    this.slider.value = '0.5';
    this.slider.hidden = true;
    this.slider.setAttribute('aria-label', 'Where to cut');
    this.cut.row.append(this.slider);
    this.skins.input.checked = true;
    this.element.append(this.color.row, this.cut.row, this.edges.row, this.contacts.row, this.axes.row, this.slaves.row, this.skins.row);
    this.color.input.addEventListener('change', () => this.showField(this.color.input.value));
    for (const { input } of [this.edges, this.contacts, this.axes, this.slaves, this.skins]) input.addEventListener('change', () => this.apply());
    this.cut.input.addEventListener('change', () => this.apply());
    this.slider.addEventListener('input', () => this.apply());
  }

  /** What runs on disk do not have is not offered. */
  limitToRuns(): void {
    for (const { row } of [this.contacts, this.axes, this.slaves]) row.remove();
  }

  private showField(name: string): void {
    this.send({ do: 'field', name });
  }

  open(scene: Scene): void {
    this.skins.row.hidden = scene.models.every((model) => !model.particles);
    this.slaves.row.hidden = scene.models.every((model) => model.method !== 'plastic');
    this.axes.row.hidden = scene.models.every((model) => model.tets === 0 && model.method !== 'slender');
    const known = new Map<string, Field>();
    for (const body of scene.bodies) for (const field of body.fields) known.set(field.name, field);
    this.fields = [...known.values()];
    const old = this.color.input.value;
    this.color.input.replaceChildren(new Option('own colour', ''));
    for (const field of this.fields) {
      const unit = field.unit ? ` (${field.unit})` : '';
      this.color.input.add(new Option(field.name.replaceAll('_', ' ') + unit, field.name));
    }
    this.color.input.value = known.has(old) ? old : '';
    if (this.color.input.value !== old) this.showField('');
    this.apply();
  }

  private apply(): void {
    const axis = this.cut.input.value;
    this.slider.hidden = axis === '';
    const box = this.stage.box;
    const planes: three.Plane[] = [];
    if (axis === 'x' || axis === 'y' || axis === 'z') {
      const at = box.min[axis] + Number(this.slider.value) * (box.max[axis] - box.min[axis]);
      this.plane.normal.set(0, 0, 0)[axis] = -1;
      this.plane.constant = at;
      planes.push(this.plane);
    }
    this.stage.look({ planes, edges: this.edges.input.checked, labels: false });
    const { normal, constant } = this.plane;
    this.send({
      do: 'inside',
      contacts: this.contacts.input.checked,
      axes: this.axes.input.checked,
      cut: planes.length > 0,
      skins: this.skins.input.checked,
      slaves: this.slaves.input.checked,
      normal: [normal.x, normal.y, normal.z],
      offset: constant,
    });
    this.studio.invalidate();
  }

  /** The legend of the field that is shown, with its range now. */
  explain(frame: Frame): void {
    const field = this.fields.find((one) => one.name === this.color.input.value);
    this.legend.hidden = !field || frame.bodies.every((body) => !body.values);
    if (this.legend.hidden || !field) return;
    if (this.legend.dataset.field !== field.name) {
      this.legend.dataset.field = field.name;
      this.legend.innerHTML = `<div class="what"></div><div class="scale"></div><div class="ends"><span></span><span></span></div>`;
      this.legend.querySelector('.what')!.textContent = field.meaning || field.name.replaceAll('_', ' ');
      this.legend.querySelector<HTMLElement>('.scale')!.style.background = scaleGradient;
    }
    const [low, high] = this.legend.querySelectorAll('.ends span');
    low!.textContent = shortNumber(frame.low, field.unit);
    high!.textContent = shortNumber(frame.high, field.unit);
  }
}
