// The sentence that an analysis answers with: its most telling numbers, found by the names and units of columns alone.
import { number, rowsWith, text, type Row } from '../data/table.ts';
import type { Report } from '../data/types.ts';
import { shortName, shortPlace } from '../words/names.ts';
import { formatValue } from '../words/units.ts';
import { absent } from './absent.ts';
import { changeWords } from './changes.ts';

const TOP = 10;
const MAX_NAME = 72;
const MAX_PLACE = 48;
const SHORT_NS = 5000; // kernels below it cost about as much to launch as to run
const MAX_REPLAY_ERROR = 0.05;
const ADDRESS = / object at 0x[0-9a-f]+/i;

const ns = (value: number) => formatValue(Math.round(value), 'ns');
const bytes = (value: number) => formatValue(value, 'bytes');
const count = (value: number) => formatValue(value, 'count');
const share = (part: number, whole = 1) => formatValue(whole === 0 ? 0 : part / whole, 'share');
const many = (value: number, one: string, several = `${one}s`) => `${count(value)} ${value === 1 ? one : several}`;
const took = (value: number, one: string, several?: string) => `${many(value, one, several)} ${value === 1 ? 'takes' : 'take'}`;
const capital = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);
const sum = (rows: readonly Row[], name: string) => rows.reduce((all, row) => all + (number(row[name]) ?? 0), 0);
const least = (rows: readonly Row[], name: string) => most(rows, (row) => -(number(row[name]) ?? Infinity));

function named(cell: Row[string] | undefined): string {
  const name = shortPlace(shortName(text(cell)).replace(ADDRESS, ''), MAX_PLACE);
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name;
}

function most(rows: readonly Row[], value: string | ((row: Row) => number)): Row {
  const of = typeof value === 'string' ? (row: Row) => number(row[value]) ?? -Infinity : value;
  return rows.reduce((best, row) => (of(row) > of(best) ? row : best), rows[0]!);
}

interface Part { name: string; value: number }

/** Sums of a column by another one, the largest first. */
function parts(rows: readonly Row[], key: string, value: string): Part[] {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(text(row[key]), (sums.get(text(row[key])) ?? 0) + (number(row[value]) ?? 0));
  return [...sums].map(([name, all]) => ({ name, value: all })).sort((a, b) => b.value - a.value);
}

const severalRanks = (rows: readonly Row[]) => new Set(rows.map((row) => text(row.rank))).size > 1;
const ofRank = (row: Row, rows: readonly Row[]) => (severalRanks(rows) ? ` of rank ${text(row.rank)}` : '');
const onRank = (row: Row, rows: readonly Row[]) => (severalRanks(rows) ? ` on rank ${text(row.rank)}` : '');

type Sentence = (report: Report) => string | null;

const operators: Sentence = (report) => {
  const rows = rowsWith(report, { name: '', host_self: 'ns', device_self: 'ns' });
  const device = rows.some((row) => number(row.device_self));
  const all = parts(rows, 'name', device ? 'device_self' : 'host_self');
  const whole = all.reduce((time, one) => time + one.value, 0);
  if (whole === 0) return null;
  const what = device ? 'device time' : 'host self time';
  const first = `${named(all[0]!.name)} takes most, ${share(all[0]!.value, whole)}`;
  if (all.length <= TOP) return `${took(all.length, 'operator')} ${ns(whole)} of ${what}; ${first}.`;
  const top = all.slice(0, TOP).reduce((time, one) => time + one.value, 0);
  return `${TOP} of ${count(all.length)} operators take ${share(top, whole)} of ${what}, ${ns(top)} of ${ns(whole)}; ${first}.`;
};

