import { expect, test } from 'vitest';
import type { Lane, Timeline } from '../data/types.ts';
import { layOut } from './layout.ts';

const lane = (number: number): Lane => ({ lane: number, key: `r0/t${number}`, rank: 0, side: 'host', role: 'main', name: 'main', title: 'main', rows: 1, events: 9 });
const timeline: Timeline = {
  end: 1, names: 0, clock: { aligned: true, error_ns: 0 }, ranks: [], steps: [], lanes: [lane(0), lane(1)],
  counters: [{ counter: 0, key: 'r0/d0/busy', rank: 0, name: 'GPU 0 busy', unit: 'share', max: 1 }] };
const keysOf = (hidden: string[], pinned: string[] = []) => {
  const layout = layOut(timeline, { pinned, closed: [], opened: [], hidden });
  return [layout.pinned, layout.entries].map((entries) => entries.map((entry) => entry.key));
};

test('a hidden lane takes no room, and its rank knows of it', () => {
  expect(keysOf([])).toEqual([[], ['r0', 'r0/d0/busy', 'r0/t0', 'r0/t1']]);
  expect(keysOf(['r0/t0', 'r0/d0/busy'])).toEqual([[], ['r0', 'r0/t1']]);
  expect(layOut(timeline, { pinned: [], closed: [], opened: [], hidden: ['r0/t0'] }).entries[0]).toMatchObject({ hidden: ['r0/t0'] });
});

test('a pinned lane can be hidden, too', () => {
  expect(keysOf(['r0/t0'], ['r0/t0', 'r0/t1'])).toEqual([['r0/t1'], ['r0', 'r0/d0/busy']]);
});
