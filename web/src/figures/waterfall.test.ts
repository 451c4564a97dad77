import { expect, test } from 'vitest';
import type { Table } from '../data/types.ts';
import { waterfallOf } from './waterfall.ts';

const table: Table = {
  title: '', shape: 'table',
  columns: [
    { name: 'part', unit: '', role: 'key' }, { name: 'a', unit: 'ns', role: 'value' }, { name: 'b', unit: 'ns', role: 'value' },
    { name: 'change', unit: 'ns', role: 'change' }, { name: 'state', unit: '', role: 'value' }],
  rows: [['step', 1000, 800, -200, 'changed'], ['memcpy', 100, 150, 50, 'changed'], ['kernel', 850, 600, -250, 'changed'], ['other', 49, 48, -1, 'within noise'], ['memset', 1, 2, 1, 'within noise']],
};

test('the largest change first; small ones are one; they lead from A to B', () => {
  expect(waterfallOf(table)).toEqual({
    a: 1000, b: 800,
    falls: [
      { name: 'kernel', change: -250, state: 'changed', from: 1000, to: 750 }, { name: 'memcpy', change: 50, state: 'changed', from: 750, to: 800 },
      { name: 'smaller changes', change: 0, state: '', from: 800, to: 800 }] });
});

test('other tables have none', () => {
  expect(waterfallOf({ ...table, rows: table.rows.slice(1) })).toBeNull();
  expect(waterfallOf({ ...table, columns: table.columns.map((column) => ({ ...column, unit: '' })) })).toBeNull();
});
