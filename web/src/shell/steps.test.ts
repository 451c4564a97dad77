import { expect, test } from 'vitest';
import type { Report } from '../data/types.ts';
import { matching } from './matching.ts';
import { barsOf, brushed, formatRange, moved, parseRange, stepTimes } from './steps.ts';

const column = (name: string, unit: 'ns' | '' = '') => ({ name, unit, role: 'value' as const });
const report: Report = {
  report: 'steps', notes: [],
  tables: [{ title: '', shape: 'bars', columns: [column('rank'), column('step'), column('total', 'ns')], rows: [[0, '2', 10], [0, '1', 30], [1, '2', 20], [1, 'whole', 99]] }],
};
const times = stepTimes(report);

test('steps in order, the slowest rank of each; what has no number is none', () => {
  expect(times).toEqual([{ step: 1, time: 30 }, { step: 2, time: 20 }]);
  expect(stepTimes({ ...report, tables: [] })).toEqual([]);
});

test('ranges are read and written', () => {
  expect(parseRange('7')).toEqual({ from: 7, to: 7 });
  expect(parseRange(' 9 – 7 ')).toEqual({ from: 7, to: 9 });
  for (const bad of [undefined, '', 'a', '1-', '-2', '1-2-3']) expect(parseRange(bad)).toBeNull();
  expect([formatRange({ from: 7, to: 7 }), formatRange({ from: 7, to: 9 })]).toEqual(['7', '7-9']);
});

test('more steps than pixels: the longest of each pixel', () => {
  const many = [5, 1, 2, 9, 3].map((time, step) => ({ step, time }));
  expect(barsOf(many, 9)).toEqual([5, 1, 2, 9, 3]);
  expect(barsOf(many, 2)).toEqual([5, 9]);
});

test('a brush takes the steps that it touches, in either direction', () => {
  const ten = Array.from({ length: 10 }, (_, i) => ({ step: i + 5, time: 1 }));
  expect(brushed(ten, 0.05, 0.25)).toEqual({ from: 5, to: 7 });
  expect(brushed(ten, 0.99, 0.5)).toEqual({ from: 10, to: 14 });
  expect(brushed(ten, -1, 2)).toEqual({ from: 5, to: 14 });
});

test('arrow keys move the range, with Shift its end', () => {
  const ten = Array.from({ length: 10 }, (_, i) => ({ step: i + 5, time: 1 }));
  expect(moved(ten, null, 1, false)).toEqual({ from: 5, to: 5 });
  expect(moved(ten, null, -1, false)).toEqual({ from: 14, to: 14 });
  expect(moved(ten, { from: 6, to: 7 }, 1, false)).toEqual({ from: 7, to: 8 });
  expect(moved(ten, { from: 6, to: 7 }, 1, true)).toEqual({ from: 6, to: 8 });
  expect(moved(ten, { from: 6, to: 6 }, -1, true)).toEqual({ from: 6, to: 6 });
  expect(moved(ten, { from: 14, to: 14 }, 1, false)).toEqual({ from: 14, to: 14 });
});

test('choices hold every word; those that begin with the text come first', () => {
  const choices = ['open run kernels', 'Kernels', 'kernel sequences'].map((words) => ({ key: words, words, hint: words === 'Kernels' ? 'page' : 'analysis' }));
  expect(matching(choices, 'kern').map((one) => one.words)).toEqual(['Kernels', 'kernel sequences', 'open run kernels']);
  expect(matching(choices, 'page KER').map((one) => one.words)).toEqual(['Kernels']);
  expect(matching(choices, ' ')).toHaveLength(3);
  expect(matching(choices, 'zebra')).toEqual([]);
});
