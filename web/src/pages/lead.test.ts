import { expect, test } from 'vitest';
import type { Cell, Column, Report } from '../data/types.ts';
import { PAGES } from '../words/pages.ts';
import type { Unit } from '../words/units.ts';
import { absent } from './absent.ts';
import { leadOf } from './lead.ts';

/** A table from "name:unit" words. */
const table = (columns: string, ...rows: Cell[][]) => ({
  title: '', shape: 'table' as const, rows,
  columns: columns.split(' ').map((word): Column => ({ name: word.split(':')[0]!, unit: (word.split(':')[1] ?? '') as Unit, role: 'value' })),
});
const say = (report: string, ...tables: Report['tables']) => leadOf({ report, tables, notes: [] }).sentence;

test('operators: the ten most costly of all, by device time where there is any', () => {
  const rows = Array.from({ length: 12 }, (_, i): Cell[] => [`op${i}`, 1000, i === 0 ? 89e6 : 1e6]);
  expect(say('operators', table('name host_self:ns device_self:ns', ...rows)))
    .toBe('10 of 12 operators take 98.0 % of device time, 98.0 ms of 100 ms; op0 takes most, 89.0 %.');
  expect(say('operators', table('name host_self:ns device_self:ns', ['a', 3e6, null], ['b', 1e6, null])))
    .toBe('2 operators take 4.00 ms of host self time; a takes most, 75.0 %.');
});

test('operators of several ranks are added up by name', () => {
  expect(say('operators', table('rank name host_self:ns device_self:ns', [0, 'a', 1e6, null], [0, 'b', 4e6, null], [1, 'a', 5e6, null])))
    .toBe('2 operators take 10.0 ms of host self time; a takes most, 60.0 %.');
});

test('kernels: how many, what kind, and how short', () => {
  const named = table('name count:count total:ns p95:ns', ['a', 30, 4e6, 1], ['b', 10, 1e6, 1]);
  const kinds = table('kind total:ns share:share', ['matrix', 3e6, 0.75], ['norm', 1e6, 0.25]);
  const brief = table('below:ns count:count time_share:share', [2000, 1, 0.01], [5000, 8, 0.1]);
  expect(say('kernels', named, kinds, brief))
    .toBe('40 kernels of 2 names take 5.00 ms of device time; matrix kernels take 75.0 % of compute; 20.0 % of all are shorter than 5.00 µs.');
  expect(say('kernels', named)).toBe('40 kernels of 2 names take 5.00 ms of device time.');
});

test('memory: the fullest device, not the host, and what holds it', () => {
  const peaks = table('device peak_allocated:bytes peak_reserved:bytes capacity:bytes peak_time:ns step peak_change:bytes',
    ['host', 9e9, 0, null, 1, '1', 0], ['device 0', 2 ** 30, 2 ** 31, 2 ** 33, 1.5e9, '2', 0]);
  expect(say('memory_events', peaks, table('device op bytes:bytes share:share', ['host', 'x', 9e9, 1], ['device 0', 'aten::mm', 2 ** 29, 0.5])))
    .toBe('Peak 1.00 GiB of 8.00 GiB on device 0, in step 2 at 1.50 s; largest part: aten::mm, 50.0 %.');
});

test('a snapshot: the peak, who holds most of it, and what failed', () => {
  const marks = (...failed: Cell[][]) => table('device instant event requested:bytes asked:bytes', [0, 'peak', 4, 2 ** 30, null], ...failed);
  const places = table('device place event bytes:bytes', [0, 'a.py(1): f', 3, 9], [0, 'a.py(1): f', 4, 2 ** 29], [0, 'b.py(2): g', 4, 2 ** 28]);
  expect(say('memory_curve', places, marks())).toBe('Peak 1.00 GiB; a.py(1): f holds most of it, 50.0 %.');
  expect(say('memory_curve', places, marks([0, 'oom', 9, 2 ** 29, 2 ** 31])))
    .toBe('Peak 1.00 GiB; a.py(1): f holds most of it, 50.0 %. An allocation of 2.00 GiB failed.');
});

