// SPDX-License-Identifier: MIT
// Rows of the panel: a label and something to choose with.
export interface Row<T extends HTMLElement> {
  row: HTMLElement;
  input: T;
}

function makeRow(id: string, name: string): HTMLElement {
  const row = document.createElement('div');
  row.className = 'row';
  const label = document.createElement('label');
  label.textContent = name;
  label.htmlFor = id;
  row.append(label);
  return row;
}

export function selectRow(id: string, name: string, options: [string, string][]): Row<HTMLSelectElement> {
  const row = makeRow(id, name);
  const input = document.createElement('select');
  input.id = id;
  for (const [value, text] of options) input.add(new Option(text, value));
  row.append(input);
  return { row, input };
}

export function checkRow(id: string, name: string): Row<HTMLInputElement> {
  const row = makeRow(id, name);
  const input = document.createElement('input');
  input.type = 'checkbox';
  input.id = id;
  row.append(input);
  return { row, input };
}

/** A slider with its value beside the name. */
export function sliderRow(id: string, name: string, low: number, high: number, value: number, show: (value: number) => string): Row<HTMLInputElement> {
  const row = makeRow(id, name);
  const input = document.createElement('input');
  input.type = 'range';
  input.id = id;
  input.min = String(low);
  input.max = String(high);
  input.step = 'any';
  input.value = String(value);
  const output = document.createElement('output');
  output.htmlFor.add(id);
  const tell = (): void => {
    output.textContent = show(Number(input.value));
  };
  tell();
  input.addEventListener('input', tell);
  input.addEventListener('reset-row', tell);
  row.append(output, input);
  return { row, input };
}

/** Sets a slider without acting. */
export function setSlider(input: HTMLInputElement, value: number): void {
  input.value = String(value);
  input.dispatchEvent(new Event('reset-row'));
}

export function makeButton(text: string, title: string, act: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.textContent = text;
  button.title = title;
  button.className = 'icon-text';
  button.addEventListener('click', act);
  return button;
}

/** The button that one came for. */
export function mainButton(text: string, title: string, act: () => void): HTMLButtonElement {
  const button = makeButton(text, title, act);
  button.classList.add('main');
  return button;
}

/** Buttons of which one is on. */
export function choiceButtons<T extends string>(label: string, choices: [T, string, string][], choose: (value: T) => void): { element: HTMLElement; set(value: T): void } {
  const element = document.createElement('div');
  element.className = 'buttons choice';
  element.setAttribute('role', 'group');
  element.setAttribute('aria-label', label);
  const buttons = new Map<T, HTMLButtonElement>();
  const set = (value: T): void => {
    for (const [own, button] of buttons) button.setAttribute('aria-pressed', String(own === value));
  };
  for (const [value, text, title] of choices) {
    const button = makeButton(text, title, () => {
      set(value);
      choose(value);
    });
    buttons.set(value, button);
    element.append(button);
  }
  return { element, set };
}
