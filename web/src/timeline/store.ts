// Tiles and names, asked for as they are needed and kept. A frame never waits: it draws what is here.
import { Absent, type DataSource } from '../data/source.ts';
import type { CounterTile, Tile } from '../data/tile.ts';
import type { Timeline } from '../data/types.ts';
import { tilesIn, wholeLevel, type Span } from './view.ts';

// A question asks for a block of lanes, always the same ones, so that answers can be kept, and small enough to be answered.
const BLOCK_ROWS = 256;
const BLOCK_LANES = 64;
const OVERVIEW_BLOCKS = 16; // the lanes that the overview adds up
const MAX_TILES = 1200;
const AT_ONCE = 6;
const COARSER = 40; // levels to look above for something to draw: a report file has few
const NAMES = 4096;

/** A tile, and where each lane's rows are in it. */
export interface Held { tile: Tile; rowsOf: Map<number, [number, number]> }

interface Wish { key: string; level: number; tile: number; block: number }

/** Neighbouring lanes, with few enough rows and lanes. */
export function blocksOf(lanes: readonly { lane: number; rows: number }[]): number[][] {
  const blocks: number[][] = [];
  let rows = Infinity;
  for (const { lane, rows: own } of lanes) {
    if (rows + own > BLOCK_ROWS || blocks.at(-1)!.length >= BLOCK_LANES) {
      blocks.push([]);
      rows = 0;
    }
    blocks.at(-1)!.push(lane);
    rows += own;
  }
  return blocks;
}

function held(tile: Tile): Held {
  const rowsOf = new Map<number, [number, number]>();
  for (let row = 0; row < tile.rows; ++row) {
    const known = rowsOf.get(tile.lane[row]!);
    if (known === undefined) rowsOf.set(tile.lane[row]!, [row, row + 1]);
    else known[1] = row + 1;
  }
  return { tile, rowsOf };
}

const COUNTERS = -1; // the block that holds all counters

export class Store {
  private readonly tiles = new Map<string, Held | CounterTile>();
  private readonly asked = new Map<string, AbortController>();
  private readonly namesOf = new Map<number, string[] | 'asked'>();
  private readonly blocks: number[][];
  private readonly blockOf = new Map<number, number>();
  private wishes: Wish[] = [];
  private failed = new Set<string>();
  error: Error | null = null;

  constructor(
    private readonly source: DataSource, private readonly run: number, private readonly timeline: Timeline,
    private readonly onNews: () => void,
  ) {
    this.blocks = blocksOf(timeline.lanes);
    this.blocks.forEach((lanes, block) => { for (const lane of lanes) this.blockOf.set(lane, block); });
  }

  /** Whether the overview shows a lane: of very many, the first ones stand for all. */
  isInOverview(lane: number) { return this.blockOf.get(lane)! < OVERVIEW_BLOCKS; }

  /** Tiles that the view needs, most needed first; then those that it will probably need next. */
  want(span: Span, level: number, lanes: ReadonlySet<number>) {
    const blocks = [...new Set([...lanes].map((lane) => this.blockOf.get(lane)!))];
    if (this.timeline.counters.length > 0) blocks.unshift(COUNTERS);
    const { first, last } = tilesIn(span, level, this.timeline.end);
    const wishes: Wish[] = [];
    const whole = wholeLevel(this.timeline.end);
    const add = (at: number, tile: number) => {
      const ends = tilesIn({ from: 0, to: this.timeline.end }, at, this.timeline.end).last;
      if (tile < 0 || tile > ends || at > Math.max(level, whole)) return;
      for (const block of blocks) wishes.push({ key: `${at}/${tile}/${block}`, level: at, tile, block });
    };
    for (let tile = first; tile <= last; ++tile) add(level, tile);
    for (let tile = first >> 1; tile <= last >> 1; ++tile) add(level + 1, tile);
    add(level, first - 1);
    add(level, last + 1);
    // The whole run, for the overview and as the last stand-in for finer tiles.
    for (let block = 0; block < Math.min(OVERVIEW_BLOCKS, this.blocks.length); ++block) {
      wishes.push({ key: `${whole}/0/${block}`, level: whole, tile: 0, block });
    }
    this.wishes = wishes.filter((wish) => !this.tiles.has(wish.key) && !this.failed.has(wish.key));
    const wanted = new Set(this.wishes.map((wish) => wish.key));
    for (const [key, abort] of this.asked) if (!wanted.has(key)) abort.abort();
    this.askMore();
  }

  /** The tile, or a coarser one that holds it. */
  tileFor(level: number, tile: number, lane: number): { held: Held; level: number; tile: number } | null {
    return this.best(level, tile, this.blockOf.get(lane)!) as { held: Held; level: number; tile: number } | null;
  }
  countersFor(level: number, tile: number): { held: CounterTile; level: number; tile: number } | null {
    return this.best(level, tile, COUNTERS) as { held: CounterTile; level: number; tile: number } | null;
  }
  private best(level: number, tile: number, block: number) {
    for (let up = 0; up <= COARSER; ++up) {
      const at = Math.floor(tile / 2 ** up);
      const key = `${level + up}/${at}/${block}`;
      const known = this.tiles.get(key);
      if (known === undefined) continue;
      if (up === 0) { // used last, dropped last
        this.tiles.delete(key);
        this.tiles.set(key, known);
      }
      return { held: known, level: level + up, tile: at };
    }
    return null;
  }

  /** A name; undefined until it was read. */
  name(id: number): string | undefined {
    const block = Math.floor(id / NAMES);
    const known = this.namesOf.get(block);
    if (Array.isArray(known)) return known[id % NAMES] ?? `name ${id}`;
    if (known === undefined) {
      this.namesOf.set(block, 'asked');
      this.source.names(this.run, block).then(
        (names) => { this.namesOf.set(block, names); this.onNews(); },
        (error: Error) => { this.namesOf.delete(block); this.fail(error); });
    }
    return undefined;
  }

  get waiting() { return this.asked.size > 0; }

  retry() {
    this.failed.clear();
    this.error = null;
    this.onNews();
  }
  stop() {
    this.wishes = [];
    for (const abort of this.asked.values()) abort.abort();
  }

  private askMore() {
    for (const wish of this.wishes) {
      if (this.asked.size >= AT_ONCE) return;
      if (!this.asked.has(wish.key) && !this.tiles.has(wish.key) && !this.failed.has(wish.key)) this.ask(wish);
    }
  }

  private ask({ key, level, tile, block }: Wish) {
    const abort = new AbortController();
    this.asked.set(key, abort);
    const answer = block === COUNTERS
      ? this.source.counters(this.run, level, tile, this.timeline.counters.map((one) => one.counter), abort.signal)
      : this.source.tile(this.run, level, tile, this.blocks[block]!, abort.signal).then(held);
    answer.then(
      (value) => {
        this.tiles.set(key, value);
        if (this.tiles.size > MAX_TILES) this.tiles.delete(this.tiles.keys().next().value!);
        this.onNews();
      },
      (error: Error) => {
        if (abort.signal.aborted) return;
        this.failed.add(key);
        if (!(error instanceof Absent)) this.fail(error);
      },
    ).finally(() => { this.asked.delete(key); this.askMore(); });
  }

  private fail(error: Error) {
    this.error = error;
    this.onNews();
  }
}
