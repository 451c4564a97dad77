// Changes that the replay can try: "compute=0.5;comm=0", as the option --scale takes them.
import { number, records, rowsWith, text, type Row } from '../data/table.ts';
import type { Report } from '../data/types.ts';

export interface Part { what: string; words: string; long: string }

const part = (what: string, words: string, long: string): Part => ({ what, words, long });

export const PARTS: readonly Part[] = [
  part('data_loading', 'loading data', 'host time in data loaders'),
  part('sync', 'waits for the device', 'the time that calls wait for device work'),
  part('alloc', 'allocating memory', 'calls that allocate or free device or pinned memory'),
  part('launch', 'launching', 'launch calls, and the time from there to the start on an idle stream'),
  part('host', 'all host work', 'operators, ranges, Python and runtime calls, on every thread'),
  part('compute', 'compute kernels', 'kernels that compute'),
  part('comm', 'collectives', 'kernels of collectives; of several ranks their transfer'),
  part('copy', 'copies and fills', 'copies and fills of the device'),
];

export type Factors = Record<string, number>;

const MAX_FACTOR = 2;

/** "compute=0.5;comm=0" → its factors; parts that no slider has are left out. */
export function parseChanges(words: string | undefined): Factors {
  const factors: Factors = {};
  for (const one of (words ?? '').split(';')) {
    const [what, factor] = one.split('=');
    const value = Number(factor);
    if (PARTS.some((known) => known.what === what?.trim()) && factor?.trim() && value >= 0 && value <= MAX_FACTOR && value !== 1) factors[what!.trim()] = value;
  }
  return factors;
}

export const formatChanges = (factors: Factors) =>
  PARTS.flatMap(({ what }) => (factors[what] === undefined || factors[what] === 1 ? [] : [`${what}=${factors[what]}`])).join(';');

/** "compute=0.5" → "compute kernels in half the time". */
export function changeWords(change: string): string {
  const [what, factor] = change.split('=');
  const words = PARTS.find((one) => one.what === what)?.words;
  const value = Number(factor);
  if (words === undefined || Number.isNaN(value)) return change;
  return `${words} in ${value === 0 ? 'no time' : value === 0.5 ? 'half the time' : `${Math.round(value * 100)} % of the time`}`;
}

export interface Outcome { before: number; step: number; saving: number; share: number; error: number; low: number | null; high: number | null; limit: string; found: boolean }

/** What all changes of an answer do together: to the job, or to the slowest rank where ranks are not replayed together; null if it was refused. */
export function outcomeOf(report: Report): Outcome | null {
  const job = rowsWith(report, { low: 'ns', high: 'ns', change: '', step: 'ns' });
  const rows = job.length > 0 ? job : lastOfEach(rowsWith(report, { change: '', step: 'ns', saving: 'ns' }));
  const row = rows.length === 0 ? undefined : job.length > 0 ? job.at(-1)! : rows.reduce((worst, one) => ((number(one.step) ?? 0) > (number(worst.step) ?? 0) ? one : worst));
  const replays = report.tables.map((table) => records(table)).filter((all) => all[0] !== undefined && 'identity' in all[0]);
  const replay = (job.length > 0 ? replays.find((all) => !('rank' in all[0]!)) : replays[0])?.find((one) => job.length > 0 || text(one.rank) === text(row?.rank));
  const [before, step, saving, error] = [number(replay?.identity), number(row?.step), number(row?.saving), number(replay?.error)];
  if (row === undefined || before === null || step === null || saving === null || error === null) return null;
  return {
    before, step, saving, error, share: number(row.share) ?? 0, low: number(row.low), high: number(row.high), limit: text(row.limit),
    found: !rows.every((one) => one.found === 'no'),
  };
}

/** The last row of each rank: that of all changes. */
function lastOfEach(rows: readonly Row[]): Row[] {
  return [...new Map(rows.map((row) => [text(row.rank), row])).values()];
}
