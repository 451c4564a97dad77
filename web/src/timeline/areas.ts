// Two areas side by side: each table of the one, with what the other has for the same key.
import type { Cell, Column, Report, Table } from '../data/types.ts';

/** What is shown at first, in this order; the rest waits behind "All columns". */
const SHOWN = ['total', 'time', 'count', 'mean'];
const SUMS = ['total', 'time', 'count', 'self', 'share']; // nothing of a name is a sum of zero, and no mean at all

const keyOf = (table: Table, row: readonly Cell[]) => JSON.stringify(row.filter((_, i) => table.columns[i]!.role === 'key'));

/** The table with old and new value and change of each column, the largest change of the first one first. */
export function changesOf(old: Table, now: Table): Table {
  const keys = old.columns.flatMap((column, i) => (column.role === 'key' ? [i] : []));
  const placeOf = (i: number) => (SHOWN.includes(old.columns[i]!.name) ? SHOWN.indexOf(old.columns[i]!.name) : SHOWN.length);
  const values = old.columns.flatMap((column, i) => (column.role === 'key' ? [] : [i])).sort((a, b) => placeOf(a) - placeOf(b));
  const rows = new Map<string, { key: Cell[]; sides: [Cell[]?, Cell[]?] }>();
  [old, now].forEach((table, side) => table.rows.forEach((row) => {
    const known = rows.get(keyOf(table, row)) ?? { key: keys.map((i) => row[i] ?? null), sides: [] as [Cell[]?, Cell[]?] };
    known.sides[side] = row;
    rows.set(keyOf(table, row), known);
  }));
  const at = (row: Cell[] | undefined, i: number): Cell => (row !== undefined ? row[i] ?? null : SUMS.includes(old.columns[i]!.name) ? 0 : null);
  const columns = values.flatMap((i): Column[] => {
    const { name, unit } = old.columns[i]!;
    const isShown = (which: string) => SHOWN.includes(name) && (name !== 'mean' || which === 'change');
    return (['old', 'new', 'change'] as const).map((which) => ({
      name: `${name} ${which}`, unit, role: !isShown(which) ? 'detail' : which === 'change' ? 'change' : 'value' }));
  });
  const first = keys.length + 2;
  return {
    title: old.title, shape: 'table', columns: [...keys.map((i) => old.columns[i]!), ...columns],
    rows: [...rows.values()].map(({ key, sides }) => [...key, ...values.flatMap((i) => {
      const [a, b] = [at(sides[0], i), at(sides[1], i)];
      return [a, b, typeof a === 'number' && typeof b === 'number' ? b - a : null];
    })]).sort((a, b) => Math.abs(Number(b[first] ?? 0)) - Math.abs(Number(a[first] ?? 0))),
  };
}

const sameColumns = (a: Table, b: Table | undefined): b is Table => b !== undefined && JSON.stringify(a.columns) === JSON.stringify(b.columns);

/** Both answers have the same tables in the same order: they are to the same question. */
export const tablesOf = (old: Report, now: Report): Table[] =>
  old.tables.flatMap((table, i) => (sameColumns(table, now.tables[i]) ? [changesOf(table, now.tables[i])] : []));
