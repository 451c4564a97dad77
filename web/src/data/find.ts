// Search in the events of a report file, as `lanes` of the program does it (docs/serve.md).
import { parseTime } from '../words/units.ts';
import { Refusal, type HitQuery } from './source.ts';
import type { Events, Row } from './events.ts';
import type { Place, Search } from './types.ts';

const MAX_LISTED = 200;
const PARTS = 512; // of the run, for the density of hits

interface Wanted { part: string; kinds: Set<string> | null; rank: number | null; longer: number; shorter: number }

const lower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

function timeIn(text: string): number {
  const time = parseTime(text);
  if (time === null) throw new Refusal(`This is not a time such as 1.5ms: ${text}.`, 400);
  return time;
}

export function wantedBy(text: string, kinds: readonly string[]): Wanted {
  const wanted: Wanted = { part: '', kinds: null, rank: null, longer: -1, shorter: Infinity };
  const words: string[] = [];
  for (const word of text.trim().split(' ').filter(Boolean)) {
    if (word.startsWith('kind:')) {
      const kind = word.slice(5);
      if (!kinds.includes(kind)) throw new Refusal(`No event is of that kind: ${kind}. Kinds are op, kernel, python and others.`, 400);
      (wanted.kinds ??= new Set()).add(kind);
    } else if (word.startsWith('rank:')) {
      if (!/^-?\d+$/.test(word.slice(5))) throw new Refusal(`This is not a rank's number: ${word.slice(5)}.`, 400);
      wanted.rank = Number(word.slice(5));
    } else if (word.startsWith('dur>')) wanted.longer = timeIn(word.slice(4));
    else if (word.startsWith('dur<')) wanted.shorter = timeIn(word.slice(4));
    else words.push(lower(word));
  }
  wanted.part = words.join(' ');
  return wanted;
}

export interface Searched {
  /** Each with the span before it, whose events are not counted again. */
  blocks: readonly { events: Events; behind: number }[];
  names: readonly string[];
  /** By sort. */
  kinds: readonly string[];
  /** Kinds that events can have. */
  known: readonly string[];
  rankOf: (lane: number) => number;
  end: number;
}

const earlier = (a: Place, b: Place) => a.start - b.start || a.lane - b.lane || a.row - b.row;

export function search(among: Searched, text: string, query?: HitQuery): Search {
  const wanted = wantedBy(text, among.known);
  const matches = among.names.map((name) => lower(name).includes(wanted.part));
  const counts = new Map<number, { count: number; time: number }>();
  const density = new Array<number>(PARTS).fill(0);
  const perNs = PARTS / Math.max(1, among.end);
  const from: Place | null = query === undefined ? null
    : { rank: 0, id: 0, lane: query.lane, row: query.row, start: query.after ?? query.before ?? 0, end: 0 };
  const forward = query?.after !== undefined;
  let total = 0;
  let hit: Place | null = null;
  const take = (events: Events, row: Row, rank: number, i: number) => {
    const [start, end] = [events.start[i]!, events.end[i]!];
    ++total;
    ++density[Math.min(PARTS - 1, Math.floor(start * perNs))]!;
    const known = counts.get(events.name[i]!) ?? { count: 0, time: 0 };
    counts.set(events.name[i]!, { count: known.count + 1, time: known.time + end - start });
    if (from === null) return;
    const place: Place = { rank, id: events.id[i]!, lane: row.lane, row: row.row, start, end };
    if (forward ? earlier(place, from) > 0 && (hit === null || earlier(place, hit) < 0)
      : earlier(place, from) < 0 && (hit === null || earlier(place, hit) > 0)) hit = place;
  };
  for (const { events, behind } of among.blocks) {
    for (const row of events.rows) {
      const rank = among.rankOf(row.lane);
      if (wanted.rank !== null && wanted.rank !== rank) continue;
      for (let i = row.first; i < row.last; ++i) {
        const length = events.end[i]! - events.start[i]!;
        if (!matches[events.name[i]!] || events.start[i]! < behind || length <= wanted.longer || length >= wanted.shorter) continue;
        if (wanted.kinds === null || wanted.kinds.has(among.kinds[events.sort[i]!]!)) take(events, row, rank, i);
      }
    }
  }
  const found = [...counts].sort(([a, one], [b, other]) => other.time - one.time || a - b);
  return {
    total, names: found.slice(0, MAX_LISTED).map(([id, sums]) => ({ name: among.names[id]!, id, ...sums })),
    more_names: Math.max(0, found.length - MAX_LISTED), density, ...(query !== undefined && { hit }),
  };
}