test('an address map: what is free, and in how large a piece', () => {
  const rows: Cell[][] = [['0x1', 30, 10, 6], ['0x1', 34, 0, 0], ['0x2', 64, 22, 22]];
  expect(say('memory_state', table('segment size:bytes free:bytes largest_free:bytes', ...rows))).toBe('32 B of 128 B in segments is free; the largest piece is 22 B.');
});

test('stragglers: who, in what, and what it costs; or that nobody is', () => {
  const ranks = table('rank wait:ns transfer:ns total:ns', [0, 3e6, 0, 1e7], [1, 5e6, 0, 1e7], [2, 0, 0, 1e7]);
  const late = table('rank when part time:ns others_time:ns cost:ns', [2, 'every step', 'compute', 3.4e6, 4e5, 2.99e6]);
  expect(say('stragglers', ranks, late))
    .toBe('Rank 2 is late in every step, by its compute: 3.40 ms where the others take 400 µs; keeping pace would save 2.99 ms per step.');
  expect(say('stragglers', ranks)).toBe('No rank is late again and again. Rank 1 waits longest for others, 5.00 ms of its 10.0 ms step.');
});

test('input wait: the mean over steps, and the worst step', () => {
  expect(say('input_wait', table('step loader total:ns share:share exposed:ns max:ns', ['1', 'x', 2e6, 0.1, 1e6, 1], ['2', 'x', 4e6, 0.3, 2e6, 1])))
    .toBe('A step waits 3.00 ms for data on average; step 2 most, 30.0 % of its time. No device works in 50.0 % of these waits.');
});

test('modules: the root, and the one that costs most by itself', () => {
  const columns = 'module depth host_total:ns host_self:ns device_self:ns backward_device_self:ns device_share:share';
  expect(say('modules', table(columns, ['Net_0', 0, 9, 1, 1e6, 0, 0.8], ['Linear_0', 1, 8, 8, 1e6, 2e6, 0.7])))
    .toBe('Net_0 with all that it calls takes 80.0 % of device time; by itself Linear_0 costs most, 3.00 ms.');
});

test('lines: the own time of the costliest, of the window', () => {
  expect(say('lines', table('line share:share total:ns in_ops:ns self:ns', ['a.py(1): main', 1, 1e8, 0, 1e6], ['a.py(9): f', 0.5, 5e7, 0, 4e7])))
    .toBe('a.py(9): f costs most by itself: 40.0 ms, 40.0 % of the main thread\'s time.');
});

test('what-if: the best single change; nothing when the replay is off', () => {
  const replay = (error: number) => table('recorded:ns identity:ns error:share', [1e7, 1e7, error]);
  const changes = table('change step:ns saving:ns share:share', ['sync=0', 9e6, 1e6, 0.1], ['comm=0', 7e6, 3e6, 0.3], ['all together', 1e6, 9e6, 0.9]);
  expect(say('whatif', replay(0.01), changes)).toBe('Collectives in no time would save most: 3.00 ms per step (30.0 %), to 7.00 ms.');
  expect(say('whatif', replay(-0.2), changes)).toBe('The replay is 20.0 % off the recorded step, so savings are not told.');
});

test('a column of another unit is not taken for the one that is meant', () => {
  expect(leadOf({ report: 'operators', tables: [table('name host_self:count device_self:ns', ['a', 3, null])], notes: [] }).known).toBe(false);
});

test('without numbers: the fact, and the option unless a note says it', () => {
  expect(leadOf({ report: 'memory_events', tables: [], notes: [] })).toEqual(
    { sentence: 'No memory event is recorded.', known: false, remedy: 'Record with profile_memory=True, or with `stepscope record --memory`.' });
  expect(leadOf({ report: 'memory_events', tables: [], notes: ['Why.'] }).remedy).toBe('');
});

test('every analysis of a page has its own words', () => {
  const other = absent('no such analysis').fact;
  for (const name of PAGES.flatMap((page) => page.analyses)) {
    expect(absent(name).fact, name).not.toBe(other);
    expect(leadOf({ report: name, tables: [], notes: [] }).known, name).toBe(false);
  }
});
