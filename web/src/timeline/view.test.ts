import { expect, test } from 'vitest';
import { bounded, levelFor, pixelOf, roundStep, tickWords, tilesIn, timeAt, wholeLevel, zoomed } from './view.ts';

test('zooming keeps the time under the mouse', () => {
  const before = { from: 1000, to: 3000 };
  const after = zoomed(before, 0.5, 0.25);
  expect(after).toEqual({ from: 1250, to: 2250 });
  expect(timeAt(25, before, 100)).toBe(timeAt(25, after, 100));
  expect(pixelOf(1500, after, 100)).toBe(25);
});

test('a span stays in the run', () => {
  expect(bounded({ from: -5000, to: -4000 }, 10000)).toEqual({ from: -500, to: 500 });
  expect(bounded({ from: 0, to: 1e9 }, 10000)).toEqual({ from: -500, to: 10500 });
  const tiny = bounded({ from: 5000, to: 5001 }, 10000);
  expect(tiny.to - tiny.from).toBe(20);
});

test('buckets are half a pixel to a pixel wide', () => {
  for (const ns of [1, 1.5, 2, 3.9, 1000, 123456]) {
    const bucket = 2 ** levelFor(ns);
    expect(bucket).toBeLessThanOrEqual(ns);
    expect(bucket).toBeGreaterThan(ns / 2);
  }
  expect(levelFor(0.01)).toBe(0);
});

test('tiles cover the span and end with the run', () => {
  expect(tilesIn({ from: -100, to: 511 }, 0, 5000)).toEqual({ first: 0, last: 0 });
  expect(tilesIn({ from: 512, to: 1e9 }, 0, 5000)).toEqual({ first: 1, last: 9 });
  expect(512 * 2 ** wholeLevel(1e9)).toBeGreaterThanOrEqual(1e9);
});

test('ticks are round and as precise as needed', () => {
  expect(roundStep(3)).toBe(5);
  expect(roundStep(0.2)).toBe(1);
  expect(roundStep(51)).toBe(100);
  expect(tickWords(12340000, 10000)).toBe('12.34 ms');
  expect(tickWords(12000000, 2000000)).toBe('12 ms');
  expect(tickWords(1000200, 100)).toBe('1.0002 ms');
  expect(tickWords(0, 100)).toBe('0');
  expect(tickWords(500, 100)).toBe('500 ns');
});
