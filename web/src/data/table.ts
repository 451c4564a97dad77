// Looking things up in reports.
import type { Unit } from '../words/units.ts';
import type { Cell, Report, Reports, Table } from './types.ts';

export const reportNamed = (all: Reports, name: string): Report | undefined =>
  all.reports.find((report) => report.report === name);

export const tableNamed = (report: Report | undefined, title: string): Table | undefined =>
  report?.tables.find((table) => table.title === title);

export const columnIndex = (table: Table, name: string) => table.columns.findIndex((column) => column.name === name);

export type Row = Record<string, Cell>;

/** The rows with their cells by column name. */
export function records(table: Table | undefined): Row[] {
  if (table === undefined) return [];
  return table.rows.map((row) => Object.fromEntries(table.columns.map((column, i) => [column.name, row[i] ?? null])));
}

/** The rows of the first table that has all these columns, in these units; none if there is no such table. */
export function rowsWith(report: Report, columns: Record<string, Unit>): Row[] {
  return records(report.tables.find((table) => hasColumns(table, columns)));
}
export const hasColumns = (table: Table, columns: Record<string, Unit>) =>
  Object.entries(columns).every(([name, unit]) => table.columns.some((column) => column.name === name && column.unit === unit));

export const text = (cell: Cell | undefined): string => (cell === null || cell === undefined ? '' : String(cell));
export const number = (cell: Cell | undefined): number | null => (typeof cell === 'number' ? cell : null);

const SPELLED: Record<string, string> = { whatif: 'What if', cupti_counters: 'CUPTI counters', io: 'File I/O' };

/** "input_wait" → "Input wait". */
export function titled(name: string): string {
  if (name in SPELLED) return SPELLED[name]!;
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
