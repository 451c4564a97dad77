// From one step time to another: the changes of the parts, one after the other, which add up to the whole change.
import { hasColumns, number, records, text } from '../data/table.ts';
import type { Table } from '../data/types.ts';

export interface Fall { name: string; from: number; to: number; change: number; state: string }
export interface Waterfall { a: number; b: number; falls: Fall[] }

const WHOLE = 'step'; // the part that is all parts
const LEAST = 0.004; // of the longer step: smaller changes are one

/** The parts of a comparison, the largest change first; null if the table holds none. */
export function waterfallOf(table: Table): Waterfall | null {
  if (!hasColumns(table, { part: '', a: 'ns', b: 'ns', change: 'ns' })) return null;
  const rows = records(table);
  const whole = rows.find((row) => row.part === WHOLE);
  const [a, b] = [number(whole?.a), number(whole?.b)];
  if (a === null || b === null) return null;
  const parts = rows.filter((row) => row !== whole).map((row) => ({ name: text(row.part), change: number(row.change) ?? 0, state: text(row.state) }));
  const isLarge = ({ change }: { change: number }) => Math.abs(change) >= LEAST * Math.max(a, b);
  const large = parts.filter(isLarge).sort((one, other) => Math.abs(other.change) - Math.abs(one.change));
  const rest = parts.filter((one) => !isLarge(one)).reduce((sum, one) => sum + one.change, 0);
  if (parts.length > large.length) large.push({ name: 'smaller changes', change: rest, state: '' });
  let at = a;
  return { a, b, falls: large.map((one) => ({ ...one, from: at, to: (at += one.change) })) };
}
