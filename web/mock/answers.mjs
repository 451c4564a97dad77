// Tiles, search, events and areas of a run that `kineto.mjs` read: by brute force, so that they are easily right.

const BUCKETS = 512;

function boxesOf(lane, level, tile) {
  const width = 2 ** level;
  const from = tile * BUCKETS * width;
  const to = from + BUCKETS * width;
  const rows = Array.from({ length: lane.rows }, () => []);
  const pending = new Map();
  for (const event of lane.list) {
    if (event.end <= from || event.start >= to) continue;
    const begin = Math.max(0, Math.floor((event.start - from) / width));
    const end = Math.min(BUCKETS, Math.max(begin + 1, Math.ceil((event.end - from) / width)));
    const flags = (event.start < from ? 1 : 0) | (event.end > to ? 2 : 0) | (event.family === 11 ? 4 : 0);
    if (event.end - event.start >= width) {
      rows[event.row].push({ event, count: 1, begin, end, busy: 255, flags });
      continue;
    }
    const key = `${event.row}/${begin}`;
    const box = pending.get(key);
    if (box === undefined) {
      const made = { event, count: 1, begin, end: begin + 1, filled: event.end - event.start, flags: flags & 4 };
      pending.set(key, made);
      rows[event.row].push(made);
    } else {
      ++box.count;
      box.filled += event.end - event.start;
      if (event.end - event.start > box.event.end - box.event.start) box.event = event;
    }
  }
  for (const box of pending.values()) box.busy = Math.min(255, Math.ceil((box.filled / width) * 255));
  for (const row of rows) row.sort((a, b) => a.begin - b.begin || a.end - b.end);
  return rows;
}

class Writer {
  parts = [];
  column(Type, values) {
    const bytes = Buffer.from(Type.from(values).buffer);
    this.parts.push(bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8));
  }
  header(magic, rows, boxes) {
    const head = Buffer.alloc(16);
    head.writeUInt32LE(magic, 0);
    head.writeUInt16LE(1, 4);
    head.writeUInt32LE(rows, 8);
    head.writeUInt32LE(boxes, 12);
    this.parts.push(head);
  }
  bytes() { return Buffer.concat(this.parts); }
}

export function tileOf(run, level, tile, lanes) {
  const rows = lanes.flatMap((index) => run.lanes[index] === undefined ? [] : boxesOf(run.lanes[index], level, tile)
    .map((boxes, row) => ({ lane: index, row, boxes })).filter(({ boxes }) => boxes.length > 0));
  const boxes = rows.flatMap((row) => row.boxes);
  const out = new Writer();
  out.header(0x454c4954, rows.length, boxes.length);
  out.column(Uint32Array, rows.map((row) => row.lane));
  out.column(Uint32Array, rows.map((row) => row.row));
  out.column(Uint32Array, rows.map((row) => row.boxes.length));
  out.column(Uint32Array, boxes.map((box) => box.event.id));
  out.column(Uint32Array, boxes.map((box) => box.event.nameId));
  out.column(Uint32Array, boxes.map((box) => box.count));
  out.column(Uint16Array, boxes.map((box) => box.begin));
  out.column(Uint16Array, boxes.map((box) => box.end));
  out.column(Uint8Array, boxes.map((box) => box.busy));
  out.column(Uint8Array, boxes.map((box) => box.event.family));
  out.column(Uint8Array, boxes.map((box) => box.flags));
  return out.bytes();
}

export function countersOf(run, level, tile, wanted) {
  const width = 2 ** level;
  const from = tile * BUCKETS * width;
  const all = wanted.filter((index) => run.counters[index] !== undefined).map((index) => {
    const filled = new Float64Array(BUCKETS);
    for (const lane of run.counters[index].lanes) {
      for (const event of lane.list) {
        const first = Math.max(0, Math.floor((event.start - from) / width));
        const last = Math.min(BUCKETS - 1, Math.floor((event.end - 1 - from) / width));
        for (let i = first; i <= last; ++i) filled[i] += Math.min(event.end, from + (i + 1) * width) - Math.max(event.start, from + i * width);
      }
    }
    const boxes = [];
    filled.forEach((sum, i) => {
      const value = Math.fround(Math.min(1, sum / width));
      if (boxes.at(-1)?.value === value) boxes.at(-1).end = i + 1;
      else boxes.push({ begin: i, end: i + 1, value });
    });
    return { index, boxes };
  });
  const out = new Writer();
  out.header(0x4e554d53, all.length, all.reduce((sum, one) => sum + one.boxes.length, 0));
  for (const { index, boxes } of all) {
    out.parts.push(Buffer.from(Uint32Array.of(index, boxes.length).buffer));
    for (const box of boxes) {
      const bytes = Buffer.alloc(12);
      bytes.writeUInt16LE(box.begin, 0);
      bytes.writeUInt16LE(box.end, 2);
      bytes.writeFloatLE(box.value, 4);
      bytes.writeFloatLE(box.value, 8);
      out.parts.push(bytes);
    }
  }
  return out.bytes();
}

const place = (event) => ({ rank: event.rank, id: event.id, lane: event.lane, row: event.row, start: event.start, end: event.end });

