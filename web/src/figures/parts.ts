// Which figure a table of an answer has, by its shape and its columns alone.
import type { Column, Table } from '../data/types.ts';
import { hasColumns, text } from '../data/table.ts';
import { familyOf } from '../words/palette.ts';
import type { Part } from './partbar.tsx';

const MAX_PARTS = 12;

export interface Whole { of: string; parts: Part[] }

/** The rows of a table that divide one whole, or one per rank or device; empty if they do not. `amount`: the column of the times, the first by default. */
export function partsOf(table: Table, amount?: string): Whole[] {
  const share = table.columns.findIndex((column) => column.role === 'share');
  if (table.shape !== 'bars' || table.rows.length === 0 || share < 0 || hasColumns(table, { op: '' }) || hasColumns(table, { place: '', bytes: 'bytes' })) return []; // operators have two colours only, places none
  const places = indices(table, (column) => column.role === 'key' && PLACES.includes(column.name)).filter((key) => telling(table).includes(key));
  const keys = telling(table).filter((key) => !places.includes(key));
  const time = table.columns.findIndex((column) => column.unit === 'ns' && column.role !== 'detail' && (amount === undefined || column.name === amount));
  const groups = new Map<string, typeof table.rows>();
  for (const row of table.rows) {
    const name = places.map((place) => spokenKey(table.columns[place]!.name, text(row[place]))).join(', ');
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  const wholes = [...groups].map(([of, rows]) => ({
    of: of || 'the whole',
    parts: rows.map((row) => ({
      name: keys.map((key) => text(row[key])).filter(Boolean).join(' · '),
      amount: time < 0 ? null : (row[time] as number | null),
      share: Number(row[share] ?? 0),
    })),
  }));
  return wholes.every(({ parts }) => parts.length > 1 && parts.length <= MAX_PARTS && isWhole(parts)) ? wholes : [];
}

const PLACES = ['rank', 'device'];

function isWhole(parts: Part[]): boolean {
  const sum = parts.reduce((all, part) => all + part.share, 0);
  return sum > 0.98 && sum < 1.005;
}

export interface Stack { labels: string[]; parts: { name: string; values: number[] }[] }

/** Times of which a part is exposed: one bar per row, its two parts; null if the table has none. */
function exposedOf(table: Table): Stack | null {
  const at = (name: string) => table.columns.findIndex((column) => column.name === name && column.unit === 'ns');
  const [total, exposed] = [at('total'), at('exposed')];
  const keys = telling(table);
  if (table.rows.length === 0 || total < 0 || exposed < 0 || !table.columns.some((column) => column.name === 'step')) return null;
  const labels = table.rows.map((row) => keys.map((key) => text(row[key])).join(' · '));
  if (table.rows.every((row) => row[exposed] === null)) return { labels, parts: [{ name: 'data wait', values: table.rows.map((row) => Number(row[total] ?? 0)) }] };
  return {
    labels,
    parts: [
      { name: 'data wait, device idle', values: table.rows.map((row) => Number(row[exposed] ?? 0)) },
      { name: 'hidden behind compute', values: table.rows.map((row) => Number(row[total] ?? 0) - Number(row[exposed] ?? 0)) },
    ],
  };
}

/** One bar per row, divided by the columns of parts; null if the table has none. */
export function stackOf(table: Table): Stack | null {
  if (table.shape === 'bars' && table.columns.some((column) => column.name === 'exposed')) return exposedOf(table);
  if (table.shape !== 'bars' || table.columns.some((column) => column.role === 'share')) return null;
  const parts = indices(table, (column) => column.role === 'value' && column.unit === 'ns' && column.name !== 'total');
  const keys = telling(table);
  if (parts.length < 2 || table.rows.length === 0) return null;
  return {
    labels: table.rows.map((row) => keys.map((key) => text(row[key])).join(' · ')),
    parts: parts
      .map((index) => ({ name: table.columns[index]!.name, values: table.rows.map((row) => Number(row[index] ?? 0)) }))
      .filter((part) => part.values.some((value) => value > 0)),
  };
}

export interface Curve { of: string; xUnit: Column['unit']; x: number[]; lines: { column: Column; values: (number | null)[] }[] }

/** The curves of a table of shape `curve`, one set per device or whatever its first key names. */
export function curvesOf(table: Table): Curve[] {
  const time = table.columns.findIndex((column) => column.role === 'key' && column.unit === 'ns');
  if (table.shape !== 'curve' || time < 0 || table.rows.length < 2) return [];
  const keys = indices(table, (column) => column.role === 'key').filter((key) => key !== time);
  const lines = indices(table, (column) => column.role === 'value');
  const { unit } = table.columns[lines[0]!]!;
  const sameUnit = lines.filter((line) => table.columns[line]!.unit === unit && table.columns[line]!.name !== 'change');
  const groups = new Map<string, typeof table.rows>();
  for (const row of table.rows) {
    const name = keys.map((key) => spokenKey(table.columns[key]!.name, text(row[key]))).join(', ');
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return [...groups].map(([of, rows]) => ({
    of, xUnit: 'ns', x: rows.map((row) => Number(row[time])),
    lines: sameUnit.map((line) => ({ column: table.columns[line]!, values: rows.map((row) => row[line] as number | null) })),
  }));
}

/** "rank 0", but not "device device 0". */
export const spokenKey = (column: string, value: string) => (/^\d+$/.test(value) ? `${column} ${value}` : value);

/** The key columns that tell the rows apart; the first one if none does. */
function telling(table: Table): number[] {
  const keys = indices(table, (column) => column.role === 'key');
  const several = keys.filter((key) => table.rows.some((row) => row[key] !== table.rows[0]![key]));
  return several.length > 0 ? several : keys.slice(0, 1);
}

function indices(table: Table, is: (column: Column) => boolean): number[] {
  return table.columns.flatMap((column, index) => (is(column) ? [index] : []));
}

/** The colour of a part: operators by their side of the program, whatever words their names contain. */
export const familyOfPart = (name: string) => familyOf(OF_KIND[name] ?? (!name.includes('::') ? name : /backward/i.test(name) ? 'backward' : 'host'));

/** Phases and kinds of kernels whose names hold no word of a family, by a word that does. */
const OF_KIND: Record<string, string> = { forward: 'host', optimizer: 'python', layout: 'copy', cast: 'elementwise', compiled: 'elementwise', fill: 'memset' };

/** Columns are named in snake case; operators keep their underscores. */
export const spoken = (name: string) => (name.includes('::') ? name : name.replaceAll('_', ' '));
