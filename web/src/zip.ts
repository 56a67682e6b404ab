// SPDX-License-Identifier: MIT
// Zip archives (PKWARE's APPNOTE.TXT 6.3.3), files stored as they are: positions hardly compress.

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
const UTF8 = 0x0800;
// Midnight of 1 January 1980, the first that the format can say: the same files make the same bytes.
const DATE = 0x0021;
const MAX_BYTES = 0xffffffff;
const MAX_FILES = 0xffff;

const TABLE = new Uint32Array(256).map((_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; ++bit) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = (value >>> 8) ^ TABLE[(value ^ byte) & 0xff]!;
  return ~value >>> 0;
}

/** Numbers of 2 or 4 bytes, little-endian, and the bytes that follow them. */
function record(numbers: [size: 2 | 4, value: number][], tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = numbers.reduce((sum, [size]) => sum + size, 0);
  const out = new Uint8Array(head + tail.length);
  const view = new DataView(out.buffer);
  let at = 0;
  for (const [size, value] of numbers) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  out.set(tail, head);
  return out;
}

export class Zip {
  private readonly parts: ArrayBuffer[] = [];
  private readonly central: Uint8Array<ArrayBuffer>[] = [];
  private size = 0;

  private put(bytes: Uint8Array): void {
    const copy = new Uint8Array(bytes);
    this.parts.push(copy.buffer);
    this.size += copy.length;
  }

  add(path: string, bytes: Uint8Array): void {
    const name = new TextEncoder().encode(path);
    const at = this.size;
    const shared: [2 | 4, number][] = [
      [2, VERSION],
      [2, UTF8],
      [2, 0],
      [2, 0],
      [2, DATE],
      [4, crc32(bytes)],
      [4, bytes.length],
      [4, bytes.length],
      [2, name.length],
      [2, 0],
    ];
    this.put(record([[4, LOCAL], ...shared], name));
    this.put(bytes);
    this.central.push(record([[4, CENTRAL], [2, VERSION], ...shared, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]], name));
    if (this.size > MAX_BYTES || this.central.length > MAX_FILES) throw new Error('The run is too large for a zip file: make it with yawara run.');
  }

  /** The archive, in parts. */
  finish(): ArrayBuffer[] {
    const start = this.size;
    for (const entry of this.central) this.put(entry);
    const count = this.central.length;
    this.put(record([[4, END], [2, 0], [2, 0], [2, count], [2, count], [4, this.size - start], [4, start], [2, 0]], new Uint8Array()));
    return this.parts;
  }
}
