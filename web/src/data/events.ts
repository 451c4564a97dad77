// Events of a report file: all that are drawn in a span of time, by row (docs/serve.md, "The report file").
import { BEGAN_BEFORE, BUCKETS, ENDS_BEHIND, IS_WAITING, type Tile } from './tile.ts';

const MAGIC = 0x4e455645;
const VERSION = 1;
const HEADER = 16;
const TIME_BYTES = 7;
const FULL = 255;
const WAITING = 11; // the family

/** A row of a lane: its events are [first, last), in order of time and apart. */
export interface Row { lane: number; row: number; first: number; last: number }

export interface Events {
  rows: Row[];
  rowsOf: Map<number, Row[]>;
  start: Float64Array;
  end: Float64Array;
  id: Uint32Array;
  name: Uint32Array;
  sort: Uint16Array;
  step: Uint32Array;
  family: Uint8Array;
}

class Planes {
  constructor(private readonly bytes: Uint8Array, private at: number, private readonly length: number) {}

  /** Numbers of `width` bytes: all lowest bytes come first. */
  fill<A extends Float64Array | Uint32Array | Uint16Array | Uint8Array>(into: A, width: number): A {
    for (let place = 0, unit = 1; place < width; ++place, unit *= 256) {
      for (let i = 0; i < this.length; ++i) into[i]! += this.bytes[this.at + i]! * unit;
      this.at += this.length;
    }
    return into;
  }
  end() {
    if (this.at !== this.bytes.length) throw new RangeError('A block of events is longer than its counts say.');
  }
}

const COLUMNS = TIME_BYTES * 2 + 4 + 4 + 2 + 4 + 1; // bytes of an event

export function decodeEvents(buffer: ArrayBuffer): Events {
  if (buffer.byteLength < HEADER) throw new RangeError('A block of events has no header.');
  const view = new DataView(buffer);
  if (view.getUint32(0, true) !== MAGIC) throw new RangeError('This is not a block of events.');
  if (view.getUint16(4, true) !== VERSION) throw new RangeError('A block of events has a version that this page cannot read.');
  const [count, length] = [view.getUint32(8, true), view.getUint32(12, true)];
  if (HEADER + 12 * count + COLUMNS * length !== buffer.byteLength) throw new RangeError('A block of events is not as long as its counts say.');
  const rows: Row[] = [];
  let first = 0;
  for (let i = 0; i < count; ++i) {
    const number = (column: number) => view.getUint32(HEADER + 4 * (column * count + i), true);
    rows.push({ lane: number(0), row: number(1), first, last: first + number(2) });
    first += number(2);
  }
  if (first !== length) throw new RangeError('The rows of a block do not add up to its events.');
  const planes = new Planes(new Uint8Array(buffer), HEADER + 12 * count, length);
  const events: Events = {
    rows, rowsOf: byLane(rows),
    start: planes.fill(new Float64Array(length), TIME_BYTES), end: planes.fill(new Float64Array(length), TIME_BYTES),
    id: planes.fill(new Uint32Array(length), 4), name: planes.fill(new Uint32Array(length), 4), sort: planes.fill(new Uint16Array(length), 2),
    step: planes.fill(new Uint32Array(length), 4), family: planes.fill(new Uint8Array(length), 1),
  };
  planes.end();
  for (const row of rows) addUp(events, row);
  return events;
}

function byLane(rows: readonly Row[]) {
  const by = new Map<number, Row[]>();
  for (const row of rows) {
    const known = by.get(row.lane);
    if (known === undefined) by.set(row.lane, [row]);
    else known.push(row);
  }
  return by;
}

/** From gaps and lengths to times, from differences to ids. */
function addUp({ start, end, id }: Events, row: Row) {
  let time = 0;
  let last = 0;
  for (let i = row.first; i < row.last; ++i) {
    start[i]! += time;
    end[i]! += start[i]!;
    time = end[i]!;
    const zigzag = id[i]!;
    last = (last + ((zigzag >>> 1) ^ -(zigzag & 1))) >>> 0;
    id[i] = last;
  }
}

