// Where the names and places of a row lead.
import type { Cell, Column, Table } from '../data/types.ts';
import type { Moment, Param } from '../state/link.ts';

export interface Way { words: string; page: string; params: Partial<Record<Param, string>> }
export interface Named { name: string; ways: Way[] }
export interface SourceLine { file: string; line: number; name: string }

export const MAX_QUERY = 150; // letters; a search takes 200 bytes

/** Columns that name something which happened in the recording, and the page that has a table of its kind. */
const NAMES: Record<string, string> = {
  name: '', op: 'operators', top_op: 'operators', bottom_op: 'operators', kernel: 'kernels', module: 'modules', collective: '', call: '', place: '', host: '',
  next: '', ended_by: '', annotation: '', region: '', loader: '', issued_by: '', unit: '', what: '',
};
const SOURCES = ['source', 'line', 'place', 'parent', 'name', 'host'];
const LINE = /^(.+?)\((\d+)\): (.+)$/;

/** "train.py(41): step" → its file, line and function. */
export function sourceLine(words: Cell | undefined): SourceLine | null {
  const match = typeof words === 'string' ? LINE.exec(words) : null;
  return match === null ? null : { file: match[1]!, line: Number(match[2]), name: match[3]! };
}

/** Begins a filter that holds for every table of a page. */
export const EVERY = '*:';
export const everyTable = (text: string) => EVERY + text;

function textIn(row: readonly Cell[], index: number): string {
  const cell = row[index];
  return typeof cell === 'string' ? cell : '';
}

export const isName = (column: Column) => column.unit === '' && Object.hasOwn(NAMES, column.name);

/** The names in a row, each with the places that have more about it. */
export function namesIn(table: Table, row: readonly Cell[], here: string): Named[] {
  return table.columns.flatMap((column, index) => {
    const name = textIn(row, index);
    if (name === '' || !isName(column)) return [];
    const page = NAMES[column.name]!;
    const ways: Way[] = [{ words: 'in the timeline', page: 'timeline', params: { q: name.slice(0, MAX_QUERY) } }];
    ways.push({ words: 'its longest event', page: 'timeline', params: { longest: name } });
    if (page !== '' && page !== here) ways.push({ words: `in ${page}`, page, params: { filter: everyTable(name.slice(0, MAX_QUERY)) } });
    return [{ name, ways }];
  });
}

/** The lines of source in a row. */
export function sourcesIn(table: Table, row: readonly Cell[]): SourceLine[] {
  const found = table.columns.flatMap((column, index) => {
    const line = SOURCES.includes(column.name) ? sourceLine(row[index]) : null;
    return line === null ? [] : [line];
  });
  return found.filter((one, i) => found.findIndex((other) => other.file === one.file && other.line === one.line) === i);
}

/** The step of a row, with its rank where the row has one. */
export function stepIn(table: Table, row: readonly Cell[]): { step: string; rank?: string } | null {
  const at = (name: string) => row[table.columns.findIndex((column) => column.name === name)];
  const [step, rank] = [at('step'), at('rank')];
  if (step === null || step === undefined || !/^\d+$/.test(String(step))) return null;
  return rank === null || rank === undefined ? { step: String(step) } : { step: String(step), rank: String(rank) };
}

const LISTS: Record<string, string> = { stack: ';', sequence: '|', ops: ';' };

/** A cell that joins several names, a name a line. */
export const inLines = (column: Column, words: string) => words.replaceAll(LISTS[column.name] ?? '\n', '\n');

/** The stretch of its rank's recording that a row is about: a key `start`, and how long it is. */
export function momentIn(table: Table, row: readonly Cell[]): Moment | null {
  const at = (names: readonly string[], is: (column: Column) => boolean) => row[table.columns.findIndex((column) => names.includes(column.name) && is(column))];
  const start = at(['start'], (column) => column.unit === 'ns' && column.role === 'key');
  const length = at(['length', 'time'], (column) => column.unit === 'ns');
  const rank = at(['rank'], (column) => column.role === 'key');
  if (typeof start !== 'number' || typeof length !== 'number' || length <= 0) return null;
  return { rank: typeof rank === 'number' ? rank : null, start, length };
}
