import { expect, test } from 'vitest';
import type { Cell, Column, Report } from '../data/types.ts';
import type { Unit } from '../words/units.ts';
import { changeWords, formatChanges, outcomeOf, parseChanges } from './changes.ts';

const table = (columns: string, ...rows: Cell[][]) => ({
  title: '', shape: 'table' as const, rows,
  columns: columns.split(' ').map((word): Column => ({ name: word.split(':')[0]!, unit: (word.split(':')[1] ?? '') as Unit, role: 'value' })),
});
const report = (...tables: Report['tables']): Report => ({ report: 'whatif', notes: [], tables });

test('changes survive a round trip; what no slider has is left out', () => {
  expect(parseChanges('compute=0.5; comm=0')).toEqual({ compute: 0.5, comm: 0 });
  expect(formatChanges({ comm: 0, compute: 0.5, host: 1 })).toBe('compute=0.5;comm=0');
  expect(parseChanges('kernel:x=0;host=1;launch=;sync=-1;copy=9;alloc=a')).toEqual({});
  expect(parseChanges(undefined)).toEqual({});
});

test('changes in words', () => {
  expect(['compute=0.5', 'data_loading=0', 'comm=0.8', 'straggler:3=0', 'all together'].map(changeWords))
    .toEqual(['compute kernels in half the time', 'loading data in no time', 'collectives in 80 % of the time', 'straggler:3=0', 'all together']);
});

const REPLAY = 'rank steps:count recorded:ns identity:ns error:share';
const CHANGE = 'rank change step:ns saving:ns share:share found';

test('of one rank, the row of all changes is the last one', () => {
  const one = report(table('steps:count recorded:ns identity:ns error:share', [4, 100, 101, 0.01]),
    table('change step:ns saving:ns share:share found', ['a=0', 90, 11, 0.1, 'yes'], ['all together', 60, 41, 0.4, 'yes']));
  expect(outcomeOf(one)).toMatchObject({ before: 101, step: 60, saving: 41, error: 0.01, low: null, found: true });
});

test('the job counts where ranks are replayed together, else the slowest rank', () => {
  const ranks = [table(REPLAY, [0, 4, 100, 100, 0], [1, 4, 120, 120, 0.02]), table(CHANGE, [0, 'a=0', 80, 20, 0.2, 'no'], [1, 'a=0', 110, 10, 0.1, 'no'])];
  expect(outcomeOf(report(...ranks))).toMatchObject({ before: 120, step: 110, error: 0.02, found: false });
  const job = [table('recorded:ns identity:ns error:share alone:count', [130, 131, 0.03, 0]), table('change step:ns low:ns high:ns saving:ns share:share limit', ['a=0', 99, 90, 105, 32, 0.24, 'rank 0, host'])];
  expect(outcomeOf(report(...ranks, ...job))).toMatchObject({ before: 131, step: 99, low: 90, high: 105, error: 0.03, limit: 'rank 0, host' });
});

test('a refused replay has no outcome', () => {
  expect(outcomeOf(report(table('steps:count recorded:ns identity:ns error:share', [1, 100, 2, 0.98]), table('change step:ns saving:ns share:share found', ['a=0', null, null, null, 'yes'])))).toBeNull();
  expect(outcomeOf(report())).toBeNull();
});
