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
}
export interface Step { rank: number; number: number; start: number; end: number }
export interface Counter { counter: number; key: string; rank: number; name: string; unit: Unit; max: number }
export interface Timeline {
  end: number;
  names: number;
  clock: { aligned: boolean; error_ns: number };
  steps: Step[];
  lanes: Lane[];
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
export interface Link extends Place { what: string; name: string }
export interface Frame { name: string; file: string; line: number }
export interface EventDetails extends Place {
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
}

export interface FoundName { name: string; id: number; count: number; time: number }
export interface Search { total: number; names: FoundName[]; density: number[]; hit?: Place | null }

/** Options of a command, as in its help: { step: '2-3', top: '10' }. */
export type Options = Record<string, string>;