const kernels: Sentence = (report) => {
  const rows = rowsWith(report, { name: '', count: 'count', total: 'ns', p95: 'ns' });
  const ran = sum(rows, 'count');
  if (ran === 0) return null;
  const names = new Set(rows.map((row) => row.name)).size;
  const kinds = rowsWith(report, { kind: '', total: 'ns', share: 'share' });
  const [first] = parts(kinds, 'kind', 'total');
  const brief = rowsWith(report, { below: 'ns', count: 'count', time_share: 'share' }).filter((row) => row.below === SHORT_NS);
  return `${many(ran, 'kernel')} of ${took(names, 'name')} ${ns(sum(rows, 'total'))} of device time`
    + (first && first.value > 0 ? `; ${first.name} kernels take ${share(first.value, sum(kinds, 'total'))} of compute` : '')
    + (sum(brief, 'count') > 0 ? `; ${share(sum(brief, 'count'), ran)} of all are shorter than ${ns(SHORT_NS)}.` : '.');
};

const modules: Sentence = (report) => {
  const rows = rowsWith(report, { module: '', depth: '', host_self: 'ns', device_share: 'share' });
  if (rows.length === 0) return null;
  const device = rows.some((row) => number(row.device_share));
  const own = (row: Row) => (device ? (number(row.device_self) ?? 0) + (number(row.backward_device_self) ?? 0) : number(row.host_self) ?? 0);
  const root = most(rows, (row) => (row.depth === 0 ? number(row[device ? 'device_share' : 'host_total']) ?? 0 : -1));
  const best = most(rows, own);
  const whole = device ? `takes ${share(number(root.device_share) ?? 0)} of device time` : `takes ${ns(number(root.host_total) ?? 0)} of host time`;
  return `${named(root.module)} with all that it calls ${whole}${onRank(root, rows)}`
    + (own(best) > 0 ? `; by itself ${named(best.module)} costs most, ${ns(own(best))}.` : '.');
};

const memoryEvents: Sentence = (report) => {
  const rows = rowsWith(report, { device: '', peak_allocated: 'bytes', peak_change: 'bytes', peak_time: 'ns' });
  if (rows.length === 0) return null;
  const size = (row: Row) => number(row.peak_allocated) ?? number(row.peak_change) ?? 0;
  const onDevices = rows.filter((row) => number(row.capacity) !== null || number(row.peak_reserved)); // the host's memory is seldom the one that is full
  const peak = most(onDevices.length > 0 ? onDevices : rows, size);
  const alive = rowsWith(report, { device: '', op: '', bytes: 'bytes', share: 'share' })
    .filter((row) => row.device === peak.device && row.rank === peak.rank);
  const capacity = number(peak.capacity);
  return `Peak ${bytes(size(peak))}${capacity === null ? '' : ` of ${bytes(capacity)}`} on ${text(peak.device)}${ofRank(peak, rows)}`
    + `${peak.step === null ? '' : `, in step ${text(peak.step)}`} at ${ns(number(peak.peak_time) ?? 0)}`
    + (alive.length > 0 ? `; largest part: ${named(most(alive, 'bytes').op)}, ${share(number(most(alive, 'bytes').share) ?? 0)}.` : '.');
};

const moduleMemory: Sentence = (report) => {
  const rows = rowsWith(report, { module: '', self_bytes: 'bytes', share: 'share' });
  if (rows.length === 0) return null;
  const best = most(rows, 'self_bytes');
  return `Largest part at the memory peak${onRank(best, rows)}: ${named(best.module)}, ${bytes(number(best.self_bytes) ?? 0)}.`;
};

const memoryPeak: Sentence = (report) => {
  const [held] = rowsWith(report, { place: '', bytes: 'bytes', share: 'share', largest: 'bytes' });
  return held === undefined ? null : `${text(held.place)} holds most: ${bytes(number(held.bytes) ?? 0)}, ${share(number(held.share) ?? 0)} of what is held then.`;
};

