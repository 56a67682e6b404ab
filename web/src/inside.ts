// SPDX-License-Identifier: MIT
// Seeing inside: fields as colours with a legend, edges, and a cut.
import * as three from 'three';
import { scaleGradient } from './colors';
import type { Frame } from './frame';
import { shortNumber } from './plots';
import type { Field, Scene } from './protocol';
import type { Stage } from './stage';
import type { Studio } from './studio';

function select(id: string, name: string, options: [string, string][]): { row: HTMLElement; input: HTMLSelectElement } {
  const row = document.createElement('div');
  row.className = 'row';
  const label = document.createElement('label');
  label.textContent = name;
  label.htmlFor = id;
  const input = document.createElement('select');
  input.id = id;
  for (const [value, text] of options) input.add(new Option(text, value));
  row.append(label, input);
  return { row, input };
}

export class Inside {
  readonly element = document.createElement('section');
  private readonly plane = new three.Plane(new three.Vector3(-1, 0, 0), 0);
  private readonly slider = document.createElement('input');
  private readonly color = select('color-by', 'color by', [['', 'own colour']]);
  private readonly cut = select('cut', 'cut', [
    ['', 'none'],
    ['x', 'across x'],
    ['y', 'across y'],
    ['z', 'across z'],
  ]);
  private readonly edges = document.createElement('input');
  private fields: Field[] = [];

  constructor(
    private readonly stage: Stage,
    private readonly studio: Studio,
    private readonly legend: HTMLElement,
    private readonly showField: (name: string) => void,
  ) {
    this.element.innerHTML = '<h2>See inside</h2>';
    const edgeRow = document.createElement('div');
    edgeRow.className = 'row';
    edgeRow.innerHTML = '<label for="edges">edges</label>';
    this.edges.type = 'checkbox';
    this.edges.id = 'edges';
    edgeRow.append(this.edges);
    this.slider.type = 'range';
    this.slider.max = '1';
    this.slider.step = '0.005';
    this.slider.value = '0.5';
    this.slider.hidden = true;
    this.slider.setAttribute('aria-label', 'Where to cut');
    this.cut.row.append(this.slider);
    this.element.append(this.color.row, edgeRow, this.cut.row);
    this.color.input.addEventListener('change', () => this.showField(this.color.input.value));
    this.edges.addEventListener('change', () => this.apply());
    this.cut.input.addEventListener('change', () => this.apply());
    this.slider.addEventListener('input', () => this.apply());
  }

  open(scene: Scene): void {
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
    this.stage.look({ planes, edges: this.edges.checked });
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
