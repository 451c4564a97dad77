import { expect, test } from 'vitest';
import type { Cell, Table } from '../data/types.ts';
import type { Unit } from '../words/units.ts';
import { heldOf, instantOf, isHeld } from './held.ts';

const table = (columns: string, ...rows: Cell[][]): Table => ({
  title: '', shape: 'curve', rows,
  columns: columns.split(' ').map((word) => ({ name: word.split(':')[0]!, unit: (word.split(':')[1] ?? '') as Unit, role: 'value' })),
});

const PLACES = table('device place event time:ns bytes:bytes', [0, 'f', -1, 0, 1], [0, 'f', 4, 10, 3], [0, 'f', 9, 9, 0], [0, 'g', -1, 0, 0], [0, 'g', 4, 10, 2], [0, 'g', 9, 9, 2],
  [1, 'f', -1, null, 7]);
const report = {
  report: 'memory_curve', notes: [], tables: [
    table('device event time:ns requested:bytes reserved:bytes pending:bytes', [0, -1, 0, 1, 8, 0], [0, 4, 10, 5, 8, 0], [0, 9, 9, 2, 8, 0], [1, -1, null, 7, 8, 0]),
    PLACES, table('device instant event requested:bytes asked:bytes', [0, 'peak', 4, 5, null], [0, 'oom', 8, 5, 64], [1, 'peak', -1, 7, null])],
};

test('what places hold, device by device', () => {
  const [first, second] = heldOf(report);
  expect([first!.of, first!.events, first!.requested, first!.reserved]).toEqual(['device 0', [-1, 4, 9], [1, 5, 2], [8, 8, 8]]);
  expect(first!.times).toEqual([0, 10, 10]); // a time that goes back is drawn where the event before it is
  expect(first!.places).toEqual([{ name: 'f', values: [1, 3, 0] }, { name: 'g', values: [0, 2, 2] }]);
  expect(first!.marks.map(({ name, event, asked }) => [name, event, asked])).toEqual([['peak', 4, null], ['oom', 8, 64]]);
  expect([second!.times, second!.places]).toEqual([[], [{ name: 'f', values: [7] }]]);
  expect(second!.isDevice({ device: 1 }) && !second!.isDevice({ device: 0 })).toBe(true);
});

test('the instant of an event is the last one kept before it', () => {
  expect([-1, 3, 4, 8, 9, 100].map((event) => instantOf(heldOf(report)[0]!, event))).toEqual([0, 0, 1, 1, 2, 2]);
});

test('a table of places over events is known by its columns', () => {
  expect([isHeld(PLACES), ...report.tables.filter((one) => one !== PLACES).map(isHeld)]).toEqual([true, false, false]);
});
