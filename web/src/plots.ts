// SPDX-License-Identifier: MIT
// Numbers over time as small plots.
const POINTS = 120;

/** A number with few digits and a metric prefix: 0.0123 s is 12.3 ms. */
export function shortNumber(value: number, unit: string): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return unit ? `0 ${unit}` : '0';
  if (!unit) return Number.isInteger(value) && Math.abs(value) < 1e6 ? value.toLocaleString('en') : value.toPrecision(3);
  const power = Math.min(Math.max(Math.floor(Math.log10(Math.abs(value)) / 3), -3), 3);
  const prefix = ['n', 'µ', 'm', '', 'k', 'M', 'G'][power + 3]!;
  return `${(value / 1000 ** power).toPrecision(3)} ${prefix}${unit}`;
}

export class Plot {
  readonly element = document.createElement('div');
  private readonly values: number[] = [];
  /** Where in a whole the last value is. */
  private mark: number | undefined;
  private readonly canvas = document.createElement('canvas');
  private readonly output = document.createElement('span');

  constructor(
    readonly name: string,
    private readonly unit: string,
  ) {
    const label = document.createElement('span');
    label.textContent = name;
    this.element.className = 'plot';
    this.output.className = 'value';
    this.canvas.setAttribute('aria-hidden', 'true');
    this.element.append(label, this.canvas, this.output);
  }

  clear(): void {
    this.values.length = 0;
  }

  /** The newest value; older ones move to the left. */
  add(value: number | null): void {
    this.tell(value);
    this.values.push(value ?? Number.NaN);
    if (this.values.length > POINTS) this.values.shift();
    this.draw();
  }

  /** A value somewhere in a whole, 0 to 1, which stays there. */
  put(share: number, value: number | null): void {
    this.tell(value);
    while (this.values.length < POINTS) this.values.push(Number.NaN);
    this.mark = Math.round(Math.min(share, 1) * (POINTS - 1));
    this.values[this.mark] = value ?? Number.NaN;
    this.draw();
  }

  private tell(value: number | null): void {
    this.output.textContent = value === null ? '–' : shortNumber(value, this.unit);
  }

  private draw(): void {
    const ratio = Math.min(devicePixelRatio, 2);
    const width = this.canvas.clientWidth * ratio;
    const height = this.canvas.clientHeight * ratio;
    if (width === 0) return;
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    const known = this.values.filter((value) => Number.isFinite(value));
    const low = Math.min(0, ...known);
    const high = Math.max(...known, low + 1e-12);
    const pen = this.canvas.getContext('2d');
    if (!pen) return;
    pen.clearRect(0, 0, width, height);
    const across = (i: number): number => (i / (POINTS - 1)) * (width - 2) + 1;
    if (this.mark !== undefined) {
      pen.fillStyle = getComputedStyle(this.element).getPropertyValue('--line');
      pen.fillRect(across(this.mark) - ratio, 0, 2 * ratio, height);
    }
    pen.strokeStyle = getComputedStyle(this.element).getPropertyValue('--accent');
    pen.lineWidth = 1.5 * ratio;
    pen.beginPath();
    this.values.forEach((value, i) => {
      if (!Number.isFinite(value)) return;
      pen.lineTo(across(i), height - 2 - ((value - low) / (high - low)) * (height - 4));
    });
    pen.stroke();
  }
}
