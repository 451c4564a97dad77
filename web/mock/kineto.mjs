// Reads Kineto JSON into what the page draws, simply and slowly: a stand-in for the program's room `lanes`.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const DEVICE = new Set(['kernel', 'gpu_memcpy', 'gpu_memset', 'gpu_user_annotation']);
const FAMILY = { compute: 0, elementwise: 1, attention: 2, communication: 3, copy: 4, fill: 5, host: 6, backward: 7, python: 8, data: 9, runtime: 10, waiting: 11, other: 12 };

function readJson(file) {
  const bytes = readFileSync(file);
  return JSON.parse(bytes[0] === 0x1f ? gunzipSync(bytes) : bytes);
}

export function filesOf(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).filter((name) => /\.json(\.gz)?$/.test(name)).sort().map((name) => join(path, name));
}

function familyOf(event, backward) {
  const name = event.name.toLowerCase();
  switch (event.cat) {
    case 'kernel':
      if (/nccl|rccl/.test(name)) return FAMILY.communication;
      if (/flash|attention|fmha/.test(name)) return FAMILY.attention;
      return /gemm|conv|cutlass|matmul|mma/.test(name) ? FAMILY.compute : FAMILY.elementwise;
    case 'gpu_memcpy': return FAMILY.copy;
    case 'gpu_memset': return FAMILY.fill;
    case 'python_function': return FAMILY.python;
    case 'cuda_runtime': case 'cuda_driver': return /synchronize/.test(name) ? FAMILY.waiting : FAMILY.runtime;
    case 'user_annotation': case 'gpu_user_annotation': return /dataloader/.test(name) ? FAMILY.data : FAMILY.other;
    case 'cpu_op': return backward ? FAMILY.backward : FAMILY.host;
    default: return FAMILY.other;
  }
}

// A range below the one that it is in; what overlaps without nesting moves down to a free row.
function layOut(events) {
  events.sort((a, b) => a.start - b.start || b.end - a.end);
  let open = [];
  for (const event of events) {
    open = open.filter((one) => one.end > event.start);
    const parent = open.filter((one) => one.end >= event.end).reduce((best, one) => (best === null || one.row > best.row ? one : best), null);
    event.row = parent === null ? 0 : parent.row + 1;
    while (open.some((one) => one.row === event.row)) ++event.row;
    event.parent = parent?.id ?? null;
    open.push(event);
  }
  return events.reduce((most, event) => Math.max(most, event.row + 1), 1);
}

function laneOf(rank, key, list, names) {
  const [first] = list;
  const device = DEVICE.has(first.cat);
  const stream = first.raw.args?.stream ?? first.raw.tid;
  const role = device
    ? (list.some((one) => one.family === FAMILY.communication) ? 'communication' : 'compute')
    : list.some((one) => /^ProfilerStep#/.test(one.name)) ? 'main'
      : list.some((one) => /^autograd::engine/.test(one.name)) ? 'autograd' : 'thread';
  const title = device ? `GPU ${first.raw.pid} stream ${stream}` : names.get(`${first.raw.pid}/${first.raw.tid}`) ?? `thread ${first.raw.tid}`;
  return {
    key: device ? `r${rank}/d${first.raw.pid}s${stream}` : `r${rank}/t${first.raw.tid}`,
    rank, side: device ? 'device' : 'host', role, title, events: list.length, list,
    name: device ? `stream ${stream}` : role === 'thread' ? `thread ${first.raw.tid}` : role,
  };
}

export function readRun(path) {
  const ranks = filesOf(path).map((file, index) => {
    const json = readJson(file);
    return { rank: json.distributedInfo?.rank ?? index, raw: json.traceEvents };
  });
  const timed = (one) => one.ph === 'X' && one.cat !== 'Trace' && typeof one.dur === 'number';
  const origin = Math.min(...ranks.flatMap(({ raw }) => raw.filter(timed).map((one) => one.ts)));
  const names = [];
  const ids = new Map();
  const nameId = (name) => ids.get(name) ?? (ids.set(name, names.length), names.push(name) - 1);
  const lanes = [];
  const steps = [];
  const byRank = new Map();
  for (const { rank, raw } of ranks) {
    const threads = new Map(raw.filter((one) => one.ph === 'M' && one.name === 'thread_name').map((one) => [`${one.pid}/${one.tid}`, one.args.name.trim()]));
    const backwardThreads = new Set(raw.filter((one) => /^autograd::engine/.test(one.name ?? '')).map((one) => one.tid));
    const groups = new Map();
    const events = new Map();
    raw.forEach((one, id) => {
      if (!timed(one)) return;
      const start = Math.round((one.ts - origin) * 1000);
      const event = { id, rank, raw: one, name: one.name, nameId: nameId(one.name), cat: one.cat, start, end: Math.max(start + 1, Math.round((one.ts + one.dur - origin) * 1000)), family: familyOf(one, backwardThreads.has(one.tid)) };
      events.set(id, event);
      const key = `${one.pid}/${one.tid}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(event);
      const step = /^ProfilerStep#(\d+)$/.exec(one.name);
      if (step && one.cat === 'user_annotation') steps.push({ rank, number: Number(step[1]), start, end: event.end });
    });
    byRank.set(rank, { events, raw });
    for (const [key, list] of groups) {
      const lane = laneOf(rank, key, list, threads);
      lane.rows = layOut(list);
      lanes.push(lane);
    }
  }
  const order = ['communication', 'compute', 'copy', 'main', 'autograd', 'loader', 'thread', 'other'];
  lanes.sort((a, b) => a.rank - b.rank || (a.side === b.side ? order.indexOf(a.role) - order.indexOf(b.role) : a.side === 'device' ? -1 : 1));
  lanes.forEach((lane, index) => { lane.lane = index; lane.list.forEach((event) => { event.lane = index; }); });
  const end = Math.max(...lanes.flatMap((lane) => lane.list.map((event) => event.end)));
  return { names, lanes, steps: steps.sort((a, b) => a.rank - b.rank || a.start - b.start), end, byRank, counters: countersOf(lanes) };
}

// How busy each device is: the share of each of 256 parts of the run in which any kernel ran.
function countersOf(lanes) {
  const devices = new Map();
  for (const lane of lanes.filter((one) => one.side === 'device')) {
    const key = lane.key.replace(/s\w+$/, '');
    if (!devices.has(key)) devices.set(key, { key: `${key}/busy`, rank: lane.rank, name: `GPU ${/d(\d+)/.exec(key)[1]} busy`, unit: 'share', max: 1, lanes: [] });
    devices.get(key).lanes.push(lane);
  }
  return [...devices.values()].map((one, counter) => ({ ...one, counter }));
}
