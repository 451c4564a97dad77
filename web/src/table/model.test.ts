import { expect, test } from 'vitest';
import type { Table } from '../data/types.ts';
import { csvOf, orderedRows, shownColumns } from './model.ts';

const table: Table = {
  title: 'T', shape: 'table',
  columns: [
    { name: 'name', unit: '', role: 'key' },
    { name: 'time', unit: 'ns', role: 'value' },
    { name: 'never', unit: 'ns', role: 'value' },
    { name: 'why', unit: '', role: 'detail' },
    { name: 'change', unit: 'ns', role: 'change' },
  ],
  rows: [['b', 2000, null, '=1', 5], ['A', null, null, 'x,"y"', -5], ['c', 30000, null, '', null]],
};

test('details and empty columns are left out', () => {
  expect(shownColumns(table, false).map((one) => one.column.name)).toEqual(['name', 'time', 'change']);
  expect(shownColumns(table, true)).toHaveLength(5);
});

test('cells of a column share a unit; changes have a sign', () => {
  const [, time, change] = shownColumns(table, false);
  expect(table.rows.map((row) => time!.format(row[1]!))).toEqual(['2.0 µs', '', '30.0 µs']);
  expect(table.rows.map((row) => change!.format(row[4]!))).toEqual(['+5 ns', '-5 ns', '']);
});

test('absent values are last in both directions', () => {
  const names = (up: boolean) => orderedRows(table, '', { index: 1, up }).map((row) => row[0]);
  expect(names(true)).toEqual(['b', 'c', 'A']);
  expect(names(false)).toEqual(['c', 'b', 'A']);
});

test('a filter finds any cell in any case', () => {
  expect(orderedRows(table, 'a', null)).toHaveLength(1);
  expect(orderedRows(table, 'X,', null)).toHaveLength(1);
  expect(orderedRows(table, ' ', null)).toHaveLength(3);
});

test('CSV quotes, keeps raw values and disarms formulas', () => {
  expect(csvOf(table, table.rows).split('\r\n')).toEqual([
    'name,time [ns],never [ns],why,change [ns]', "b,2000,,'=1,5", 'A,,,"x,""y""",-5', 'c,30000,,,', '']);
});
