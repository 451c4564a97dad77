// Where lanes are: pinned ones on top, then per rank a header, its counters and its lanes. Heights are pixels.
import type { Counter, Lane, Timeline } from '../data/types.ts';

export const ROW = 18;
const LANE_GAP = 5;
const GROUP = 26;
const COUNTER = 30;
const FEW_ROWS = 14; // rows of a lane that is not opened

export type Entry =
  | { kind: 'group'; key: string; y: number; height: number; rank: number; isOpen: boolean; lanes: number; hidden: readonly string[]; counter?: Counter }
  | { kind: 'counter'; key: string; y: number; height: number; counter: Counter; pinned: boolean }
  | { kind: 'lane'; key: string; y: number; height: number; lane: Lane; rows: number; pinned: boolean };

export interface Wishes {
  pinned: readonly string[];
  /** Ranks, as "r0". */
  closed: readonly string[];
  opened: readonly string[];
  hidden: readonly string[];
}

export interface Layout {
  pinned: Entry[];
  pinnedHeight: number;
  entries: Entry[];
  height: number;
}

export const groupKey = (rank: number) => `r${rank}`;
export const canOpen = (lane: Lane) => lane.rows > FEW_ROWS;

export function layOut(timeline: Timeline, wishes: Wishes): Layout {
  const byKey = new Map<string, Lane | Counter>([...timeline.lanes, ...timeline.counters].map((one) => [one.key, one]));
  const pinned: Entry[] = [];
  let pinnedHeight = 0;
  for (const key of wishes.pinned.filter((one) => !wishes.hidden.includes(one))) {
    const one = byKey.get(key);
    if (one !== undefined) pinnedHeight = put(pinned, one, wishes, pinnedHeight, true);
  }
  const entries: Entry[] = [];
  let y = 0;
  const ranks = [...new Set(timeline.lanes.map((lane) => lane.rank))].sort((a, b) => a - b);
  for (const rank of ranks) {
    const lanes = timeline.lanes.filter((lane) => lane.rank === rank);
    const counters = timeline.counters.filter((counter) => counter.rank === rank);
    const key = groupKey(rank);
    const isOpen = !wishes.closed.includes(key);
    const all = [...counters, ...lanes];
    const hidden = all.map((one) => one.key).filter((one) => wishes.hidden.includes(one));
    entries.push({ kind: 'group', key, y, height: GROUP, rank, isOpen, lanes: lanes.length, hidden, ...(counters[0] && { counter: counters[0] }) });
    y += GROUP;
    if (!isOpen) continue;
    for (const one of all) if (!wishes.pinned.includes(one.key) && !hidden.includes(one.key)) y = put(entries, one, wishes, y, false);
  }
  return { pinned, pinnedHeight, entries, height: y + LANE_GAP };
}

function put(entries: Entry[], one: Lane | Counter, wishes: Wishes, y: number, pinned: boolean): number {
  if (!('lane' in one)) {
    entries.push({ kind: 'counter', key: one.key, y, height: COUNTER, counter: one, pinned });
    return y + COUNTER;
  }
  const rows = wishes.opened.includes(one.key) ? one.rows : Math.min(one.rows, FEW_ROWS);
  const height = rows * ROW + LANE_GAP;
  entries.push({ kind: 'lane', key: one.key, y, height, lane: one, rows, pinned });
  return y + height;
}

/** The entry of a lane, or the header of its group if that is closed. */
export function entryOf(layout: Layout, lane: Lane): Entry | undefined {
  const isLane = (entry: Entry) => entry.kind === 'lane' && entry.lane.lane === lane.lane;
  return layout.pinned.find(isLane) ?? layout.entries.find(isLane)
    ?? layout.entries.find((entry) => entry.kind === 'group' && entry.rank === lane.rank);
}

export const isPinned = (layout: Layout, entry: Entry) => layout.pinned.includes(entry);

/** The top of an entry on the screen. */
export const screenY = (layout: Layout, entry: Entry, scroll: number) =>
  isPinned(layout, entry) ? entry.y : entry.y + layout.pinnedHeight - scroll;

/** What is at a height of the screen. */
export function entryAt(layout: Layout, y: number, scroll: number): Entry | undefined {
  const inside = (entry: Entry, at: number) => entry.y <= at && at < entry.y + entry.height;
  if (y < layout.pinnedHeight) return layout.pinned.find((entry) => inside(entry, y));
  return layout.entries.find((entry) => inside(entry, y - layout.pinnedHeight + scroll));
}
