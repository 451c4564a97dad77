// What a table shows: its columns, the order of its rows, its texts and its CSV.
import type { Cell, Column, Table } from '../data/types.ts';
import { columnFormat } from '../words/units.ts';
import { shortName, shortNames, shortPlace } from '../words/names.ts';

export interface Shown {
  column: Column;
  /** Its place in the rows of the answer. */
  index: number;
  isText: boolean;
  format: (cell: Cell) => string;
  /** The largest magnitude, for bars. */
  most: number;
  /** Width in characters. */
  width: number;
}

export interface Sort { index: number; up: boolean }

const MAX_TEXT = 48;
const MAX_PLACE = 36;
const MIN_WIDTH = 5;
const SHARE_WIDTH = 11; // room for a bar
const LOOKED_AT = 400;

export const label = (column: Column) => column.name.replaceAll('_', ' ');

export const depthOf = (table: Table) => table.columns.findIndex((column) => column.role === 'depth' || column.name === 'depth');

/** The columns to show. Details, and columns without any value, are left out unless `all`. */
export function shownColumns(table: Table, all: boolean): Shown[] {
  const depth = depthOf(table);
  return table.columns.flatMap((column, index) => {
    if (index === depth) return [];
    const isEmpty = table.rows.every((row) => row[index] === null || row[index] === '');
    if (!all && (column.role === 'detail' || (isEmpty && column.role !== 'key' && table.rows.length > 0))) return [];
    return [shown(table, column, index)];
  });
}

const STACK = 'stack';
/** The end of a stack tells more than its begin, which most stacks share. */
const innermostFirst = (stack: string) => stack.split(';').reverse().map(shortName).join(' ← ');

const numbersOf = (table: Table, index: number) => table.rows.map((row) => (typeof row[index] === 'number' ? row[index] : null));

/** The numbers that share a unit with those of a column: in a comparison, all of the same kind do. */
function alike(table: Table, column: Column, index: number): (number | null)[] {
  if (!table.columns.some((one) => one.role === 'change')) return numbersOf(table, index);
  return table.columns.flatMap((one, i) => (one.unit === column.unit && one.role !== 'detail' ? numbersOf(table, i) : []));
}

function shown(table: Table, column: Column, index: number): Shown {
  const numbers = numbersOf(table, index);
  const isText = table.rows.some((row) => typeof row[index] === 'string');
  const number = columnFormat(alike(table, column, index), column.unit);
  const short = isText ? shortNames(table.rows.flatMap((row) => (typeof row[index] === 'string' ? [row[index]] : []))) : String;
  const format = (cell: Cell) => {
    if (typeof cell === 'string') return column.name === STACK ? innermostFirst(cell) : shortPlace(short(cell), MAX_PLACE);
    const digits = number(cell);
    return column.role === 'change' && cell !== null && cell > 0 ? digits.replace(/^<?/, '$&+') : digits;
  };
  const most = numbers.reduce<number>((max, value) => Math.max(max, Math.abs(value ?? 0)), 0);
  const longest = table.rows.slice(0, LOOKED_AT).reduce((max, row) => Math.max(max, format(row[index] ?? null).length), label(column).length + 1) + (column.role === 'change' ? 1 : 0);
  return { column, index, isText, format, most, width: Math.max(column.role === 'share' ? SHARE_WIDTH : MIN_WIDTH, Math.min(longest, MAX_TEXT)) };
}

/** The column by whose size the rows are ordered, for bars; -1 if there is none. */
export function orderedBy(table: Table): number {
  if (table.rows.length < 3 || depthOf(table) >= 0) return -1;
  return table.columns.findIndex((column, index) => column.role === 'value' && column.unit !== '' && column.unit !== 'count'
    && numbersOf(table, index).every((value, i, all) => value !== null && value >= 0 && (i === 0 || all[i - 1]! >= value)));
}

function compare(a: Cell, b: Cell, up: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1; // absent values last
  const order = typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
  return up ? order : -order;
}

/** The rows that contain the text in any case, sorted. A tree keeps its order. */
export function orderedRows(table: Table, filter: string, sort: Sort | null): Cell[][] {
  const text = filter.trim().toLowerCase();
  const found = text === '' ? table.rows : table.rows.filter((row) => row.some((cell) => cell !== null && String(cell).toLowerCase().includes(text)));
  return sort === null ? found : [...found].sort((a, b) => compare(a[sort.index] ?? null, b[sort.index] ?? null, sort.up));
}

// A spreadsheet must not take a name from a recording for a formula.
function csvCell(cell: Cell): string {
  if (cell === null) return '';
  const text = typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** All columns, raw values, with units in the header. */
export function csvOf(table: Table, rows: Cell[][]): string {
  const header = table.columns.map(({ name, unit }) => csvCell(unit === '' ? name : `${name} [${unit}]`));
  return [header, ...rows.map((row) => row.map(csvCell))].map((cells) => cells.join(',')).join('\r\n') + '\r\n';
}
