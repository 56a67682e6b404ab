// SPDX-License-Identifier: MIT
// The parameters of a body's method, from the core's own table: a new parameter appears by itself.
import type { Setting } from './protocol';

// A slider over more than this ratio is logarithmic.
const LOGARITHMIC = 200;
// How far beyond its default a parameter without a tight range can be moved.
const REACH = 100;
const STEPS = 400;

/** What the matter is like comes first; how it is computed is behind "More". */
const PROMINENT = /stiffness|modulus|_ratio|damping|viscosity|alpha|beta|yield|flow|hardening|friction|strain|tau|thickness|^xi$/;

export interface Scale {
  toValue(step: number): number;
  toStep(value: number): number;
}

/** Where on the slider a value is: linear in tight ranges, logarithmic around the default otherwise. */
export function scaleOf(setting: Setting): Scale {
  const low = setting.low ?? 0;
  const high = setting.high ?? 1;
  const isTight = high - low <= LOGARITHMIC;
  if (isTight) {
    return {
      toValue: (step) => low + (step / STEPS) * (high - low),
      toStep: (value) => ((value - low) / (high - low)) * STEPS,
    };
  }
  const known = [setting.default, setting.value].map(Number).filter((value) => value > 0);
  const middle = known.length > 0 ? known : [1];
  const bottom = Math.max(low, Math.min(...middle) / REACH);
  const top = Math.min(high, Math.max(...middle) * REACH);
  const range = Math.log(top / bottom);
  return {
    // The left end is the lowest value allowed, often 0.
    toValue: (step) => (step === 0 && !setting.above ? Math.max(low, 0) : bottom * Math.exp((step / STEPS) * range)),
    toStep: (value) => (value <= bottom ? 0 : (Math.log(value / bottom) / range) * STEPS),
  };
}

const label = (key: string): string => key.replaceAll('_', ' ');
const round = (value: number): number => Number(value.toPrecision(3));
/** As it is typed: 15000000 is 1.5e7, so that it fits. */
const typed = (value: number): string => (Math.abs(value) >= 1e6 ? round(value).toExponential().replace('e+', 'e') : String(round(value)));

export class SettingsPanel {
  readonly element = document.createElement('section');

  constructor(private readonly change: (setting: Setting, value: string) => void) {}

  show(title: string, rows: Setting[], changed: (key: string) => boolean): void {
    const heading = document.createElement('h2');
    heading.textContent = title;
    const more = document.createElement('details');
    more.innerHTML = '<summary>More</summary>';
    this.element.replaceChildren(heading);
    // Of the two ways to say how stiff a body of match is, the one in use is shown.
    const unused = rows.some((row) => row.key === 'alpha' && Number(row.value) > 0) ? 'stiffness' : 'alpha';
    const hasBoth = rows.some((row) => row.key === 'alpha') && rows.some((row) => row.key === 'stiffness');
    for (const row of rows) {
      if (hasBoth && row.key === unused) continue;
      const isPlain = PROMINENT.test(row.key);
      const element = this.makeRow(row);
      element.classList.toggle('changed', changed(row.key));
      (isPlain ? this.element : more).append(element);
    }
    if (more.children.length > 1) this.element.append(more);
  }

  private makeRow(setting: Setting): HTMLElement {
    const row = document.createElement('div');
    row.className = 'row';
    row.dataset.key = setting.key;
    row.title = setting.about + (setting.model ? ' Changing it starts the scene again.' : '');
    const name = document.createElement('label');
    name.textContent = label(setting.key);
    name.htmlFor = `set-${setting.key}`;
    if (setting.unit) {
      const unit = document.createElement('span');
      unit.className = 'unit';
      unit.textContent = ` ${setting.unit}`;
      name.append(unit);
    }
    row.append(name);
    const tell = (value: string): void => {
      row.classList.add('changed');
      this.change(setting, value);
    };
    if (setting.kind === 'choice') row.append(this.makeChoice(setting, tell));
    else if (setting.kind === 'boolean') row.append(this.makeSwitch(setting, tell));
    else this.addNumber(row, setting, tell);
    // For those who cannot hover.
    row.querySelector('input, select')?.setAttribute('aria-description', row.title);
    return row;
  }

  private makeChoice(setting: Setting, tell: (value: string) => void): HTMLElement {
    const select = document.createElement('select');
    select.id = `set-${setting.key}`;
    for (const choice of setting.choices ?? []) select.add(new Option(label(choice), choice));
    select.value = String(setting.value);
    select.addEventListener('change', () => tell(select.value));
    return select;
  }

  private makeSwitch(setting: Setting, tell: (value: string) => void): HTMLElement {
    const box = document.createElement('input');
    box.type = 'checkbox';
    box.id = `set-${setting.key}`;
    box.checked = setting.value === true;
    box.addEventListener('change', () => tell(String(box.checked)));
    return box;
  }

  private addNumber(row: HTMLElement, setting: Setting, tell: (value: string) => void): void {
    const scale = scaleOf(setting);
    const isInteger = setting.kind === 'integer';
    const number = document.createElement('input');
    number.type = 'number';
    number.id = `set-${setting.key}`;
    number.step = isInteger ? '1' : 'any';
    if (setting.low !== undefined) number.min = String(setting.low);
    if (setting.high !== undefined) number.max = String(setting.high);
    const value = Number(setting.value);
    // A negative default stands for "chosen by the method".
    if (value >= (setting.low ?? -Infinity)) number.value = isInteger ? String(value) : typed(value);
    else number.placeholder = 'auto';
    const slider = document.createElement('input');
    slider.type = 'range';
    slider.max = String(STEPS);
    slider.value = String(scale.toStep(Math.max(value, 0)));
    slider.setAttribute('aria-label', label(setting.key));
    slider.addEventListener('input', () => {
      const next = scale.toValue(Number(slider.value));
      number.value = isInteger ? String(Math.round(next)) : typed(next);
      tell(number.value);
    });
    number.addEventListener('change', () => {
      if (number.value === '') return;
      slider.value = String(scale.toStep(Number(number.value)));
      tell(number.value);
    });
    row.append(number, slider);
  }
}
