// SPDX-License-Identifier: MIT
// Which example a body prefers: bars, and for two or three examples a point in a triangle.
type Point = [number, number];
const CORNERS: Point[] = [
  [50, 4],
  [4, 84],
  [96, 84],
];

// Two examples have the rest pose as a third corner; three have it in the middle.
const MIDDLE: Point = [50, 57.3];
const PLACES: Record<number, Point[]> = { 3: CORNERS, 4: [MIDDLE, ...CORNERS] };

function spot(weights: number[], places: Point[]): Point {
  const sum = weights.reduce((a, b) => a + b, 0) || 1;
  let x = 0;
  let y = 0;
  places.forEach((place, i) => {
    x += ((weights[i] ?? 0) / sum) * place[0];
    y += ((weights[i] ?? 0) / sum) * place[1];
  });
  return [x, y];
}

export class WeightBars {
  readonly element = document.createElement('section');
  private readonly meters: { meter: HTMLMeterElement; value: HTMLElement }[] = [];
  private dot: SVGCircleElement | undefined;
  private readonly places: Point[];

  constructor(title: string, names: string[]) {
    const heading = document.createElement('h2');
    heading.textContent = title;
    const list = document.createElement('div');
    list.className = 'weights';
    for (const name of names) list.append(this.makeRow(name));
    this.element.append(heading, list);
    this.places = PLACES[names.length] ?? [];
    if (this.places.length > 0) this.element.append(this.makeTriangle(names));
  }

  private makeRow(name: string): HTMLElement {
    const row = document.createElement('div');
    row.className = 'weight';
    const label = document.createElement('span');
    label.className = 'name';
    label.textContent = name;
    const meter = document.createElement('meter');
    meter.setAttribute('aria-label', `weight of ${name}`);
    const value = document.createElement('span');
    value.className = 'value';
    row.append(label, meter, value);
    this.meters.push({ meter, value });
    return row;
  }

  private makeTriangle(names: string[]): SVGSVGElement {
    const make = <K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string>): SVGElementTagNameMap[K] => {
      const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      return element;
    };
    const svg = make('svg', { viewBox: '0 -8 100 104', class: 'triangle', role: 'img' });
    svg.setAttribute('aria-label', `Weights as a point between ${names.join(', ')}`);
    const points = CORNERS.map((corner) => corner.join(',')).join(' ');
    this.dot = make('circle', { r: '4', fill: 'var(--accent)' });
    svg.append(make('polygon', { points, fill: 'none', stroke: 'var(--soft)' }), this.dot);
    names.forEach((name, i) => {
      const [x, y] = this.places[i]!;
      // Above the upper corner, under the others.
      const text = make('text', { x: String(x), y: String(y === CORNERS[0]![1] ? y - 5 : y + 10), 'text-anchor': 'middle', 'font-size': '8', fill: 'currentColor' });
      text.textContent = name;
      svg.append(text);
    });
    return svg;
  }

  show(weights: (number | null)[]): void {
    const known = weights.map((weight) => weight ?? 0);
    this.meters.forEach((row, i) => {
      row.meter.value = known[i] ?? 0;
      row.value.textContent = (known[i] ?? 0).toFixed(2);
    });
    if (!this.dot) return;
    const [x, y] = spot(known, this.places);
    this.dot.setAttribute('cx', String(x));
    this.dot.setAttribute('cy', String(y));
  }
}
