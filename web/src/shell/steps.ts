// A range of steps, as the address writes it ("7", "7-9"), and as a small chart shows it.
import { hasColumns, number, records, text } from '../data/table.ts';
import type { Report } from '../data/types.ts';

export interface StepTime { step: number; time: number }
export interface Range { from: number; to: number }

/** The numbered steps of an answer with their lengths, the slowest rank's where there are several. */
export function stepTimes(report: Report): StepTime[] {
  const table = report.tables.find((one) => hasColumns(one, { step: '', total: 'ns' }));
  const times = new Map<number, number>();
  for (const row of records(table)) {
    if (/^\d+$/.test(text(row.step))) times.set(Number(row.step), Math.max(times.get(Number(row.step)) ?? 0, number(row.total) ?? 0));
  }
  return [...times].map(([step, time]) => ({ step, time })).sort((a, b) => a.step - b.step);
}

export function parseRange(words: string | undefined): Range | null {
  const match = /^\s*(\d+)\s*(?:[-–]\s*(\d+)\s*)?$/.exec(words ?? '');
  if (match === null) return null;
  const [a, b] = [Number(match[1]), Number(match[2] ?? match[1])];
  return { from: Math.min(a, b), to: Math.max(a, b) };
}
export const formatRange = ({ from, to }: Range) => (from === to ? String(from) : `${from}-${to}`);

/** The bars of a chart `width` pixels wide: of the steps that share a pixel the longest. */
export function barsOf(times: readonly StepTime[], width: number): number[] {
  const count = Math.min(times.length, width);
  const bars = Array.from({ length: count }, () => 0);
  times.forEach(({ time }, i) => {
    const at = Math.min(count - 1, Math.floor((i * count) / times.length));
    bars[at] = Math.max(bars[at]!, time);
  });
  return bars;
}

/** The steps between two places of the chart, 0 to 1. */
export function brushed(times: readonly StepTime[], a: number, b: number): Range {
  const at = (share: number) => times[Math.max(0, Math.min(times.length - 1, Math.floor(share * times.length)))]!.step;
  return { from: at(Math.min(a, b)), to: at(Math.max(a, b)) };
}

/** The range moved by one step, or with its end moved: what an arrow key does. Without a range, the first or the last step. */
export function moved(times: readonly StepTime[], range: Range | null, by: 1 | -1, extend: boolean): Range {
  const steps = times.map((one) => one.step);
  if (range === null) return brushed(times, by > 0 ? 0 : 1, by > 0 ? 0 : 1);
  const index = (step: number) => Math.max(0, steps.findIndex((one) => one >= step));
  const clamp = (at: number) => steps[Math.max(0, Math.min(steps.length - 1, at))]!;
  const to = clamp(index(range.to) + by);
  return extend ? { from: range.from, to: Math.max(range.from, to) } : { from: clamp(index(range.from) + by), to };
}
