import { expect, test } from 'vitest';
import { decodeCounters, decodeTile } from './tile.ts';

function bytes(length: number, fill: (view: DataView) => void): ArrayBuffer {
  const buffer = new ArrayBuffer(length);
  fill(new DataView(buffer));
  return buffer;
}

// Two rows with one and two boxes: 16 of header, 3 columns of 8, 3 of 16 for u32, 2 of 8 for u16, 3 of 8 for u8.
const LENGTH = 16 + 3 * 8 + 3 * 16 + 2 * 8 + 3 * 8;
const tile = (boxes = 3) => bytes(LENGTH, (view) => {
  view.setUint32(0, 0x454c4954, true);
  view.setUint16(4, 1, true);
  view.setUint32(8, 2, true);
  view.setUint32(12, boxes, true);
  [4, 9, 0, 2, 1, 2].forEach((value, i) => view.setUint32(16 + 4 * i, value, true)); // lane, row, boxes
  [70, 71, 72].forEach((value, i) => view.setUint32(40 + 4 * i, value, true)); // id
  [5, 6, 7].forEach((value, i) => view.setUint32(56 + 4 * i, value, true)); // name
  [1, 1, 300].forEach((value, i) => view.setUint32(72 + 4 * i, value, true)); // count
  [0, 3, 510].forEach((value, i) => view.setUint16(88 + 2 * i, value, true)); // begin
  [512, 9, 511].forEach((value, i) => view.setUint16(96 + 2 * i, value, true)); // end
  [0, 0, 128].forEach((value, i) => view.setUint8(104 + i, value)); // busy
  [0, 6, 10].forEach((value, i) => view.setUint8(112 + i, value)); // family
  [3, 0, 4].forEach((value, i) => view.setUint8(120 + i, value)); // flags
});

test('a tile is read by columns', () => {
  const read = decodeTile(tile());
  expect([...read.lane, ...read.row, ...read.first]).toEqual([4, 9, 0, 2, 0, 1, 3]);
  expect([...read.id, ...read.name, ...read.count]).toEqual([70, 71, 72, 5, 6, 7, 1, 1, 300]);
  expect([...read.begin, ...read.end]).toEqual([0, 3, 510, 512, 9, 511]);
  expect([...read.busy, ...read.family, ...read.flags]).toEqual([0, 0, 128, 0, 6, 10, 3, 0, 4]);
});

test('what is not a whole tile is refused', () => {
  expect(() => decodeTile(new ArrayBuffer(8))).toThrow('no header');
  expect(() => decodeTile(new ArrayBuffer(16))).toThrow('not a tile');
  expect(() => decodeTile(tile().slice(0, LENGTH - 8))).toThrow('shorter');
  expect(() => decodeTile(bytes(LENGTH + 8, (view) => new Uint8Array(view.buffer).set(new Uint8Array(tile()))))).toThrow('longer');
  expect(() => decodeTile(tile(2))).toThrow('add up');
  expect(() => decodeTile(tile(0x7fffffff))).toThrow('add up');
  const later = tile();
  new DataView(later).setUint16(4, 2, true);
  expect(() => decodeTile(later)).toThrow('version');
});

const counters = (length: number) => bytes(16 + 8 + 2 * 12, (view) => {
  view.setUint32(0, 0x4e554d53, true);
  view.setUint16(4, 1, true);
  view.setUint32(8, 1, true);
  view.setUint32(12, 2, true);
  view.setUint32(16, 7, true);
  view.setUint32(20, length, true);
  [[0, 5, 0, 0.5], [5, 512, 1, 1]].forEach(([begin, end, low, high], i) => {
    view.setUint16(24 + 12 * i, begin!, true);
    view.setUint16(26 + 12 * i, end!, true);
    view.setFloat32(28 + 12 * i, low!, true);
    view.setFloat32(32 + 12 * i, high!, true);
  });
});

test('counters are read', () => {
  const [one] = decodeCounters(counters(2)).counters;
  expect([one!.counter, ...one!.begin, ...one!.end, ...one!.low, ...one!.high]).toEqual([7, 0, 5, 5, 512, 0, 1, 0.5, 1]);
  expect(() => decodeCounters(counters(1))).toThrow('add up');
  expect(() => decodeCounters(counters(3))).toThrow('shorter');
});
