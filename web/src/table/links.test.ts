import { expect, test } from 'vitest';
import type { Column, Table } from '../data/types.ts';
import { inLines, momentIn, namesIn, sourceLine, sourcesIn, stepIn } from './links.ts';

const column = (name: string, unit: Column['unit'] = ''): Column => ({ name, unit, role: 'key' });
const table: Table = {
  title: '', shape: 'table', rows: [],
  columns: [column('rank'), column('step'), column('op'), column('source'), column('kernel'), column('host', 'ns')],
};
const row = [1, '3', 'aten::mm', 'train.py(41): step', `void gemm<${'x'.repeat(300)}>()`, 5];

test('names lead to the timeline and to the page of their kind; long ones are cut to what a search takes', () => {
  const names = namesIn(table, row, 'kernels');
  expect(names.map((one) => one.ways.map((way) => way.page))).toEqual([['timeline', 'timeline', 'operators'], ['timeline', 'timeline']]);
  expect(names[0]!.ways.map((way) => way.params)).toEqual([{ q: 'aten::mm' }, { longest: 'aten::mm' }, { filter: '*:aten::mm' }]);
  expect(names[1]!.name).toHaveLength(313);
  expect(names[1]!.ways[0]!.params.q).toHaveLength(150);
});

test('a column with a unit is no name, though it is called like one', () => {
  expect(namesIn({ ...table, columns: [column('host', 'ns')] }, [7], '')).toEqual([]);
});

test('lines of source are found once', () => {
  expect(sourceLine('a(b)/train.py(41): step')).toEqual({ file: 'a(b)/train.py', line: 41, name: 'step' });
  expect(sourceLine('aten::mm')).toBeNull();
  expect(sourcesIn({ ...table, columns: [column('source'), column('line')] }, ['a.py(1): f', 'a.py(1): f'])).toEqual([{ file: 'a.py', line: 1, name: 'f' }]);
});

test('a step has its rank where there is one', () => {
  expect(stepIn(table, row)).toEqual({ step: '3', rank: '1' });
  expect(stepIn({ ...table, columns: [column('step')] }, [4])).toEqual({ step: '4' });
  expect(stepIn(table, [0, null])).toBeNull();
  expect(stepIn(table, [0, 'every step'])).toBeNull();
});

test('joined names stand on lines of their own', () => {
  expect(inLines(column('stack'), 'a;b;c')).toBe('a\nb\nc');
  expect(inLines(column('op'), 'a;b')).toBe('a;b');
});

test('a row with a start and a length is a moment of its rank', () => {
  const columns = [column('rank'), column('start', 'ns'), { ...column('length', 'ns'), role: 'value' as const }];
  expect(momentIn({ ...table, columns }, [3, 500, 20])).toEqual({ rank: 3, start: 500, length: 20 });
  expect(momentIn({ ...table, columns: columns.slice(1) }, [500, 20])).toEqual({ rank: null, start: 500, length: 20 });
  expect(momentIn({ ...table, columns }, [3, null, 20])).toBeNull();
  expect(momentIn({ ...table, columns: [column('start', 'ns'), column('length')] }, [5, 6])).toBeNull();
});
