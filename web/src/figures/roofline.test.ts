import { expect, test } from 'vitest';
import type { Column, Table } from '../data/types.ts';
import { decades, logAt, placed, rooflineOf } from './roofline.ts';

const column = (name: string, unit: Column['unit'] = ''): Column => ({ name, unit, role: 'value' });
const table: Table = {
  title: '', shape: 'table',
  columns: [column('name'), column('intensity', 'flop_per_byte'), column('flop_rate', 'flop_per_s'), column('share_of_roof', 'share'), column('work_time', 'ns'), column('bound')],
  rows: [['add', 0.25, 2e11, 0.4, 10, 'memory'], ['mm', 200, 1.5e14, 0.5, 80, 'compute (matrix)'], ['mul', 0.5, 2e11, 0.25, 20, 'memory'], ['tiny', 1, 1e9, 0.01, 1e-3, 'latency'], ['unknown', null, null, null, 50, null]],
};

test('points by time; roofs from the rows that they bound', () => {
  const { points, roofs, y } = rooflineOf(table)!;
  expect(points.map((one) => one.name)).toEqual(['mm', 'mul', 'add']);
  expect(points[0]!.roof).toBe(3e14);
  expect(roofs.compute).toEqual([{ name: 'compute (matrix)', rate: 3e14 }]);
  expect(roofs.memory).toBeCloseTo(2e12, -6); // 5e11 / 0.25; mul shows 1.6e12
  expect(y[1]).toBeGreaterThan(3e14);
});

test('without known roofs there is no figure', () => {
  expect(rooflineOf({ ...table, rows: table.rows.map((row) => [...row.slice(0, 3), null, ...row.slice(4)]) })).toBeNull();
  expect(rooflineOf({ ...table, rows: table.rows.slice(0, 1) })).toBeNull();
  expect(rooflineOf({ ...table, columns: table.columns.map((one) => ({ ...one, unit: '' })) })).toBeNull();
});

test('axes are logarithmic', () => {
  expect(logAt(10, [1, 100])).toBeCloseTo(0.5);
  expect(decades([0.5, 2000], 9)).toEqual([1, 10, 100, 1000]);
  expect(decades([0.5, 2e6], 4)).toEqual([1, 100, 1e4, 1e6]);
});

test('labels that would hit an earlier one are left out', () => {
  const box = (x: number) => ({ x, y: 0, width: 10, height: 10 });
  expect(placed([box(0), box(5), box(10), box(12)])).toEqual([true, false, true, false]);
});
