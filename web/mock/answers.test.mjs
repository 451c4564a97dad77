import { expect, test } from 'vitest';
import { decodeCounters, decodeTile } from '../src/data/tile.ts';
import { countersOf, tileOf } from './answers.mjs';
import { readRun } from './kineto.mjs';

const run = readRun(new URL('../../examples/samples/generated_tiny_kernels.json.gz', import.meta.url).pathname);
const decoded = (level, tile, lanes) => {
  const bytes = tileOf(run, level, tile, lanes);
  return decodeTile(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
};
const lanes = run.lanes.map((lane) => lane.lane);

test('every event is in the tiles of every level, alone or counted', () => {
  for (const level of [4, 10, 14, 17]) {
    const tiles = Math.ceil(run.end / (512 * 2 ** level));
    if (tiles > 400) continue;
    let starts = 0;
    for (let tile = 0; tile < tiles; ++tile) {
      const { count, flags } = decoded(level, tile, lanes);
      count.forEach((events, i) => { if ((flags[i] & 1) === 0) starts += events; });
    }
    const all = run.lanes.reduce((sum, lane) => sum + lane.list.length, 0);
    // An event shorter than a bucket that crosses the edge of a tile is in both.
    expect(starts).toBeGreaterThanOrEqual(all);
    expect(starts).toBeLessThanOrEqual(all + tiles * 60);
  }
});

test('boxes of a row are in order, in the tile, and few', () => {
  for (const level of [8, 14]) {
    const tile = decoded(level, 1, lanes);
    expect(tile.boxes).toBeGreaterThan(0);
    for (let row = 0; row < tile.rows; ++row) {
      const [first, last] = [tile.first[row], tile.first[row + 1]];
      expect(last - first).toBeLessThanOrEqual(1024);
      for (let i = first; i < last; ++i) {
        expect(tile.begin[i]).toBeLessThan(tile.end[i]);
        expect(tile.end[i]).toBeLessThanOrEqual(512);
        if (i > first) expect(tile.begin[i]).toBeGreaterThanOrEqual(tile.end[i - 1] - 1);
      }
    }
  }
});

test('counters are shares', () => {
  const bytes = countersOf(run, 16, 0, [0]);
  const [busy] = decodeCounters(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)).counters;
  expect(Math.max(...busy.high)).toBeLessThanOrEqual(1);
  expect(Math.max(...busy.high)).toBeGreaterThan(0.5);
  expect(busy.end.at(-1)).toBe(512);
});
