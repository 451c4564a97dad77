import { expect, test } from 'vitest';
import { decodeEvents, tileOf } from './events.ts';
import { search } from './find.ts';

interface Made { start: number; end: number; id: number; name: number; family?: number }

/** A block of rows on lane 3, as the program writes it. */
function block(rows: Made[][]): ArrayBuffer {
  const all = rows.flat();
  const bytes: number[] = [];
  const number = (value: number, width: number) => { for (let i = 0; i < width; ++i) bytes.push(Math.floor(value / 256 ** i) % 256); };
  const planes = (values: number[], width: number) => {
    for (let i = 0; i < width; ++i) for (const value of values) bytes.push(Math.floor(value / 256 ** i) % 256);
  };
  const steps = (of: (event: Made, before: Made | undefined) => number) => rows.flatMap((row) => row.map((event, i) => of(event, row[i - 1])));
  number(0x4e455645, 4);
  number(1, 2);
  number(0, 2);
  number(rows.length, 4);
  number(all.length, 4);
  for (const _ of rows) number(3, 4);
  rows.forEach((_, i) => number(i, 4));
  for (const row of rows) number(row.length, 4);
  planes(steps((event, before) => event.start - (before?.end ?? 0)), 7);
  planes(all.map((event) => event.end - event.start), 7);
  planes(steps((event, before) => {
    const by = event.id - (before?.id ?? 0);
    return by < 0 ? -2 * by - 1 : 2 * by;
  }), 4);
  planes(all.map((event) => event.name), 4);
  planes(all.map(() => 0), 2);
  planes(all.map(() => 1), 4);
  planes(all.map((event) => event.family ?? 0), 1);
  return Uint8Array.from(bytes).buffer;
}

const LATE = 2 ** 50; // ns: 13 days
const ROWS: Made[][] = [
  [{ start: 0, end: 40, id: 9, name: 1 }, { start: 40, end: 43, id: 2, name: 0 }, { start: 44, end: 45, id: 70000, name: 2, family: 11 }, { start: LATE, end: LATE + 5, id: 1, name: 1 }],
  [{ start: 41, end: 41, id: 5, name: 2 }],
];

test('events are read as they were written', () => {
  const events = decodeEvents(block(ROWS));
  expect([...events.start]).toEqual(ROWS.flat().map((event) => event.start));
  expect([...events.end]).toEqual(ROWS.flat().map((event) => event.end));
  expect([...events.id]).toEqual(ROWS.flat().map((event) => event.id));
  expect(events.rows).toEqual([{ lane: 3, row: 0, first: 0, last: 4 }, { lane: 3, row: 1, first: 4, last: 5 }]);
});

test('what is not a whole block is refused', () => {
  const whole = block(ROWS);
  expect(() => decodeEvents(new ArrayBuffer(8))).toThrow('no header');
  expect(() => decodeEvents(new ArrayBuffer(16))).toThrow('not a block');
  expect(() => decodeEvents(whole.slice(0, -1))).toThrow('not as long');
  const later = whole.slice(0);
  new DataView(later).setUint16(4, 2, true);
  expect(() => decodeEvents(later)).toThrow('version');
  const uneven = whole.slice(0);
  new DataView(uneven).setUint32(16 + 4 * 4, 3, true);
  expect(() => decodeEvents(uneven)).toThrow('add up');
});

test('of 3,000 damaged blocks each is refused, or answers as any other', () => {
  let seed = 1;
  const random = (below: number) => (seed = (seed * 48271) % 0x7fffffff) % below;
  let [refused, answered] = [0, 0];
  for (let i = 0; i < 3000; ++i) {
    const bytes = new Uint8Array(block(ROWS));
    for (let changes = 1 + random(3); changes > 0; --changes) bytes[random(bytes.length)] = random(256);
    try {
      const events = decodeEvents(bytes.buffer);
      const tile = tileOf(events, random(48), random(9), [...events.rowsOf.keys()]);
      expect([...tile.begin, ...tile.end].every((at) => at <= 512)).toBe(true);
      expect(tile.boxes).toBeLessThanOrEqual(events.start.length);
      search({ blocks: [{ events, behind: 0 }], names: ['ab'], kinds: ['op'], known: ['op'], rankOf: () => 0, end: 100 }, 'a');
      ++answered;
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
      ++refused;
    }
  }
  expect([refused, answered].every((count) => count > 300), `${refused} ${answered}`).toBe(true);
});

test('a tile shows long events as themselves, clipped, and short ones of a bucket together', () => {
  const events = decodeEvents(block(ROWS));
  const tile = tileOf(events, 3, 0, [3]);
  expect([...tile.first]).toEqual([0, 2, 3]);
  expect([...tile.begin, ...tile.end]).toEqual([0, 5, 5, 5, 6, 6]);
  expect([...tile.count]).toEqual([1, 2, 1]);
  expect([...tile.busy]).toEqual([255, Math.ceil((4 / 8) * 255), 0]);
  expect([...tile.id]).toEqual([9, 2, 5]);
  expect(tileOf(events, 3, 0, [4]).rows).toBe(0);
  const clipped = tileOf(decodeEvents(block([[{ start: 100, end: 2000, id: 0, name: 0, family: 11 }]])), 0, 1, [3]);
  expect([clipped.begin[0], clipped.end[0], clipped.flags[0]]).toEqual([0, 512, 7]);
});

test('a search counts an event of two spans once', () => {
  const events = decodeEvents(block(ROWS));
  const among = {
    blocks: [{ events, behind: 0 }, { events, behind: 41 }], names: ['ab', 'b', 'c'], kinds: ['op'], known: ['op', 'kernel'], rankOf: () => 0, end: 100 };
  expect(search({ ...among, blocks: [among.blocks[0]!] }, 'B')).toMatchObject({ total: 3, names: [{ name: 'b', count: 2, time: 45 }, { name: 'ab', count: 1, time: 3 }] });
  expect(search(among, 'dur>30ns').total).toBe(1);
  expect(search(among, 'kind:kernel').total).toBe(0);
  expect(() => search(among, 'dur>many')).toThrow('not a time');
  expect(search(among, 'c', { before: 45, lane: 3, row: 0 }).hit).toMatchObject({ id: 70000 });
});