const memoryCurve: Sentence = (report) => {
  const marks = rowsWith(report, { instant: '', event: '', requested: 'bytes', asked: 'bytes' });
  const peaks = marks.filter((row) => row.asked === null);
  if (peaks.length === 0) return null;
  const peak = most(peaks, 'requested');
  const isOf = (row: Row) => row.device === peak.device && row.rank === peak.rank;
  const [held] = rowsWith(report, { place: '', event: '', bytes: 'bytes' }).filter((row) => isOf(row) && row.event === peak.event);
  const failed = marks.find((row) => isOf(row) && row.asked !== null);
  return `Peak ${bytes(number(peak.requested) ?? 0)}${peaks.length > 1 ? ` on device ${text(peak.device)}${ofRank(peak, marks)}` : ''}`
    + (held === undefined ? '' : `; ${named(held.place)} holds most of it, ${share(number(held.bytes) ?? 0, number(peak.requested) ?? 0)}`)
    + (failed === undefined ? '.' : `. An allocation of ${bytes(number(failed.asked) ?? 0)} failed.`);
};

const memoryState: Sentence = (report) => {
  const rows = rowsWith(report, { segment: '', size: 'bytes', free: 'bytes', largest_free: 'bytes' });
  return rows.length === 0 ? null : `${bytes(sum(rows, 'free'))} of ${bytes(sum(rows, 'size'))} in segments is free; the largest piece is ${bytes(number(most(rows, 'largest_free').largest_free) ?? 0)}.`;
};

const leaks: Sentence = (report) => {
  const [row] = rowsWith(report, { place: '', growth: 'bytes', rising: 'share' });
  return row === undefined ? null : `${text(row.place)} grows most: ${bytes(number(row.growth) ?? 0)} per step.`;
};

const stragglers: Sentence = (report) => {
  const averages = rowsWith(report, { rank: '', wait: 'ns', transfer: 'ns', total: 'ns' });
  if (averages.length < 2) return null;
  const rows = rowsWith(report, { rank: '', when: '', part: '', cost: 'ns' });
  if (rows.length > 0) {
    const worst = most(rows, 'cost');
    const late = rows.length === 1 ? `Rank ${text(worst.rank)} is late` : `${many(new Set(rows.map((row) => row.rank)).size, 'rank is', 'ranks are')} late, most rank ${text(worst.rank)}`;
    const cost = number(worst.cost);
    return `${late} in ${text(worst.when)}, by its ${text(worst.part)}: ${ns(number(worst.time) ?? 0)} where the others take ${ns(number(worst.others_time) ?? 0)}`
      + (cost === null ? '.' : `; keeping pace would save ${ns(cost)} per step.`);
  }
  const waiting = most(averages, 'wait');
  return `${averages.length === 2 ? 'Two ranks cannot show which one is late.' : 'No rank is late again and again.'} Rank ${text(waiting.rank)} waits longest for others, ${ns(number(waiting.wait) ?? 0)} of its ${ns(number(waiting.total) ?? 0)} step.`;
};

const communication: Sentence = (report) => {
  const rows = rowsWith(report, { communication: 'ns', exposed: 'ns', overlap: 'share' }).filter((row) => number(row.communication));
  if (rows.length === 0) return null;
  const worst = most(rows, 'exposed');
  const wait = number(worst.exposed_wait);
  return `${share(number(worst.exposed) ?? 0, number(worst.communication) ?? 0)} of communication is not hidden behind compute${onRank(worst, rows)}: `
    + `${ns(number(worst.exposed) ?? 0)} of ${ns(number(worst.communication) ?? 0)}${wait === null ? '.' : `, ${ns(wait)} of it waiting for other ranks.`}`;
};

const collectives: Sentence = (report) => {
  const rows = rowsWith(report, { collective: '', count: 'count', total: 'ns', exposed: 'ns' });
  const total = sum(rows, 'total');
  if (total === 0) return null;
  const [first] = parts(rows, 'collective', 'total');
  return `${took(sum(rows, 'count'), 'collective')} ${ns(total)}, ${share(sum(rows, 'exposed'), total)} without compute beside it; ${first!.name} takes most, ${ns(first!.value)}.`;
};

