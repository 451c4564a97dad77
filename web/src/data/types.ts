// What the addresses of docs/serve.md answer.
import type { Unit } from '../words/units.ts';

export type Cell = string | number | null;
export type Role = 'key' | 'value' | 'share' | 'depth' | 'detail' | 'change';

export interface Column { name: string; unit: Unit; role: Role }
export interface Table {
  title: string;
  shape: 'table' | 'bars' | 'curve' | 'tree' | 'flame' | 'matrix' | 'timeline';
  columns: Column[];
  rows: Cell[][];
}
export interface Report { report: string; tables: Table[]; notes: string[] }
export interface Reports { reports: Report[] }

export interface Run {
  run: number;
  name: string;
  state: 'new' | 'ok' | 'unreadable' | 'changed';
  error?: string;
  bytes: number;
  modified: number;
  files: number;
  hash?: string;
}
export interface Runs { version: string; runs: Run[] }

export interface Lane {
  lane: number;
  key: string;
  rank: number;
  side: 'host' | 'device';
  role: string;
  name: string;
  title: string;
  rows: number;
  events: number;
  /** Events for which the lane had no row. */
  hidden?: number;
}
export interface Step { rank: number; number: number; start: number; end: number }
export interface Counter { counter: number; key: string; rank: number; name: string; unit: Unit; max: number }
export interface Timeline {
  end: number;
  names: number;
  /** `own`: ranks whose clock could not be aligned with the others. */
  clock: { aligned: boolean; error_ns: number; own?: number[] };
  /** Where each rank's file begins, and ns here per ns of its file. */
  ranks: { rank: number; begin: number; rate: number }[];
  steps: Step[];
  more_steps?: number;
  lanes: Lane[];
  more_lanes?: number;
  counters: Counter[];
}

/** Where an event is. Its name for the program is `rank` and `id`. */
export interface Place {
  rank: number;
  id: number;
  lane: number;
  row: number;
  start: number;
  end: number;
}
/** A place, or null where the event is not drawn. */
export type Drawn = Omit<Place, 'lane' | 'row'> & { lane: number | null; row: number | null };
export const placeIn = (event: Drawn): Place | null =>
  event.lane === null || event.row === null ? null : { rank: event.rank, id: event.id, lane: event.lane, row: event.row, start: event.start, end: event.end };

export interface Link extends Drawn { what: string; name: string }
export interface Frame { name: string; file: string | null; line: number | null }
export interface EventDetails extends Drawn {
  name: string;
  kind: string;
  category: string;
  step: number | string | null;
  parent: number | null;
  next: number | null;
  previous: number | null;
  args: [string, unknown][];
  stack: Frame[];
  links: Link[];
  more_links?: number;
  /** What is not known of it here, and the remedy. */
  lacks?: string;
}

export interface FoundName { name: string; id: number; count: number; time: number }
export interface Search { total: number; names: FoundName[]; more_names?: number; density: number[]; hit?: Place | null }

/** A part of a critical path; without a lane it lies between two events. `count`: parts that were joined. */
export interface PathPart { lane: number | null; row: number | null; id: number | null; start: number; end: number; time: number; kind: string; count: number }
export interface DrawnPath {
  rank: number;
  step: number | null;
  /** In words. */
  summary: string;
  time: number;
  bound_by: { bound_by: string; meaning: string; time: number; share: number | null }[];
  parts: PathPart[];
  joined: number;
  notes: string[];
}
/** A stretch in which a device was idle. `device` and `cause` are places in the lists of the answer; `host`: the event that it waited for, `name` its name. */
export interface IdlePart { device: number; start: number; end: number; cause: number; host: number | null; name: number | null; ended_by: number | null }
export interface Idle {
  summary: string;
  time: number;
  causes: { cause: string; meaning: string; time: number; share: number | null; pieces: number }[];
  devices: { rank: number; device: number; lanes: number[] }[];
  stretches: IdlePart[];
  shorter: number;
  notes: string[];
}

/** Options of a command, as in its help: { step: '2-3', top: '10' }. */
export type Options = Record<string, string>;
