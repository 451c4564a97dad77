// The address of a view: `#/timeline?run=a3f91c02&t=12.4ms`. All that a view shows follows from it.

export interface Address { page: string; params: Record<string, string> }

/** What each part of an address means. Anything else is ignored, and said so. */
export const PARAMS = {
  run: 'run', base: 'run to compare with', steps: 'steps', tab: 'tab', sort: 'sort column', filter: 'filter', row: 'row',
  t: 'span of time', sel: 'selected event', area: 'selected area', area2: 'area to compare with', pin: 'pinned lanes', closed: 'closed groups',
  open: 'opened lanes', q: 'search', flow: 'flow arrows', path: 'critical path', idle: 'causes of idle time', step: 'step', rank: 'rank', at: 'moment', marks: 'marks', hide: 'hidden lanes', go: 'time to go to', longest: 'name of an event', group: 'grouping', scale: 'changes to replay', file: 'source file',
  line: 'source line', heat: 'map of ranks and steps', flame: 'flame graph', axis: 'axis',
} as const;
export type Param = keyof typeof PARAMS;

/** Parts that belong to one tab of a page. */
export const OF_TAB = { sort: undefined, filter: undefined, row: undefined, heat: undefined, flame: undefined, axis: undefined, marks: undefined, t: undefined };

/** Parts that stay when the page changes. */
export const SCOPE: readonly Param[] = ['run', 'base', 'steps'];

export interface Parsed { address: Address; token: string | null; unknown: string[] }

export function parseAddress(fragment: string, pages: readonly string[], first: string): Parsed {
  const bare = fragment.replace(/^#/, '');
  const isPath = bare.startsWith('/');
  const cut = bare.indexOf('?');
  const path = isPath ? bare.slice(1, cut < 0 ? undefined : cut) : '';
  const found = new URLSearchParams(isPath ? (cut < 0 ? '' : bare.slice(cut + 1)) : bare);
  const token = found.get('token');
  found.delete('token');
  const params: Record<string, string> = {};
  const unknown: string[] = [];
  for (const [name, value] of found) {
    if (Object.hasOwn(PARAMS, name)) params[name] = value;
    else unknown.push(name);
  }
  const known = pages.includes(path);
  if (!known && path !== '') unknown.unshift(path);
  return { address: { page: known ? path : first, params }, token, unknown };
}

// Kept readable: what a fragment may hold is not escaped.
function escaped(value: string): string {
  return encodeURIComponent(value).replace(/%(2C|2F|3A|40|2B)/g, (code) => (code === '%2B' ? code : decodeURIComponent(code)));
}

export function formatAddress({ page, params }: Address): string {
  const parts = Object.entries(params).filter(([, value]) => value !== '');
  const text = parts.map(([name, value]) => `${name}=${escaped(value)}`).join('&');
  return `#/${page}${text === '' ? '' : `?${text}`}`;
}

/** The address of another page in the same scope. */
export function onPage(address: Address, page: string, params: Record<string, string> = {}): Address {
  const kept = Object.fromEntries(SCOPE.flatMap((name) => {
    const value = address.params[name];
    return value === undefined ? [] : [[name, value]];
  }));
  return { page, params: { ...kept, ...params } };
}

/** A span of time in whole ns: "from,to". null if the text is not one. */
export function parseSpan(value: string | undefined): { from: number; to: number } | null {
  const match = /^(-?\d+),(-?\d+)$/.exec(value ?? '');
  if (match === null) return null;
  const [from, to] = [Number(match[1]), Number(match[2])];
  return from < to ? { from, to } : null;
}
export const formatSpan = (from: number, to: number) => `${Math.floor(from)},${Math.ceil(to)}`;

/** A stretch of one rank's recording, as answers give it: ns, `start` since the first event of its file. `rank` is null in a run of one. */
export interface Moment { rank: number | null; start: number; length: number }
export const formatMoment = ({ rank, start, length }: Moment) => `r${rank ?? ''},${start},${length}`;
export function parseMoment(value: string | undefined): Moment | null {
  const match = /^r(\d*),(-?\d+),(\d+)$/.exec(value ?? '');
  return match === null ? null : { rank: match[1] === '' ? null : Number(match[1]), start: Number(match[2]), length: Number(match[3]) };
}

export const parseList = (value: string | undefined) => (value ? value.split(',') : []);