const pipeline: Sentence = (report) => {
  const rows = rowsWith(report, { stage: '', bubble: 'ns', bubble_share: 'share', ideal_share: 'share', stages: 'count' });
  if (rows.length === 0) return null;
  const worst = most(rows, 'bubble_share');
  return `Stage ${text(worst.stage)} (rank ${text(worst.rank)}) has the largest bubble: ${share(number(worst.bubble_share) ?? 0)} of its step; filling and draining alone would be ${share(number(worst.ideal_share) ?? 0)}.`;
};

const clockAlignment: Sentence = (report) => {
  const rows = rowsWith(report, { rank: '', state: '', offset: 'ns', error_edge: 'ns' });
  if (rows.length < 2) return null;
  const known = rows.filter((row) => number(row.offset) !== null && number(row.error_edge) !== null);
  const lost = rows.filter((row) => !known.includes(row)).map((row) => text(row.rank));
  if (known.length === 0) return `The clocks of ${count(rows.length)} ranks cannot be compared.`;
  return `${many(known.length, 'clock')} of ${count(rows.length)} can be compared; a time is off by at most ${ns(number(most(known, 'error_edge').error_edge) ?? 0)}`
    + (lost.length > 0 ? `; not that of rank ${lost.join(', ')}.` : '.');
};

const inputWait: Sentence = (report) => {
  const rows = rowsWith(report, { step: '', total: 'ns', share: 'share', exposed: 'ns', max: 'ns' });
  if (rows.length === 0) return null;
  const total = sum(rows, 'total');
  const worst = most(rows, 'share');
  const exposed = rows.some((row) => row.exposed !== null);
  return `A step waits ${ns(total / rows.length)} for data on average; step ${text(worst.step)}${ofRank(worst, rows)} most, ${share(number(worst.share) ?? 0)} of its time`
    + (exposed && total > 0 ? `. No device works in ${share(sum(rows, 'exposed'), total)} of these waits.` : '.');
};

const io: Sentence = (report) => {
  const rows = rowsWith(report, { window: 'ns', io: 'ns', read: 'bytes', written: 'bytes', files: 'count' });
  if (rows.length === 0) return null;
  return `Calls on ${many(sum(rows, 'files'), 'file')} take ${share(sum(rows, 'io'), sum(rows, 'window'))} of the time and move ${bytes(sum(rows, 'read') + sum(rows, 'written'))}.`;
};

const lines: Sentence = (report) => {
  const rows = rowsWith(report, { line: '', share: 'share', total: 'ns', in_ops: 'ns' });
  if (rows.length === 0) return null;
  const own = most(rows, 'self');
  const window = (number(own.total) ?? 0) / (number(own.share) || 1);
  return `${named(own.line)} costs most by itself: ${ns(number(own.self) ?? 0)}, ${share(number(own.self) ?? 0, window)} of the main thread's time.`;
};

const pythonStacks: Sentence = (report) => {
  const rows = rowsWith(report, { stack: '', time: 'ns' });
  const total = sum(rows, 'time');
  if (total === 0) return null;
  const leaves = rows.map((row) => ({ leaf: text(row.stack).split(';').at(-1) ?? '', time: row.time ?? null }));
  const [first] = parts(leaves, 'leaf', 'time');
  return `${named(first!.name)} takes most by itself, ${share(first!.value, total)} of ${ns(total)} in ${many(rows.length, 'stack')}.`;
};

const callTree: Sentence = (report) => {
  const rows = rowsWith(report, { name: '', depth: '', host_total: 'ns', host_self: 'ns' });
  const [first] = parts(rows, 'name', 'host_self');
  if (first === undefined || first.value === 0) return null;
  return `${named(first.name)} takes most host time by itself, ${ns(first.value)} of ${ns(sum(rows, 'host_self'))} over all threads.`;
};

