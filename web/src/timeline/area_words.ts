// An area in words, and in a link.
import type { Timeline } from '../data/types.ts';
import { formatSpan } from '../state/link.ts';
import { formatValue } from '../words/units.ts';
import type { Area } from './paint.ts';

const NAMED_LANES = 2;

export const ranksOf = (timeline: Timeline) => new Set(timeline.lanes.map((lane) => lane.rank)).size;

export function areaInLink({ lanes }: Timeline, area: Area | null): string | undefined {
  const keys = area === null || area.lanes.size === lanes.length ? [] : lanes.filter((lane) => area.lanes.has(lane.lane)).map((lane) => lane.key);
  return area === null ? undefined : [formatSpan(area.span.from, area.span.to), ...keys].join(',');
}

/** Its span and its lanes: "23.0 ms from 22.0 ms on main thread and stream 7 compute". */
export function areaWords(timeline: Timeline, { span, lanes }: Area): string {
  const all = timeline.lanes.filter((lane) => lanes.has(lane.lane));
  const names = all.map((lane) => (ranksOf(timeline) > 1 ? `rank ${lane.rank} ${lane.title}` : lane.title));
  const where = all.length === timeline.lanes.length && all.length > NAMED_LANES ? `all ${all.length} lanes`
    : names.length > NAMED_LANES ? `${names.slice(0, NAMED_LANES).join(', ')} and ${names.length - NAMED_LANES} more lanes` : names.join(' and ');
  return `${formatValue(Math.round(span.to - span.from), 'ns')} from ${formatValue(Math.max(0, Math.round(span.from)), 'ns')} on ${where}`;
}
