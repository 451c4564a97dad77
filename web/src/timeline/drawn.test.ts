import { expect, test } from 'vitest';
import type { DrawnPath, Idle } from '../data/types.ts';
import { idleOn, isOnPath } from './drawn.ts';

const part = (lane: number | null, start: number, end: number) => ({ lane, row: lane === null ? null : 0, id: 1, start, end, time: end - start, kind: 'cpu_bound', count: 1 });
const path: DrawnPath = { rank: 0, step: 1, summary: '', time: 30, bound_by: [], parts: [part(1, 0, 10), part(null, 10, 20), part(0, 20, 30), part(1, 30, 40)], joined: 0, notes: [] };

test('events that the path runs through are on it', () => {
  const on = (lane: number, start: number, end: number, row = 0) => isOnPath(path, lane, row, { start, end });
  expect(on(1, 5, 6)).toBe(true);
  expect(on(1, -5, 50)).toBe(true);
  expect(on(1, 10, 30), 'between its parts').toBe(false);
  expect(on(1, 29, 31)).toBe(true);
  expect(on(1, 40, 50), 'behind its end').toBe(false);
  expect(on(0, 0, 20), 'touching').toBe(false);
  expect(on(0, 19, 21)).toBe(true);
  expect(on(0, 19, 21, 1), 'another row').toBe(false);
  expect(on(7, 0, 100)).toBe(false);
});

test('an idle stretch is found on every lane of its device', () => {
  const stretch = (device: number, start: number, end: number) => ({ device, start, end, cause: 0, host: null, name: null, ended_by: null });
  const idle: Idle = {
    summary: '', time: 30, causes: [], devices: [{ rank: 0, device: 0, lanes: [2, 3] }, { rank: 0, device: 1, lanes: [4] }],
    stretches: [stretch(0, 0, 10), stretch(0, 20, 30), stretch(1, 5, 15)], shorter: 0, notes: [] };
  const idleAt = (lane: number, time: number) => idleOn(idle, lane, { from: time, to: time })[0];
  expect(idleAt(2, 25)).toBe(idle.stretches[1]);
  expect(idleAt(3, 1)).toBe(idle.stretches[0]);
  expect(idleAt(3, 10)).toBeUndefined();
  expect(idleOn(idle, 2, { from: 9, to: 21 })).toEqual(idle.stretches.slice(0, 2));
  expect(idleAt(4, 9.5)).toBe(idle.stretches[2]);
  expect(idleAt(9, 9)).toBeUndefined();
});