const CAUSES: Record<string, string> = {
  input: 'waiting for data', sync: 'blocking calls', refill: 'refilling the queue after a blocking call', alloc: 'allocating memory', launch: 'launch calls',
  runtime: 'runtime calls', io: 'file I/O', op: 'operators on the host', python: 'Python', annotation: 'the program\'s own ranges', pending: 'launched work that has not begun',
  untraced: 'host time that nothing covers',
};

const idle: Sentence = (report) => {
  const rows = rowsWith(report, { device: '', cause: '', time: 'ns', share: 'share', pieces: 'count' });
  if (rows.length === 0) return null;
  const devices = parts(rows.map((row) => ({ ...row, place: `${text(row.rank)}/${text(row.device)}` })), 'place', 'share');
  const mine = rows.filter((row) => `${text(row.rank)}/${text(row.device)}` === devices[0]!.name);
  const first = most(mine, 'time');
  return `${devices.length === 1 ? 'The device' : `Device ${text(first.device)}${ofRank(first, rows)}`} is idle ${share(devices[0]!.value)} of the time, ${ns(sum(mine, 'time'))}; the largest cause is ${CAUSES[text(first.cause)] ?? text(first.cause)}, ${share(number(first.share) ?? 0)}.`;
};

const devices: Sentence = (report) => {
  const rows = rowsWith(report, { device: '', utilization: 'share', busy: 'ns', window: 'ns' });
  if (rows.length === 0) return null;
  const worst = least(rows, 'utilization');
  const occupancy = number(worst.occupancy);
  const what = rows.length === 1 ? 'The device' : `Of ${count(rows.length)} devices, device ${text(worst.device)}${ofRank(worst, rows)}`;
  return `${what} works ${rows.length === 1 ? '' : 'least, '}${share(number(worst.utilization) ?? 0)} of the time${occupancy === null ? '.' : `; its kernels fill ${share(occupancy)} of its threads on average.`}`;
};

const ledger: Sentence = (report) => {
  const rows = rowsWith(report, { bound: '', reason: '' }).filter((row) => row.bound !== 'unknown');
  if (rows.length === 0) return null;
  const bounds = [...new Set(rows.map((row) => text(row.bound)))];
  const owners = rowsWith(report, { owner: '', time: 'ns', share: 'share' });
  const [first] = parts(owners, 'owner', 'time');
  return `The recording is ${bounds.join(' or ')}`
    + (first ? `; ${first.name} owns most of the devices' time, ${share(first.value, sum(owners, 'time'))}.` : '.');
};

const launches: Sentence = (report) => {
  const rows = rowsWith(report, { name: '', count: 'count', total: 'ns', p50: 'ns', events: 'count' });
  const calls = sum(rows, 'count');
  if (calls === 0) return null;
  const streams = rowsWith(report, { stream: '', events: 'count', queue_empty: 'share', delay_p50: 'ns' });
  const busy = streams.length > 0 ? most(streams, 'events') : null;
  const empty = number(busy?.queue_empty);
  return `${took(calls, 'launch', 'launches')} ${ns(sum(rows, 'total'))} of host time, ${ns(sum(rows, 'total') / calls)} each`
    + (busy !== null && empty !== null ? `; on stream ${text(busy.stream)}${ofRank(busy, streams)}, ${share(empty)} of the work found nothing queued before it.` : '.');
};

const products: Sentence = (report) => {
  const rows = rowsWith(report, { op: '', m: 'count', n: 'count', k: 'count', time: 'ns', share: 'share' });
  if (rows.length === 0) return null;
  const first = most(rows, 'time');
  const roof = number(first.share_of_roof);
  const size = first.m === null ? '' : ` of ${[first.m, first.n, first.k].map(text).join(' × ')}`;
  return `Matrix products take ${ns(sum(rows, 'time'))}; ${text(first.op)}${size} takes most, ${share(number(first.share) ?? 0)} of compute time`
    + (roof === null ? '.' : `, at ${share(roof)} of its roof.`);
};

