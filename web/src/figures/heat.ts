// Ranks against steps: one number per cell.
import type { Table } from '../data/types.ts';
import { records, text } from '../data/table.ts';
import type { Unit } from '../words/units.ts';

export interface Heat { rows: string[]; columns: string[]; cells: (number | null)[][]; unit: Unit; least: number; most: number }

/** The columns of a table that a map of ranks and steps can show. */
export function heatColumns(table: Table): string[] {
  if (!['rank', 'step'].every((name) => table.columns.some((column) => column.name === name))) return [];
  return table.columns.filter((column) => column.role === 'value' && column.unit === 'ns').map((column) => column.name);
}

export function heatOf(table: Table, value: string): Heat | null {
  const all = records(table);
  const rows = [...new Set(all.map((row) => text(row.rank)))];
  const columns = [...new Set(all.map((row) => text(row.step)))];
  if (rows.length < 2 || columns.length === 0) return null;
  const cells = rows.map(() => columns.map((): number | null => null));
  for (const row of all) {
    const number = row[value];
    if (typeof number === 'number') cells[rows.indexOf(text(row.rank))]![columns.indexOf(text(row.step))] = number;
  }
  const numbers = cells.flat().filter((one) => one !== null);
  return {
    rows, columns, cells, unit: table.columns.find((column) => column.name === value)?.unit ?? '',
    least: Math.min(...numbers), most: Math.max(...numbers) };
}

/** The column in which one rank exceeds the median rank most, within a step. */
export function mostUneven(table: Table): string {
  const columns = heatColumns(table);
  const excess = columns.map((name) => {
    const { cells = [], columns: steps = [] } = heatOf(table, name) ?? {};
    return Math.max(0, ...steps.map((_, step) => {
      const sorted = cells.flatMap((row) => row[step] ?? []).sort((a, b) => a - b);
      return (sorted.at(-1) ?? 0) - (sorted[sorted.length >> 1] ?? 0);
    }));
  });
  return columns[excess.indexOf(Math.max(...excess))] ?? '';
}

/** The same map with the rows of the largest mean first; rows without a number last. */
export function largestFirst(heat: Heat): Heat {
  const mean = (cells: (number | null)[]) => {
    const known = cells.filter((one) => one !== null);
    return known.length === 0 ? -Infinity : known.reduce((sum, one) => sum + one, 0) / known.length;
  };
  const order = heat.rows.map((_, i) => i).sort((a, b) => mean(heat.cells[b]!) - mean(heat.cells[a]!));
  return { ...heat, rows: order.map((i) => heat.rows[i]!), cells: order.map((i) => heat.cells[i]!) };
}

const SCALE: readonly (readonly [number, number, number])[] = [[239, 246, 255], [147, 187, 232], [47, 114, 184], [11, 60, 111]];

/** One hue from light to dark; 0 to 1. */
export function heatColour(share: number): string {
  const at = Math.min(1, Math.max(0, share)) * (SCALE.length - 1);
  const low = Math.min(SCALE.length - 2, Math.floor(at));
  const mix = (i: 0 | 1 | 2) => Math.round(SCALE[low]![i] + (SCALE[low + 1]![i] - SCALE[low]![i]) * (at - low));
  return `rgb(${mix(0)} ${mix(1)} ${mix(2)})`;
}
export const heatText = (share: number) => (share > 0.5 ? '#FFFFFF' : '#101418');
