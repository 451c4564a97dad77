import { expect, test } from 'vitest';
import type { DataSource } from '../data/source.ts';
import type { Tile } from '../data/tile.ts';
import type { Timeline } from '../data/types.ts';
import { blocksOf, Store } from './store.ts';

const lanes = (count: number, rows = 1) => Array.from({ length: count }, (_, lane) => ({ lane, rows }));

test('blocks hold neighbouring lanes, and few rows', () => {
  expect(blocksOf(lanes(130)).map((block) => block.length)).toEqual([64, 64, 2]);
  expect(blocksOf(lanes(5, 128)).map((block) => block.length)).toEqual([2, 2, 1]);
  expect(blocksOf([{ lane: 0, rows: 9999 }, { lane: 1, rows: 1 }])).toEqual([[0], [1]]);
  expect(blocksOf([])).toEqual([]);
});

const EMPTY = { rows: 0, boxes: 0, lane: new Uint32Array(0), row: new Uint32Array(0), first: new Uint32Array(1) } as Tile;

interface Question { key: string; answer: (tile: Tile) => void; fail: (error: Error) => void; signal: AbortSignal }

function storeWith(count: number) {
  const asked: Question[] = [];
  const source = {
    tile: (_: number, level: number, tile: number, of: number[], signal: AbortSignal) => new Promise<Tile>((answer, fail) => {
      asked.push({ key: `${level}/${tile}/${of[0]}`, answer, fail, signal });
    }) } as unknown as DataSource;
  const timeline = { end: 512 * 64, lanes: lanes(count), counters: [], names: 0 } as unknown as Timeline;
  let news = 0;
  const store = new Store(source, 0, timeline, () => { ++news; });
  return { store, asked, news: () => news };
}
const soon = () => new Promise((done) => { setTimeout(done, 0); });

test('what is in view is asked first, each tile once, few at a time', async () => {
  const { store, asked } = storeWith(1);
  store.want({ from: 512 * 8, to: 512 * 10 }, 0, new Set([0]));
  expect(asked.map((one) => one.key)).toEqual(['0/8/0', '0/9/0', '1/4/0', '0/7/0', '0/10/0', '6/0/0']);
  store.want({ from: 512 * 8, to: 512 * 10 }, 0, new Set([0]));
  expect(asked).toHaveLength(6);
  for (const one of asked) one.answer(EMPTY);
  await soon();
  store.want({ from: 512 * 8, to: 512 * 10 }, 0, new Set([0]));
  expect(asked).toHaveLength(6);
});

test('what left the view is not waited for, and a coarser tile stands in', async () => {
  const { store, asked, news } = storeWith(1);
  store.want({ from: 0, to: 512 * 64 }, 6, new Set([0]));
  asked[0]!.answer(EMPTY);
  await soon();
  expect(news()).toBe(1);
  store.want({ from: 512 * 8, to: 512 * 10 }, 0, new Set([0]));
  expect(store.tileFor(0, 8, 0)).toMatchObject({ level: 6, tile: 0 });
  store.want({ from: 512 * 40, to: 512 * 41 }, 0, new Set([0]));
  expect(asked.find((one) => one.key === '0/8/0')!.signal.aborted).toBe(true);
});

test('a tile that cannot be had is not asked for again until it is wished', async () => {
  const { store, asked } = storeWith(1);
  const want = () => store.want({ from: 0, to: 512 * 64 }, 6, new Set([0]));
  want();
  asked[0]!.fail(new Error('no'));
  await soon();
  want();
  expect(asked).toHaveLength(1);
  expect(store.error?.message).toBe('no');
  store.retry();
  want();
  expect(asked).toHaveLength(2);
});