const copies: Sentence = (report) => {
  const rows = rowsWith(report, { name: '', op: '', bytes: 'bytes', total: 'ns', exposed: 'ns' });
  const total = sum(rows, 'total');
  if (total === 0) return null;
  const first = most(rows, 'total');
  return `${many(sum(rows, 'count'), 'copy', 'copies')} of ${bytes(sum(rows, 'bytes'))} take ${ns(total)}, ${share(sum(rows, 'exposed'), total)} of it without a kernel beside`
    + `; ${text(first.op) === '' ? text(first.name) : named(first.op)} causes most, ${ns(number(first.total) ?? 0)}.`;
};

const kernelSequences: Sentence = (report) => {
  const rows = rowsWith(report, { sequence: '', count: 'count', kernel_time: 'ns' });
  if (rows.length === 0) return null;
  const first = most(rows, 'kernel_time');
  const [op, ...events] = text(first.sequence).split('|');
  return `${named(op ?? '')} launches the same ${many(events.length, 'kernel or copy', 'kernels and copies')} ${many(number(first.count) ?? 0, 'time')}: ${ns(number(first.kernel_time) ?? 0)} of device time.`;
};

const cuptiCounters: Sentence = (report) => {
  const rows = rowsWith(report, { range: '', kernel: '', counter: '', value: '' });
  if (rows.length === 0) return null;
  return `${many(new Set(rows.map((row) => row.counter)).size, 'counter')} of ${many(new Set(rows.map((row) => `${text(row.rank)}/${text(row.range)}`)).size, 'range')}.`;
};

const synchronizations: Sentence = (report) => {
  const rows = rowsWith(report, { call: '', op: '', cost: 'ns', refill: 'ns', count: 'count' });
  if (rows.length === 0) return null;
  const first = most(rows, 'cost');
  return `${many(sum(rows, 'count'), 'waiting call')} cost ${ns(sum(rows, 'cost'))} of idle device time`
    + `; most ${text(first.call)}${text(first.op) === '' ? '' : ` in ${named(first.op)}`}, ${ns(number(first.cost) ?? 0)}.`;
};

const STEP_MARK = /^ProfilerStep#/;

const userAnnotations: Sentence = (report) => {
  const rows = rowsWith(report, { side: '', name: '', sum: 'ns', count: 'count' }).filter((row) => row.side === 'host' && !STEP_MARK.test(text(row.name)));
  if (rows.length === 0) return null;
  const [first] = parts(rows, 'name', 'sum');
  return `${named(first!.name)} is the longest of the program's own ranges: ${ns(first!.value)} in ${many(sum(rows.filter((row) => row.name === first!.name), 'count'), 'call')}.`;
};

const BOUND_BY: Record<string, string> = {
  cpu_bound: 'work of the host', gpu_compute_bound: 'device compute and copies', gpu_communication_bound: 'communication',
  gpu_kernel_launch_overhead: 'launch latency', gpu_kernel_kernel_overhead: 'gaps between kernels',
};

const criticalPath: Sentence = (report) => {
  const rows = rowsWith(report, { bound_by: '', time: 'ns', share: 'share' });
  const [first] = parts(rows, 'bound_by', 'time');
  if (first === undefined || first.value === 0) return null;
  return `${share(first.value, sum(rows, 'time'))} of the critical path is ${BOUND_BY[first.name] ?? first.name}: ${ns(first.value)} of ${ns(sum(rows, 'time'))}.`;
};

const ROLES: Record<string, string> = {
  kernel: 'compute kernels', communication: 'exposed communication', memcpy: 'copies', memset: 'fills', runtime: 'runtime calls',
  data_loader: 'waiting for the data loader', cpu_exec: 'work of the host', other: 'time that nothing covers',
};

