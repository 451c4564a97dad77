// Reads tiles: little-endian columns in one buffer, each padded to a multiple of 8 bytes (docs/serve.md).

export const BUCKETS = 512;
const TILE = 0x454c4954;
const NUMBERS = 0x4e554d53;
const VERSION = 1;
const HEADER = 16;

export const BEGAN_BEFORE = 1;
export const ENDS_BEHIND = 2;
export const IS_WAITING = 4;

export interface Tile {
  rows: number;
  boxes: number;
  lane: Uint32Array;
  row: Uint32Array;
  /** Per row, the first of its boxes; one more at the end. */
  first: Uint32Array;
  id: Uint32Array;
  name: Uint32Array;
  count: Uint32Array;
  begin: Uint16Array;
  end: Uint16Array;
  busy: Uint8Array;
  family: Uint8Array;
  flags: Uint8Array;
}

class Columns {
  private at = HEADER;
  constructor(private readonly buffer: ArrayBuffer) {}

  take<A>(type: new (buffer: ArrayBuffer, at: number, length: number) => A, width: number, length: number): A {
    const bytes = Math.ceil((width * length) / 8) * 8;
    if (this.at + bytes > this.buffer.byteLength) throw new RangeError('A tile is shorter than its counts say.');
    const column = new type(this.buffer, this.at, length);
    this.at += bytes;
    return column;
  }
  u32(length: number) { return this.take(Uint32Array, 4, length); }
  u16(length: number) { return this.take(Uint16Array, 2, length); }
  u8(length: number) { return this.take(Uint8Array, 1, length); }
  end() {
    if (this.at !== this.buffer.byteLength) throw new RangeError('A tile is longer than its counts say.');
  }
}

function counts(buffer: ArrayBuffer, magic: number): [number, number] {
  if (buffer.byteLength < HEADER) throw new RangeError('A tile has no header.');
  const header = new DataView(buffer);
  if (header.getUint32(0, true) !== magic) throw new RangeError('An answer is not a tile.');
  if (header.getUint16(4, true) !== VERSION) throw new RangeError('A tile has a version that this page cannot read.');
  return [header.getUint32(8, true), header.getUint32(12, true)];
}

function firsts(lengths: Uint32Array, boxes: number): Uint32Array {
  const first = new Uint32Array(lengths.length + 1);
  lengths.forEach((length, i) => { first[i + 1] = first[i]! + length; });
  if (first[lengths.length] !== boxes) throw new RangeError('The rows of a tile do not add up to its boxes.');
  return first;
}

export function decodeTile(buffer: ArrayBuffer): Tile {
  const [rows, boxes] = counts(buffer, TILE);
  const columns = new Columns(buffer);
  const lane = columns.u32(rows);
  const row = columns.u32(rows);
  const first = firsts(columns.u32(rows), boxes);
  const tile = {
    rows, boxes, lane, row, first,
    id: columns.u32(boxes),
    name: columns.u32(boxes),
    count: columns.u32(boxes),
    begin: columns.u16(boxes),
    end: columns.u16(boxes),
    busy: columns.u8(boxes),
    family: columns.u8(boxes),
    flags: columns.u8(boxes),
  };
  columns.end();
  return tile;
}

export interface CounterTile {
  counters: { counter: number; begin: Uint16Array; end: Uint16Array; low: Float32Array; high: Float32Array }[];
}

/** Each counter is a run of boxes: u16 begin, u16 end, f32 lowest, f32 highest. */
export function decodeCounters(buffer: ArrayBuffer): CounterTile {
  const [number, boxes] = counts(buffer, NUMBERS);
  const view = new DataView(buffer);
  const result: CounterTile = { counters: [] };
  let at = HEADER;
  let seen = 0;
  for (let i = 0; i < number; ++i) {
    if (at + 8 > buffer.byteLength) throw new RangeError('A tile is shorter than its counts say.');
    const counter = view.getUint32(at, true);
    const length = view.getUint32(at + 4, true);
    at += 8;
    if (at + length * 12 > buffer.byteLength) throw new RangeError('A tile is shorter than its counts say.');
    const one = {
      counter, begin: new Uint16Array(length), end: new Uint16Array(length),
      low: new Float32Array(length), high: new Float32Array(length),
    };
    for (let box = 0; box < length; ++box, at += 12) {
      one.begin[box] = view.getUint16(at, true);
      one.end[box] = view.getUint16(at + 2, true);
      one.low[box] = view.getFloat32(at + 4, true);
      one.high[box] = view.getFloat32(at + 8, true);
    }
    seen += length;
    result.counters.push(one);
  }
  if (seen !== boxes) throw new RangeError('The counters of a tile do not add up to its boxes.');
  return result;
}
