import { expect, test } from 'vitest';
import type { Table } from '../data/types.ts';
import { csvOf, orderedBy, orderedRows, shownColumns } from './model.ts';

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
  expect(table.rows.map((row) => time!.format(row[1]!))).toEqual(['2.00 µs', '', '30.00 µs']);
  expect(table.rows.map((row) => change!.format(row[4]!))).toEqual(['+0.01 µs', '-0.01 µs', '']);
});

test('what is compared shares a unit', () => {
  const column = (name: string, role: 'value' | 'change') => ({ name, unit: 'ns' as const, role });
  const both: Table = { title: '', shape: 'table', columns: [column('a', 'value'), column('b', 'value'), column('change', 'change')], rows: [[2e6, 5e4, -1.95e6]] };
  expect(shownColumns(both, false).map((one, i) => one.format(both.rows[0]![i]!))).toEqual(['2.000 ms', '0.050 ms', '-1.950 ms']);
});

test('bars show the order of the rows', () => {
  const sorted: Table = { title: '', shape: 'table', columns: [{ name: 'n', unit: 'count', role: 'value' }, { name: 't', unit: 'ns', role: 'value' }], rows: [[9, 5], [8, 4], [7, 4]] };
  expect(orderedBy(sorted)).toBe(1);
  expect(orderedBy({ ...sorted, rows: [[9, 5], [8, 6], [7, 4]] })).toBe(-1);
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
