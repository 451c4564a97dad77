import { expect, test } from 'vitest';
import type { Cell, Column, Report, Table } from '../data/types.ts';
import { changesOf, tablesOf } from './areas.ts';

const columns: Column[] = [
  { name: 'name', unit: '', role: 'key' }, { name: 'count', unit: 'count', role: 'value' }, { name: 'total', unit: 'ns', role: 'value' },
  { name: 'mean', unit: 'ns', role: 'value' }, { name: 'max', unit: 'ns', role: 'value' }];
const table = (...rows: Cell[][]): Table => ({ title: 'By name', shape: 'table', columns, rows });

test('rows meet by their key, and the largest change comes first', () => {
  const changes = changesOf(table(['a', 2, 20, 10, 12], ['b', 1, 90, 90, 90], ['gone', 1, 5, 5, 5]), table(['b', 1, 30, 30, 30], ['a', 3, 21, 7, 9], ['new', 4, 8, 2, 2]));
  const at = (name: string) => changes.columns.findIndex((column) => column.name === name);
  const read = (name: string) => changes.rows.map((row) => row[at(name)]);
  expect(read('name')).toEqual(['b', 'new', 'gone', 'a']);
  expect(read('total old')).toEqual([90, 0, 5, 20]);
  expect(read('total new')).toEqual([30, 8, 0, 21]);
  expect(read('total change')).toEqual([-60, 8, -5, 1]);
  expect(read('count change')).toEqual([0, 4, -1, 1]);
  expect(changes.columns[at('total change')]).toEqual({ name: 'total change', unit: 'ns', role: 'change' });
  expect(changes.columns[at('max new')]!.role).toBe('detail');
});

test('a name without events has sums of zero, but no mean', () => {
  const [row] = changesOf(table(), table(['new', 4, 8, 2, 2])).rows;
  expect(row).toEqual(['new', 0, 8, 8, 0, 4, 4, null, 2, null, null, 2, null]);
});

test('equal words in different keys stay apart', () => {
  const ranks: Column[] = [{ name: 'rank', unit: '', role: 'key' }, columns[0]!, columns[2]!];
  const of = (...rows: Cell[][]): Table => ({ ...table(), columns: ranks, rows });
  expect(changesOf(of([1, 'a', 5], ['1', 'a', 6]), of([1, 'a', 7])).rows).toEqual([['1', 'a', 6, 0, -6], [1, 'a', 5, 7, 2]]);
});

test('tables with other columns are not joined', () => {
  const report = (...tables: Table[]): Report => ({ report: 'area', tables, notes: [] });
  const other = { ...table(), columns: columns.slice(0, 2) };
  expect(tablesOf(report(table(), other), report(table(), table())).map((one) => one.columns.length)).toEqual([13]);
  expect(tablesOf(report(table()), report())).toEqual([]);
});
