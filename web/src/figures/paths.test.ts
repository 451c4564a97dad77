import type uPlot from 'uplot';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { bars, stepped } from './paths.ts';

class Lines {
  readonly words: string[] = [];
  moveTo(x: number, y: number) { this.words.push(`M${x} ${y}`); }
  lineTo(x: number, y: number) { this.words.push(`L${x} ${y}`); }
  rect(...box: number[]) { this.words.push(box.join(' ')); }
}
beforeAll(() => { vi.stubGlobal('Path2D', Lines); vi.stubGlobal('devicePixelRatio', 1); });
afterAll(() => { vi.unstubAllGlobals(); });

/** Ten pixels per unit; 0 is 100 pixels down. */
const plot = (...data: (number | null)[][]) => ({ data, valToPos: (value: number, scale: string) => (scale === 'x' ? value * 10 : 100 - value * 10) }) as unknown as uPlot;
const wordsOf = (path: unknown) => (path as Lines).words;

test('a value holds until the next one, and an absent one is a gap', () => {
  const { stroke, fill } = stepped(plot([0, 1, 2, 3, 4], [5, 7, null, 2, 2]), 1, 0, 4)!;
  expect(wordsOf(stroke).join('')).toBe('M0 50L10 50L10 30L20 30M30 80L40 80L40 80');
  expect(wordsOf(fill)).toEqual(['0 50 10 50', '10 30 10 70', '30 80 10 20']);
});

test('bars stand on zero, with room between them', () => {
  expect(wordsOf(bars(plot([0, 1], [5, 7]), 1, 0, 1)!.fill)).toEqual(['-3 50 6 50', '7 30 6 70']);
});
