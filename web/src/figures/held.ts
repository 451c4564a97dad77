// What places hold over the events of a memory snapshot, device by device.
import { columnIndex, hasColumns, number, rowsWith, text, type Row } from '../data/table.ts';
import type { Report, Table } from '../data/types.ts';
import { spokenKey } from './parts.ts';

/** An instant that the answer names. `asked`: bytes of an allocation that failed after it. */
export interface Marked { name: string; event: number; requested: number; asked: number | null }

/** All arrays but the last are by instant. `times` is empty if the file has none. */
export interface Held {
  of: string;
  isDevice: (row: Row) => boolean;
  events: number[];
  times: number[];
  requested: number[];
  reserved: number[];
  places: { name: string; values: number[] }[];
  marks: Marked[];
}

const PLACES = { place: '', event: '', bytes: 'bytes' } as const;
export const isHeld = (table: Table) => hasColumns(table, PLACES) && columnIndex(table, 'time') >= 0;

export function heldOf(report: Report): Held[] {
  const devices = new Map<string, Held>();
  const keyOf = (row: Row) => `${text(row.rank)}/${text(row.device)}`;
  let latest = 0;
  for (const row of rowsWith(report, { event: '', requested: 'bytes', pending: 'bytes' })) {
    const key = keyOf(row);
    let held = devices.get(key);
    if (held === undefined) {
      const of = ['rank', 'device'].flatMap((name) => (text(row[name]) === '' ? [] : [spokenKey(name, text(row[name]))])).join(', ');
      devices.set(key, held = { of, isDevice: (other) => keyOf(other) === key, events: [], times: [], requested: [], reserved: [], places: [], marks: [] });
      latest = 0;
    }
    held.events.push(Number(row.event));
    held.requested.push(Number(row.requested));
    held.reserved.push(Number(row.reserved));
    const time = number(row.time);
    if (time !== null) held.times.push(latest = Math.max(latest, time)); // clocks of threads differ; the order of events is the truth
  }
  for (const row of rowsWith(report, PLACES)) {
    const places = devices.get(keyOf(row))?.places;
    const name = text(row.place);
    if (places?.at(-1)?.name !== name) places?.push({ name, values: [] });
    places?.at(-1)?.values.push(Number(row.bytes));
  }
  for (const row of rowsWith(report, { instant: '', event: '', asked: 'bytes' })) {
    devices.get(keyOf(row))?.marks.push({ name: text(row.instant), event: Number(row.event), requested: Number(row.requested), asked: number(row.asked) });
  }
  return [...devices.values()];
}

/** The last instant that is not after an event. */
export const instantOf = ({ events }: Held, event: number) => Math.max(0, events.filter((one) => one <= event).length - 1);
