// Where the page's answers come from. Every view asks through this and nothing else.
import type { DrawnPath, EventDetails, Idle, Options, Report, Reports, Runs, Search, Timeline } from './types.ts';
import type { CounterTile, Tile } from './tile.ts';

const OTHER_TOKEN = 401;

/** A question that was answered by an error. */
export class Refusal extends Error {
  constructor(message: string, readonly status: number, readonly remedy = '') {
    super(message);
  }
  /** The program does not answer, or was started anew: later, it may. */
  get isPassing() { return this.status === 0 || this.status === OTHER_TOKEN; }
}

/** A report file does not hold this, and something coarser stands in for it. */
export class Absent extends Refusal {}

/** What a report file says about itself. */
export interface FileFacts {
  options: Options;
  /** What to give `stepscope serve` for what is not in the file. */
  trace: string;
  /** Sentences. */
  left_out: string[];
  /** Spans of the timeline with all their events; missing where the file has no timeline. */
  exact?: [number, number][];
  coarse?: [number, number];
  counters?: [number, number];
  /** Of an event's sort: its kind and category. */
  kinds?: [string, string][];
  /** That events can have. */
  kind_names?: string[];
  steps?: number[];
}

export interface HitQuery { after?: number; before?: number; lane: number; row: number }

export interface DataSource {
  runs(): Promise<Runs>;
  analyses(): Promise<Report>;
  report(run: number, options: Options): Promise<Reports>;
  show(run: number, analysis: string, options: Options): Promise<Report>;
  explain(run: number, finding: string, options: Options): Promise<Report>;
  diff(run: number, base: number): Promise<Reports>;
  timeline(run: number): Promise<Timeline>;
  names(run: number, block: number): Promise<string[]>;
  tile(run: number, level: number, tile: number, lanes: number[], signal?: AbortSignal): Promise<Tile>;
  counters(run: number, level: number, tile: number, counters: number[], signal?: AbortSignal): Promise<CounterTile>;
  search(run: number, text: string, hit?: HitQuery, signal?: AbortSignal): Promise<Search>;
  event(run: number, rank: number, id: number, signal?: AbortSignal): Promise<EventDetails>;
  area(run: number, from: number, to: number, lanes: number[], signal?: AbortSignal): Promise<Report>;
  /** `options`: rank, step ("": the whole recording), and a span of time. */
  path(run: number, options: Options): Promise<DrawnPath>;
  /** `options`: a span of time. */
  idle(run: number, options: Options): Promise<Idle>;
  /** The line and `around` lines on both sides of it. */
  source(file: string, line: number, around: number): Promise<string>;
  /** About the file that the answers are in; null where a program answers. */
  file(): Promise<FileFacts | null>;
}
