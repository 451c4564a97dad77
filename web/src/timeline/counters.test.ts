import { expect, test } from 'vitest';
import type { CounterTile } from '../data/tile.ts';
import type { Counter } from '../data/types.ts';
import { reading, readingWords } from './counters.ts';
import type { Store } from './store.ts';

const counter: Counter = { counter: 3, key: 'r0/d0/busy', rank: 0, name: 'GPU 0 busy', unit: 'share', max: 1 };
const held: CounterTile = { counters: [{ counter: 3, begin: Uint16Array.of(10, 20), end: Uint16Array.of(20, 30), low: Float32Array.of(0.5, 0), high: Float32Array.of(0.5, 0.75) }] };
/** One tile of level 1, which stands in for those of level 0. */
const store = { countersFor: () => ({ held, level: 1, tile: 0 }) } as unknown as Store;
const frame = { span: { from: 0, to: 1024 }, level: 0, end: 1024 };
const words = (from: number, to = from) => {
  const found = reading(counter, frame, store, from, to);
  return found && readingWords(found);
};

test('a counter is read at a time and over a span', () => {
  expect(words(25)).toBe('50.0 %');
  expect(words(45)).toBe('0 % to 75.0 %');
  expect(words(0, 1024)).toBe('0 % to 75.0 %');
  expect(words(39)).toBe('50.0 %');
});

test('before its first value a counter has none', () => {
  expect(words(0, 19)).toBeUndefined();
});