export function searchIn(run, params) {
  const asked = (params.get('q') ?? '').split(' ');
  const limit = (sign, none) => Number(asked.find((word) => word.startsWith(`dur${sign}`))?.slice(4).replace('ns', '') ?? none);
  const words = asked.filter((word) => !/^dur[<>]/.test(word)).join(' ').toLowerCase();
  const [longer, shorter] = [limit('>', -1), limit('<', Infinity)];
  const all = run.lanes.flatMap((lane) => lane.list)
    .filter((event) => event.name.toLowerCase().includes(words) && event.end - event.start > longer && event.end - event.start < shorter);
  const names = new Map();
  const density = new Array(512).fill(0);
  for (const event of all) {
    const one = names.get(event.nameId) ?? { name: event.name, id: event.nameId, count: 0, time: 0 };
    ++one.count;
    one.time += event.end - event.start;
    names.set(event.nameId, one);
    ++density[Math.min(511, Math.floor((event.start / run.end) * 512))];
  }
  const answer = { total: all.length, names: [...names.values()].sort((a, b) => b.time - a.time).slice(0, 200), more_names: Math.max(0, names.size - 200), density };
  const [lane, line] = [Number(params.get('lane')), Number(params.get('row'))];
  const sorted = all.sort((a, b) => a.start - b.start || a.lane - b.lane || a.row - b.row);
  const behind = (event, time) => event.start - time || event.lane - lane || event.row - line;
  if (params.has('after')) answer.hit = sorted.find((event) => behind(event, Number(params.get('after'))) > 0);
  if (params.has('before')) answer.hit = sorted.findLast((event) => behind(event, Number(params.get('before'))) < 0);
  if (params.has('after') || params.has('before')) answer.hit = answer.hit === undefined ? null : place(answer.hit);
  return answer;
}

function linksOf(run, event) {
  const { events } = run.byRank.get(event.rank);
  const correlation = event.raw.args?.correlation;
  const external = event.raw.args?.['External id'];
  const sequence = event.raw.args?.['Sequence number'];
  const links = [];
  const add = (what, other) => links.push({ what, name: other.name, ...place(other) });
  for (const other of events.values()) {
    if (other === event) continue;
    const onDevice = (one) => run.lanes[one.lane].side === 'device';
    if (correlation !== undefined && other.raw.args?.correlation === correlation && onDevice(other) !== onDevice(event)) {
      add(onDevice(other) ? 'launches' : 'launched by', other);
    } else if (external !== undefined && other.raw.args?.['External id'] === external && other.cat === 'cpu_op' && event.cat !== 'cpu_op') {
      add('op', other);
    } else if (sequence !== undefined && other.raw.args?.['Sequence number'] === sequence && (other.family === 7) !== (event.family === 7)) {
      add(other.family === 7 ? 'backward' : 'forward', other);
    }
  }
  return links;
}

export function eventOf(run, rank, id) {
  const event = run.byRank.get(rank)?.events.get(id);
  if (event === undefined) return null;
  const { list } = run.lanes[event.lane];
  const row = list.filter((one) => one.row === event.row);
  const at = row.indexOf(event);
  const step = run.steps.find((one) => one.rank === rank && one.start <= event.start && event.start < one.end);
  const stack = [];
  for (let up = event; up !== undefined && up.parent !== null; ) {
    up = run.byRank.get(rank).events.get(up.parent);
    const frame = /^(.+)\((\d+)\): (.+)$/.exec(up?.name ?? '');
    if (frame) stack.push({ name: frame[3], file: frame[1], line: Number(frame[2]) });
  }
  return {
    ...place(event), name: event.name, kind: event.cat, category: event.cat, step: step?.number ?? null,
    parent: event.parent, next: row[at + 1]?.id ?? null, previous: row[at - 1]?.id ?? null,
    args: Object.entries(event.raw.args ?? {}), stack, links: linksOf(run, event),
  };
}

export function areaOf(run, from, to, lanes) {
  const names = new Map();
  let all = 0;
  for (const index of lanes) {
    for (const event of run.lanes[index]?.list ?? []) {
      const time = Math.min(event.end, to) - Math.max(event.start, from);
      if (time <= 0) continue;
      const one = names.get(event.name) ?? { count: 0, total: 0, all: [] };
      ++one.count;
      one.total += time;
      one.all.push(time);
      names.set(event.name, one);
      if (event.row === 0) all += time;
    }
  }
  const at = (list, share) => list.sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))];
  const column = (name, unit, role) => ({ name, unit, role });
  return {
    report: 'area',
    notes: [`Lanes: ${lanes.length}. Times are cut at the edges of the span.`],
    tables: [{
      title: 'By name', shape: 'table',
      columns: [column('name', '', 'key'), column('count', 'count', 'value'), column('total', 'ns', 'value'), column('share', 'share', 'share'),
        column('mean', 'ns', 'value'), column('median', 'ns', 'value'), column('p95', 'ns', 'value'), column('max', 'ns', 'value')],
      rows: [...names].sort((a, b) => b[1].total - a[1].total).map(([name, one]) => [name, one.count, one.total,
        Math.min(1, one.total / Math.max(1, all)), Math.round(one.total / one.count), at(one.all, 0.5), at(one.all, 0.95), Math.max(...one.all)]),
    }],
  };
}