const steps: Sentence = (report) => {
  const rows = rowsWith(report, { role: '', time: 'ns', share: 'share' });
  if (rows.length === 0) return null;
  const [slowest] = parts(rows, 'rank', 'time');
  const mine = rows.filter((row) => text(row.rank) === slowest!.name);
  const first = most(mine, 'share');
  return `A step${ofRank(first, rows)} takes ${ns(slowest!.value)} on average; the largest part is ${ROLES[text(first.role)] ?? text(first.role)}, ${share(number(first.share) ?? 0)}.`;
};

const phases: Sentence = (report) => {
  const rows = rowsWith(report, { phase: '', time: 'ns', share: 'share' });
  const [first, second] = parts(rows, 'phase', 'time');
  if (first === undefined || first.value === 0) return null;
  const whole = sum(rows, 'time');
  return `${capital(first.name)} takes ${share(first.value, whole)} of the host's time${second && second.value > 0 ? `, ${second.name} ${share(second.value, whole)}` : ''}.`;
};

const hostTime: Sentence = (report) => {
  const rows = rowsWith(report, { cause: '', place: '', time: 'ns', longest: 'ns' });
  const [first] = parts(rows, 'place', 'time');
  if (first === undefined || first.value === 0) return null;
  return `${first.name === '' ? 'Time that no range covers' : named(first.name)} takes most of the main thread's time: ${ns(first.value)} of ${ns(sum(rows, 'time'))}.`;
};

const overview: Sentence = (report) => {
  const times = rowsWith(report, { fact: '', time: 'ns' });
  const of = (fact: string) => number(times.find((row) => row.fact === fact)?.time);
  const [window, busy, step] = [of('window'), of('busy'), of('step_median')];
  if (window === null) return null;
  return `${ns(window)} are analysed${step === null ? '' : `, the median step takes ${ns(step)}`}${busy === null ? '; no device work is recorded.' : `; a device works in ${share(busy, window)} of them.`}`;
};

const whatif: Sentence = (report) => {
  const [replay] = rowsWith(report, { recorded: 'ns', identity: 'ns', error: 'share' });
  const rows = rowsWith(report, { change: '', step: 'ns', saving: 'ns', share: 'share' }).filter((row) => text(row.change).includes('=')); // without the row that makes all of them
  const error = Math.abs(number(replay?.error) ?? 0);
  if (error > MAX_REPLAY_ERROR) return `The replay is ${share(error)} off the recorded step, so savings are not told.`;
  if (rows.length === 0 || rows.every((row) => number(row.saving) === null)) return null;
  const best = most(rows, 'saving');
  if ((number(best.saving) ?? 0) <= 0) return 'None of the usual changes alone would make the step shorter.';
  return `${capital(changeWords(text(best.change)))} would save most: ${ns(number(best.saving) ?? 0)} per step (${share(number(best.share) ?? 0)}), to ${ns(number(best.step) ?? 0)}.`;
};

const SENTENCES: Record<string, Sentence> = {
  operators, kernels, modules, memory_events: memoryEvents, module_memory: moduleMemory,
  memory_curve: memoryCurve, memory_peak: memoryPeak, memory_state: memoryState, leaks, stragglers, communication, collectives, pipeline,
  clock_alignment: clockAlignment, input_wait: inputWait, io, lines, python_stacks: pythonStacks, call_tree: callTree, idle, devices, ledger,
  launches, products, copies, kernel_sequences: kernelSequences, cupti_counters: cuptiCounters, synchronizations,
  user_annotations: userAnnotations, critical_path: criticalPath, steps, phases, host_time: hostTime, overview, whatif,
};

export interface Lead { sentence: string; known: boolean; remedy: string }

/** What an analysis answers; where its numbers are absent, that, and what would record them unless its notes say so. */
export function leadOf(report: Report): Lead {
  const sentence = SENTENCES[report.report]?.(report) ?? null;
  if (sentence !== null) return { sentence, known: true, remedy: '' };
  const { fact, remedy } = absent(report.report);
  return { sentence: fact, known: false, remedy: report.notes.length > 0 ? '' : remedy };
}
