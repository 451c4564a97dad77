// Times on the screen: the span in view, how it moves, and how fine the tiles for it must be. Times are ns.
import { BUCKETS } from '../data/tile.ts';

export interface Span { from: number; to: number }

const SHORTEST = 20; // ns in view at most magnification
const BEYOND = 0.05; // of the run that may be in view before its start and behind its end

export const lengthOf = (span: Span) => span.to - span.from;
export const nsPerPixel = (span: Span, width: number) => lengthOf(span) / Math.max(1, width);
export const pixelOf = (time: number, span: Span, width: number) => ((time - span.from) / lengthOf(span)) * width;
export const timeAt = (pixel: number, span: Span, width: number) => span.from + (pixel / Math.max(1, width)) * lengthOf(span);

/** The same span within the run, not shorter than can be drawn. */
export function bounded(span: Span, end: number): Span {
  const room = end * BEYOND;
  const length = Math.min(Math.max(lengthOf(span), SHORTEST), end + 2 * room);
  const middle = (span.from + span.to) / 2;
  const from = Math.min(Math.max(middle - length / 2, -room), end + room - length);
  return { from, to: from + length };
}

/** Longer by `factor`; the time at `ratio` of the width stays where it is. */
export function zoomed(span: Span, factor: number, ratio: number): Span {
  const fixed = span.from + ratio * lengthOf(span);
  const length = lengthOf(span) * factor;
  return { from: fixed - ratio * length, to: fixed + (1 - ratio) * length };
}

export const moved = (span: Span, by: number): Span => ({ from: span.from + by, to: span.to + by });

export function widened(span: Span, share: number): Span {
  const room = Math.max(1, lengthOf(span)) * share;
  return { from: span.from - room, to: span.to + room };
}

export const blended = (a: Span, b: Span, share: number): Span => ({
  from: a.from + (b.from - a.from) * share, to: a.to + (b.to - a.to) * share });

/** The finest level whose buckets are at most one pixel wide. */
export function levelFor(nsPerDevicePixel: number): number {
  return Math.max(0, Math.floor(Math.log2(nsPerDevicePixel)));
}

export const tileLength = (level: number) => BUCKETS * 2 ** level;

/** The tiles that a span touches, within the run. */
export function tilesIn(span: Span, level: number, end: number): { first: number; last: number } {
  const length = tileLength(level);
  return {
    first: Math.max(0, Math.floor(span.from / length)),
    last: Math.min(Math.floor(Math.max(0, end - 1) / length), Math.ceil(span.to / length) - 1),
  };
}

/** A level at which one tile holds the whole run. */
export const wholeLevel = (end: number) => Math.max(0, Math.ceil(Math.log2(Math.max(1, end) / BUCKETS)));

/** A round step of 1, 2 or 5 times a power of ten, at least `least`. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least)!;
}

const UNITS = [{ ns: 1e9, name: 's' }, { ns: 1e6, name: 'ms' }, { ns: 1e3, name: 'µs' }, { ns: 1, name: 'ns' }];

/** A time as precise as steps of `step` ns need it: "12.34 ms". */
export function tickWords(time: number, step: number): string {
  const unit = UNITS.find((one) => Math.abs(time) >= one.ns) ?? UNITS.find((one) => step >= one.ns) ?? UNITS[3]!;
  const decimals = Math.max(0, Math.ceil(Math.log10(unit.ns / Math.max(1, step)) - 1e-9));
  return time === 0 ? '0' : `${(time / unit.ns).toFixed(decimals)} ${unit.name}`;
}
