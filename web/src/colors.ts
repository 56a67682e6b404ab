// SPDX-License-Identifier: MIT
// Colours for values: violet, blue, green, yellow; lighter always means more.

// sRGB at even distances, sampled from a perceptually uniform scale.
const STOPS: readonly [number, number, number][] = [
  [68, 1, 84],
  [70, 50, 127],
  [54, 92, 141],
  [39, 127, 142],
  [31, 161, 135],
  [74, 194, 109],
  [159, 218, 58],
  [253, 231, 37],
];
const STEPS = 256;

function linear(channel: number): number {
  const s = channel / 255;
  return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
}

/** Linear RGB, 3 numbers for each of STEPS values. */
const table = new Float32Array(3 * STEPS);
for (let i = 0; i < STEPS; ++i) {
  const at = (i / (STEPS - 1)) * (STOPS.length - 1);
  const k = Math.min(Math.floor(at), STOPS.length - 2);
  for (let channel = 0; channel < 3; ++channel) {
    const low = STOPS[k]![channel]!;
    const high = STOPS[k + 1]![channel]!;
    table[3 * i + channel] = linear(low + (at - k) * (high - low));
  }
}

/** Writes the colours of values between low and high; grey where there is none. */
export function colorValues(values: Float32Array, low: number, high: number, out: Float32Array): void {
  const scale = high > low ? (STEPS - 1) / (high - low) : 0;
  for (let i = 0; i < values.length; ++i) {
    const value = values[i]!;
    if (Number.isNaN(value)) {
      out.fill(0.4, 3 * i, 3 * i + 3);
      continue;
    }
    const step = Math.min(Math.max(Math.round((value - low) * scale), 0), STEPS - 1);
    out[3 * i] = table[3 * step]!;
    out[3 * i + 1] = table[3 * step + 1]!;
    out[3 * i + 2] = table[3 * step + 2]!;
  }
}

// Colours of labels, sRGB: grey for none, then well apart for all kinds of eyes.
export const LABEL_COLORS: readonly string[] = ['#c9c5bd', '#e0603c', '#3f88c5', '#e3b23c', '#5aa469', '#9b5de5'];
const PIN_COLOR = '#d1242f';

function rgb(hex: string): [number, number, number] {
  const number = Number.parseInt(hex.slice(1), 16);
  return [linear((number >> 16) & 255), linear((number >> 8) & 255), linear(number & 255)];
}
const labelColors = LABEL_COLORS.map(rgb);
const pinColor = rgb(PIN_COLOR);

/** The same for labels; 255 is a pin. */
export function colorLabels(values: Float32Array, out: Float32Array): void {
  for (let i = 0; i < values.length; ++i) {
    const label = Math.round(values[i]!);
    out.set(label === 255 ? pinColor : (labelColors[label % labelColors.length] ?? labelColors[0]!), 3 * i);
  }
}

/** The same scale as a CSS background. */
export const scaleGradient = `linear-gradient(to right, ${STOPS.map((stop) => `rgb(${stop.join(' ')})`).join(', ')})`;
