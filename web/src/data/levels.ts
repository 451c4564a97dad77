// Tiles of one level in a report file, and what several answers say together.
import type { Tile } from './tile.ts';

/** Tiles one behind the other, each behind its length; every tile has as many parts. */
export function tilesOfLevel(bytes: ArrayBuffer, tiles: number): ArrayBuffer[][] {
  const parts: ArrayBuffer[] = [];
  const view = new DataView(bytes);
  for (let at = 0; at < bytes.byteLength;) {
    const length = view.getUint32(at, true);
    if (at + 8 + length > bytes.byteLength) throw new RangeError('A level of tiles is cut off.');
    parts.push(bytes.slice(at + 8, at + 8 + length));
    at += 8 + Math.ceil(length / 8) * 8;
  }
  if (parts.length % tiles !== 0) throw new RangeError('A level has not as many tiles as the run needs.');
  const each = parts.length / tiles;
  return Array.from({ length: tiles }, (_, tile) => parts.slice(tile * each, (tile + 1) * each));
}

const COLUMNS = ['id', 'name', 'count', 'begin', 'end', 'busy', 'family', 'flags'] as const;

/** The rows of some lanes in all parts. */
export function joined(parts: readonly Tile[], lanes: ReadonlySet<number>): Tile {
  const kept = parts.flatMap((tile) => Array.from({ length: tile.rows }, (_, row) => ({ tile, row })).filter(({ row }) => lanes.has(tile.lane[row]!)));
  const first = new Uint32Array(kept.length + 1);
  kept.forEach(({ tile, row }, i) => { first[i + 1] = first[i]! + tile.first[row + 1]! - tile.first[row]!; });
  const boxes = first[kept.length]!;
  const column = (name: typeof COLUMNS[number]) => {
    const type = { id: Uint32Array, name: Uint32Array, count: Uint32Array, begin: Uint16Array, end: Uint16Array, busy: Uint8Array, family: Uint8Array, flags: Uint8Array }[name];
    const values = new type(boxes);
    kept.forEach(({ tile, row }, i) => values.set(tile[name].subarray(tile.first[row]!, tile.first[row + 1]!), first[i]!));
    return values;
  };
  return {
    rows: kept.length, boxes, first, lane: Uint32Array.from(kept, ({ tile, row }) => tile.lane[row]!), row: Uint32Array.from(kept, ({ tile, row }) => tile.row[row]!),
    ...Object.fromEntries(COLUMNS.map((name) => [name, column(name)])),
  } as Tile;
}
