// What is in view: the boxes of the tiles at hand, as pixels of the screen. Painting and hit tests both use it.
import { BEGAN_BEFORE, ENDS_BEHIND, IS_WAITING, type Tile } from '../data/tile.ts';
import type { Lane, Place } from '../data/types.ts';
import { WAITING } from '../words/palette.ts';
import { entryAt, ROW, screenY, type Entry, type Layout } from './layout.ts';
import type { Store } from './store.ts';
import { pixelOf, tileLength, tilesIn, type Span } from './view.ts';

/** An event, or several that are too short to tell apart. Edges are screen pixels, not rounded, not cut. */
export interface Box {
  lane: Lane;
  row: number;
  id: number;
  name: number;
  count: number;
  busy: number;
  family: number;
  waiting: boolean;
  x0: number;
  x1: number;
  y: number;
  /** Times as exact as the tile has them. */
  start: number;
  end: number;
  /** The event goes on where the next tile begins. */
  goesOn: boolean;
}

/** A part of a lane that no tile covers yet. */
export interface Gap { x0: number; x1: number; y: number; height: number }

export interface Line { entry: Entry; y: number; boxes: Box[][] }
export interface Scene { lines: Line[]; gaps: Gap[] }

export interface Frame {
  span: Span;
  width: number;
  height: number;
  scroll: number;
  level: number;
  end: number;
}

/** The entries on the screen; the pinned ones cover those that scroll below them. */
export function entriesInView(layout: Layout, frame: Pick<Frame, 'height' | 'scroll'>): Entry[] {
  const inView = (entry: Entry) => {
    const y = screenY(layout, entry, frame.scroll);
    return y + entry.height > layout.pinnedHeight && y < frame.height;
  };
  return [...layout.entries.filter(inView), ...layout.pinned];
}

export function sceneOf(layout: Layout, frame: Frame, store: Store): Scene {
  const scene: Scene = { lines: [], gaps: [] };
  for (const entry of entriesInView(layout, frame)) {
    const line: Line = { entry, y: screenY(layout, entry, frame.scroll), boxes: [] };
    scene.lines.push(line);
    if (entry.kind === 'lane') fillLane(scene, line, entry.lane, entry.rows, frame, store);
  }
  return scene;
}

function fillLane(scene: Scene, line: Line, lane: Lane, rows: number, frame: Frame, store: Store) {
  line.boxes = Array.from({ length: rows }, () => []);
  const { first, last } = tilesIn(frame.span, frame.level, frame.end);
  const length = tileLength(frame.level);
  let covered = -1; // a coarser tile stands in for several
  for (let tile = first; tile <= last; ++tile) {
    if (tile <= covered) continue;
    const best = store.tileFor(frame.level, tile, lane.lane);
    if (best === null) {
      scene.gaps.push({
        x0: pixelOf(tile * length, frame.span, frame.width), x1: pixelOf((tile + 1) * length, frame.span, frame.width),
        y: line.y, height: rows * ROW });
      continue;
    }
    const factor = 2 ** (best.level - frame.level);
    const span = best.level === frame.level ? null : { from: tile * length, to: (tile + 1) * length };
    covered = tile;
    const range = best.held.rowsOf.get(lane.lane);
    if (range === undefined) continue;
    addBoxes(line, lane, best.held.tile, range, best.tile * length * factor, 2 ** best.level, frame, span);
  }
}

/** `within`: the part that a coarser tile stands in for; null for the whole tile. */
function addBoxes(
  line: Line, lane: Lane, tile: Tile, [firstRow, endRow]: [number, number], start: number, bucket: number, frame: Frame, within: Span | null,
) {
  const scale = frame.width / (frame.span.to - frame.span.from);
  for (let at = firstRow; at < endRow; ++at) {
    const row = tile.row[at]!;
    const boxes = line.boxes[row];
    if (boxes === undefined) continue;
    for (let i = tile.first[at]!; i < tile.first[at + 1]!; ++i) {
      let from = start + tile.begin[i]! * bucket;
      let to = start + tile.end[i]! * bucket;
      if (to <= frame.span.from || from >= frame.span.to) continue;
      const flags = tile.flags[i]!;
      let goesOn = (flags & ENDS_BEHIND) !== 0;
      let cameFrom = (flags & BEGAN_BEFORE) !== 0;
      if (within !== null) {
        if (to <= within.from || from >= within.to) continue;
        if (from < within.from) { from = within.from; cameFrom = true; }
        if (to > within.to) { to = within.to; goesOn = true; }
      }
      const x1 = (to - frame.span.from) * scale;
      const last = boxes.at(-1);
      if (cameFrom && last !== undefined && last.goesOn && last.id === tile.id[i]) {
        last.x1 = x1;
        last.end = to;
        last.goesOn = goesOn;
        continue;
      }
      boxes.push({
        lane, row, id: tile.id[i]!, name: tile.name[i]!, count: tile.count[i]!, busy: tile.busy[i]!, family: tile.family[i]!,
        waiting: (flags & IS_WAITING) !== 0 || tile.family[i] === WAITING,
        x0: (from - frame.span.from) * scale, x1, y: line.y + row * ROW, start: from, end: to, goesOn });
    }
  }
}

const REACH = 3; // pixels beside a narrow box that still hit it

/** The box under the mouse. */
export function boxAt(scene: Scene, layout: Layout, x: number, y: number, scroll: number): Box | null {
  const entry = entryAt(layout, y, scroll);
  const line = scene.lines.find((one) => one.entry === entry);
  const row = line === undefined ? undefined : line.boxes[Math.floor((y - line.y) / ROW)];
  if (row === undefined) return null;
  let best: Box | null = null;
  let distance = REACH;
  for (const box of row) {
    const away = x < box.x0 ? box.x0 - x : x > box.x1 ? x - box.x1 : 0;
    if (away < distance || (away === 0 && best !== null && box.x1 - box.x0 < best.x1 - best.x0)) {
      best = box;
      distance = away;
    }
  }
  return best;
}

export const placeOf = (box: Box): Place =>
  ({ rank: box.lane.rank, id: box.id, lane: box.lane.lane, row: box.row, start: box.start, end: box.end });

/** The time of a box edge close to x, or null. */
export function edgeNear(scene: Scene, x: number, reach: number): number | null {
  let best: number | null = null;
  let distance = reach;
  for (const line of scene.lines) {
    for (const row of line.boxes) {
      for (const box of row) {
        if (box.x1 < x - reach || box.x0 > x + reach || box.count > 1) continue;
        for (const [edge, time] of [[box.x0, box.start], [box.x1, box.end]] as const) {
          if (Math.abs(edge - x) < distance) [best, distance] = [time, Math.abs(edge - x)];
        }
      }
    }
  }
  return best;
}
