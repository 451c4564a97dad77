// Operators against what the device can do at best: work per byte across, speed upwards, both logarithmic.
import { hasColumns, number, records, text } from '../data/table.ts';
import type { Table } from '../data/types.ts';
import { shortName } from '../words/names.ts';

export interface Point { name: string; intensity: number; rate: number; roof: number | null; time: number; bound: string }
export interface Roofs { memory: number | null; compute: { name: string; rate: number }[] }
export interface Roofline { points: Point[]; roofs: Roofs; x: [number, number]; y: [number, number] }

const COLUMNS = { name: '', intensity: 'flop_per_byte', flop_rate: 'flop_per_s', share_of_roof: 'share', work_time: 'ns', bound: '' } as const;
const MEMORY = 'memory';
const COMPUTE = 'compute'; // also "compute (matrix)" and "compute (vector)": each has a roof of its own
const MAX_POINTS = 60;
const LEAST_TIME = 0.001; // of all
const ROOM = 1.6; // factor left free at the edges

/** The rows whose speed and roof are known, the longest first; null if there are too few. */
export function rooflineOf(table: Table): Roofline | null {
  if (!hasColumns(table, COLUMNS)) return null;
  const all = records(table).flatMap((row): Point[] => {
    const [intensity, rate, share, time] = [number(row.intensity), number(row.flop_rate), number(row.share_of_roof), number(row.work_time)];
    if (!intensity || !rate || !time) return [];
    return [{ name: shortName(text(row.name)), intensity, rate, roof: share ? rate / share : null, time, bound: text(row.bound) }];
  }).sort((a, b) => b.time - a.time);
  const whole = all.reduce((sum, one) => sum + one.time, 0);
  const points = all.filter((one) => one.time >= whole * LEAST_TIME).slice(0, MAX_POINTS);
  if (points.length < 2 || points.every((one) => one.roof === null)) return null;
  const roofs = roofsOf(points);
  const ys = points.flatMap((one) => [one.rate, one.roof ?? one.rate]).concat(roofs.compute.map((one) => one.rate));
  return { points, roofs, x: around(points.map((one) => one.intensity)), y: around(ys) };
}

/** The device's limits, as the rows that they bound show them: a row under several limits shows less, never more. */
function roofsOf(points: readonly Point[]): Roofs {
  const known = points.flatMap((one) => (one.roof === null ? [] : [{ ...one, roof: one.roof }]));
  const memory = known.filter((one) => one.bound === MEMORY).map((one) => one.roof / one.intensity);
  const names = [...new Set(known.map((one) => one.bound).filter((bound) => bound.startsWith(COMPUTE)))];
  return {
    memory: memory.length > 0 ? Math.max(...memory) : null,
    compute: names.map((name) => ({ name, rate: Math.max(...known.filter((one) => one.bound === name).map((one) => one.roof)) })).sort((a, b) => b.rate - a.rate),
  };
}

const around = (values: number[]): [number, number] => [Math.min(...values) / ROOM, Math.max(...values) * ROOM];

/** Where a value stands on a logarithmic axis, 0 to 1. */
export const logAt = (value: number, [low, high]: [number, number]) => (Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low));

/** The powers of ten on an axis, every `skip`-th if there are many. */
export function decades([low, high]: [number, number], most: number): number[] {
  const [first, last] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
  const skip = Math.max(1, Math.ceil((last - first + 1) / most));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i).filter((power) => power % skip === 0).map((power) => 10 ** power);
}

export interface Box { x: number; y: number; width: number; height: number }

/** For each label in turn, whether it hits none before it. */
export function placed(boxes: readonly Box[]): boolean[] {
  const kept: Box[] = [];
  return boxes.map((box) => {
    const hits = kept.some((one) => box.x < one.x + one.width && one.x < box.x + box.width && box.y < one.y + one.height && one.y < box.y + box.height);
    if (!hits) kept.push(box);
    return !hits;
  });
}
