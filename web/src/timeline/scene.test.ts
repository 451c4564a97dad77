import { expect, test } from 'vitest';
import type { Tile } from '../data/tile.ts';
import type { Lane, Timeline } from '../data/types.ts';
import { entryAt, layOut } from './layout.ts';
import { boxAt, edgeNear, sceneOf } from './scene.ts';
import type { Held, Store } from './store.ts';

const lane = (number: number, rank = 0, rows = 2): Lane => ({
  lane: number, key: `r${rank}/t${number}`, rank, side: 'host', role: 'main', name: 'main', title: 'main', rows, events: 9 });
const timeline = (lanes: Lane[]): Timeline => ({ end: 4096, names: 9, clock: { aligned: true, error_ns: 0 }, ranks: [], steps: [], lanes, counters: [] });
const wishes = { pinned: [], closed: [], opened: [], hidden: [] };

interface Box { row: number; id: number; begin: number; end: number; flags?: number; count?: number }

function held(lane: number, boxes: Box[]): Held {
  const rows = [...new Set(boxes.map((box) => box.row))].sort((a, b) => a - b);
  const sorted = rows.flatMap((row) => boxes.filter((box) => box.row === row));
  const column = <A>(type: { from(values: number[]): A }, of: (box: Box) => number) => type.from(sorted.map(of));
  const tile: Tile = {
    rows: rows.length, boxes: sorted.length, lane: Uint32Array.from(rows.map(() => lane)), row: Uint32Array.from(rows),
    first: Uint32Array.from([0, ...rows.map((row) => sorted.filter((box) => box.row <= row).length)]),
    id: column(Uint32Array, (box) => box.id), name: column(Uint32Array, () => 0), count: column(Uint32Array, (box) => box.count ?? 1),
    begin: column(Uint16Array, (box) => box.begin), end: column(Uint16Array, (box) => box.end), busy: column(Uint8Array, () => 100),
    family: column(Uint8Array, () => 0), flags: column(Uint8Array, (box) => box.flags ?? 0) };
  return { tile, rowsOf: new Map([[lane, [0, rows.length]]]) };
}

/** Tiles by "level/tile". */
const storeOf = (tiles: Record<string, Held>) => ({
  tileFor: (level: number, tile: number) => {
    for (let up = 0; up < 5; ++up) {
      const found = tiles[`${level + up}/${tile >> up}`];
      if (found !== undefined) return { held: found, level: level + up, tile: tile >> up };
    }
    return null;
  } }) as unknown as Store;

const layout = layOut(timeline([lane(0)]), wishes);
const frame = (from: number, to: number) => ({ span: { from, to }, width: to - from, height: 400, scroll: 0, level: 0, end: 4096 });
const boxesIn = (store: Store, from: number, to: number) =>
  sceneOf(layout, frame(from, to), store).lines.flatMap((line) => line.boxes.flat()).map((box) => [box.id, box.x0, box.x1]);

test('an event that several tiles hold is one box', () => {
  const store = storeOf({
    '0/0': held(0, [{ row: 0, id: 7, begin: 500, end: 512, flags: 2 }, { row: 1, id: 8, begin: 0, end: 3 }]),
    '0/1': held(0, [{ row: 0, id: 7, begin: 0, end: 20, flags: 1 }, { row: 0, id: 9, begin: 20, end: 30 }]) });
  expect(boxesIn(store, 400, 1024)).toEqual([[7, 100, 132], [9, 132, 142]]);
});

test('two events that meet at the edge of a tile stay two', () => {
  const store = storeOf({ '0/0': held(0, [{ row: 0, id: 7, begin: 500, end: 512 }]), '0/1': held(0, [{ row: 0, id: 9, begin: 0, end: 20 }]) });
  expect(boxesIn(store, 400, 1024)).toEqual([[7, 100, 112], [9, 112, 132]]);
});

test('a coarser tile stands in, cut to the part that is missing', () => {
  const store = storeOf({
    '0/0': held(0, [{ row: 0, id: 7, begin: 500, end: 512, flags: 2 }]),
    '1/0': held(0, [{ row: 0, id: 7, begin: 250, end: 260 }, { row: 0, id: 9, begin: 300, end: 310 }]) });
  expect(boxesIn(store, 400, 1024)).toEqual([[7, 100, 120], [9, 200, 220]]);
});

test('what no tile covers is a gap', () => {
  const { gaps } = sceneOf(layout, frame(0, 1024), storeOf({ '0/0': held(0, []) }));
  expect(gaps.map((gap) => [gap.x0, gap.x1])).toEqual([[512, 1024]]);
});

test('the mouse hits the box under it, or a narrow one beside it', () => {
  const store = storeOf({ '0/0': held(0, [{ row: 0, id: 7, begin: 10, end: 50 }, { row: 0, id: 8, begin: 60, end: 61 }]) });
  const scene = sceneOf(layout, frame(0, 512), store);
  const y = scene.lines.find((line) => line.entry.kind === 'lane')!.y + 5;
  expect(boxAt(scene, layout, 20, y, 0)?.id).toBe(7);
  expect(boxAt(scene, layout, 59, y, 0)?.id).toBe(8);
  expect(boxAt(scene, layout, 55, y, 0)).toBeNull();
  expect(boxAt(scene, layout, 20, y + 18, 0)).toBeNull();
  expect(edgeNear(scene, 47, 6)).toBe(50);
  expect(edgeNear(scene, 30, 6)).toBeNull();
});

test('pinned lanes are on top and not below; closed ranks hide theirs', () => {
  const several = layOut(timeline([lane(0), lane(1), lane(2, 1)]), { pinned: ['r0/t1', 'gone'], closed: ['r1'], opened: [], hidden: [] });
  expect(several.pinned.map((entry) => entry.key)).toEqual(['r0/t1']);
  expect(several.entries.map((entry) => entry.key)).toEqual(['r0', 'r0/t0', 'r1']);
  expect(entryAt(several, 3, 100)?.key).toBe('r0/t1');
  expect(entryAt(several, several.pinnedHeight + 1, 0)?.key).toBe('r0');
  expect(entryAt(several, several.pinnedHeight + 1, 30)?.key).toBe('r0/t0');
});

test('a lane of many rows shows some until it is opened', () => {
  const height = (opened: string[]) => layOut(timeline([lane(0, 0, 30)]), { ...wishes, opened }).height;
  expect(height(['r0/t0']) - height([])).toBe((30 - 14) * 18);
});
