// The values of a counter, as the tiles at hand have them: painting, the mouse and the table read the same.
import type { Counter } from '../data/types.ts';
import { formatValue } from '../words/units.ts';
import type { Entry } from './layout.ts';
import type { Frame } from './scene.ts';
import type { Store } from './store.ts';
import { tileLength, tilesIn } from './view.ts';

/** The lowest and the highest value that a counter has somewhere. */
export interface Reading { counter: Counter; low: number; high: number; start: number }

/** The counter that an entry draws: its own, or of a closed group the first. */
export const counterOf = (entry: Entry | undefined) =>
  entry?.kind === 'counter' || (entry?.kind === 'group' && !entry.isOpen) ? entry.counter : undefined;

/** Calls `take` for each stretch of one value, or of values too close to tell apart, in the order of time. */
export function eachStretch({ counter }: Counter, { span, level, end }: Pick<Frame, 'span' | 'level' | 'end'>, store: Store, take: (from: number, to: number, low: number, high: number) => void) {
  const { first, last } = tilesIn(span, level, end);
  for (let tile = first; tile <= last; ++tile) {
    const best = store.countersFor(level, tile);
    const one = best?.held.counters.find((each) => each.counter === counter);
    if (!best || !one) continue;
    const from = tile * tileLength(level);
    const start = best.tile * tileLength(best.level);
    const bucket = 2 ** best.level;
    one.begin.forEach((begin, i) => {
      const a = Math.max(from, start + begin * bucket);
      const b = Math.min(from + tileLength(level), start + one.end[i]! * bucket);
      if (a < b) take(a, b, one.low[i]!, one.high[i]!);
    });
  }
}

/** What a counter has at a time, or from one to another; undefined where it has no value. */
export function reading(counter: Counter, frame: Pick<Frame, 'span' | 'level' | 'end'>, store: Store, from: number, to = from): Reading | undefined {
  let found: Reading | undefined;
  eachStretch(counter, frame, store, (a, b, low, high) => {
    if (a <= to && b > from) found = { counter, low: Math.min(low, found?.low ?? low), high: Math.max(high, found?.high ?? high), start: from };
  });
  return found;
}

/** "61.0 %", or "0 % to 61.0 %" where several values share a pixel. */
export function readingWords({ counter: { unit }, low, high }: Reading): string {
  const [from, to] = [formatValue(low, unit), formatValue(high, unit)];
  return from === to ? to : `${from} to ${to}`;
}
