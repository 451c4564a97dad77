import { expect, test } from 'vitest';
import type { Table } from '../data/types.ts';
import { heatColour, heatColumns, heatOf, largestFirst, mostUneven } from './heat.ts';

const table: Table = {
  title: '', shape: 'bars',
  columns: [{ name: 'rank', unit: '', role: 'key' }, { name: 'step', unit: '', role: 'key' }, { name: 'total', unit: 'ns', role: 'value' }],
  rows: [[0, '1', 10], [0, '2', 30], [1, '2', 20]],
};

test('ranks are rows, steps are columns, gaps are empty', () => {
  expect(heatColumns(table)).toEqual(['total']);
  expect(heatOf(table, 'total')).toEqual({ rows: ['0', '1'], columns: ['1', '2'], cells: [[10, 30], [null, 20]], unit: 'ns', least: 10, most: 30 });
});

test('rows can come by their means, the largest first', () => {
  const heat = { rows: ['0', '1', '2'], columns: ['1', '2'], cells: [[1, 3], [null, null], [5, null]], unit: 'ns' as const, least: 1, most: 5 };
  expect(largestFirst(heat)).toMatchObject({ rows: ['2', '0', '1'], cells: [[5, null], [1, 3], [null, null]] });
});

test('one rank makes no map', () => {
  expect(heatOf({ ...table, rows: table.rows.slice(0, 2) }, 'total')).toBeNull();
  expect(heatColumns({ ...table, columns: table.columns.slice(1) })).toEqual([]);
});

test('colours run from light to dark', () => {
  expect([heatColour(0), heatColour(1), heatColour(9)]).toEqual(['rgb(239 246 255)', 'rgb(11 60 111)', 'rgb(11 60 111)']);
});

test('a map begins with what one rank takes longer than the others', () => {
  const columns = ['rank', 'step', 'total', 'communication', 'loading'].map((name, i) => ({ name, unit: i < 2 ? '' as const : 'ns' as const, role: i < 2 ? 'key' as const : 'value' as const }));
  const rows = [0, 1, 2].map((rank) => [rank, '1', 20, rank === 1 ? 1 : 19, rank === 1 ? 18 : 0]);
  expect(mostUneven({ ...table, columns, rows })).toBe('loading');
  expect(mostUneven({ ...table, columns, rows: rows.map((row) => [...row.slice(0, 2), 20, 19, 0]) })).toBe('total');
});