/** The first event of a row that starts at `time` or later, or ends behind it. */
export function firstFrom({ start, end }: Events, row: Row, time: number): number {
  let [low, high] = [row.first, row.last];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (start[middle]! < time && end[middle]! <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

class Boxes {
  readonly lane: number[] = [];
  readonly row: number[] = [];
  readonly first: number[] = [0];
  readonly id: number[] = [];
  readonly name: number[] = [];
  readonly count: number[] = [];
  readonly begin: number[] = [];
  readonly end: number[] = [];
  readonly busy: number[] = [];
  readonly family: number[] = [];
  readonly flags: number[] = [];

  constructor(private readonly events: Events, private readonly from: number, private readonly bucket: number) {}

  /** The boxes of a row, as `lanes` of the program makes them. */
  take(row: Row) {
    const { events, from, bucket } = this;
    const to = from + BUCKETS * bucket;
    const before = this.id.length;
    let i = firstFrom(events, row, from);
    if (i < row.last && events.start[i]! < from && events.end[i]! - events.start[i]! < bucket) ++i;
    let inRun = false;
    let busy = 0;
    let longest = 0;
    for (; i < row.last && events.start[i]! < to; ++i) {
      const [start, end] = [events.start[i]!, events.end[i]!];
      const length = end - start;
      const at = Math.floor((Math.max(start, from) - from) / bucket);
      if (length >= bucket) {
        const behind = end > to;
        this.add(i, at, behind ? BUCKETS : Math.floor((end - 1 - from) / bucket) + 1, FULL, (start < from ? BEGAN_BEFORE : 0) | (behind ? ENDS_BEHIND : 0));
        inRun = false;
        continue;
      }
      const last = this.id.length - 1;
      if (inRun && this.begin[last] === at) {
        busy += length;
        ++this.count[last]!;
        this.busy[last] = share(busy, bucket);
        if (length > longest) {
          longest = length;
          this.show(last, i, 0);
        }
      } else {
        busy = longest = length;
        this.add(i, at, at + 1, share(busy, bucket), 0);
      }
      inRun = true;
    }
    if (this.id.length === before) return;
    this.lane.push(row.lane);
    this.row.push(row.row);
    this.first.push(this.id.length);
  }

  private add(event: number, begin: number, end: number, busy: number, flags: number) {
    this.begin.push(begin);
    this.end.push(end);
    this.busy.push(busy);
    this.count.push(1);
    this.show(this.id.length, event, flags);
  }
  private show(box: number, event: number, flags: number) {
    const family = this.events.family[event]!;
    this.id[box] = this.events.id[event]!;
    this.name[box] = this.events.name[event]!;
    this.family[box] = family;
    this.flags[box] = flags | (family === WAITING ? IS_WAITING : 0);
  }

  tile(): Tile {
    return {
      rows: this.lane.length, boxes: this.id.length, lane: Uint32Array.from(this.lane), row: Uint32Array.from(this.row), first: Uint32Array.from(this.first),
      id: Uint32Array.from(this.id), name: Uint32Array.from(this.name), count: Uint32Array.from(this.count), begin: Uint16Array.from(this.begin),
      end: Uint16Array.from(this.end), busy: Uint8Array.from(this.busy), family: Uint8Array.from(this.family), flags: Uint8Array.from(this.flags),
    };
  }
}

const share = (busy: number, bucket: number) => Math.min(FULL, Math.ceil((busy * FULL) / bucket));

/** The tile that the program would answer. */
export function tileOf(events: Events, level: number, tile: number, lanes: readonly number[]): Tile {
  const bucket = 2 ** level;
  const boxes = new Boxes(events, tile * BUCKETS * bucket, bucket);
  for (const lane of lanes) for (const row of events.rowsOf.get(lane) ?? []) boxes.take(row);
  return boxes.tile();
}
