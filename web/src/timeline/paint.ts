// Draws one frame: boxes as pixels, then texts, arrows and selections on top.
import { placeIn, type Counter, type DrawnPath, type EventDetails, type Idle, type IdlePart, type Place, type Step, type Timeline } from '../data/types.ts';
import { colourOf, PAINTS, SURFACES, textOn, WAITING, type Mode } from '../words/palette.ts';
import { counterOf, eachStretch, type Reading } from './counters.ts';
import { idleOn, isOnPath } from './drawn.ts';
import { FONT, fitted } from './labels.ts';
import { entryOf, ROW, screenY, type Entry, type Layout } from './layout.ts';
import { mixed, packed, type Raster } from './raster.ts';
import type { Box, Frame, Scene } from './scene.ts';
import type { Store } from './store.ts';
import { pixelOf, type Span } from './view.ts';

const BOX = ROW - 2; // height of a box; rows are two pixels apart
const LEAST_TEXT = 26; // pixels of a box that holds text
const LEAST_STEP = 6; // pixels from one line of a step to the next
const DIMMED = 0.25;
const LETTER = 17; // pixels of the name of an area
const WIDE_PART = 3; // pixels of a part of the path that is always drawn
const SPARSE = 8; // pixels between others, so that the line does not cover what it leads through
const DOT = 3; // pixels of the radius of the point under the mouse
const LEAST_BUSY = 3; // pixels of the lowest box

export interface Colours {
  surface: (typeof SURFACES)[Mode];
  page: number;
  panel: number;
  line: number;
  bar: number;
  family: number[];
  dimmed: number[];
  text: string[];
}

const colours = new Map<Mode, Colours>();
export function coloursOf(mode: Mode): Colours {
  const known = colours.get(mode);
  if (known !== undefined) return known;
  const surface = SURFACES[mode];
  const page = packed(surface.page);
  const family = PAINTS.map((paint) => packed(colourOf(paint, mode)));
  const made: Colours = {
    surface, page, panel: packed(surface.panel), line: packed(surface.line), bar: packed(surface.bar), family,
    dimmed: family.map((colour) => mixed(colour, page, DIMMED)), text: PAINTS.map((paint) => textOn(paint, mode)),
  };
  colours.set(mode, made);
  return made;
}

export interface Area { span: Span; lanes: ReadonlySet<number> }
export interface Mark { span: Span; kept: boolean }

/** What is under the mouse. */
export type Hovered = Box | IdlePart | Reading;

export interface Picture {
  timeline: Timeline;
  layout: Layout;
  frame: Frame;
  scene: Scene;
  mode: Mode;
  ratio: number;
  selected: Place | null;
  details: EventDetails | null;
  hover: Hovered | null;
  path: DrawnPath | null;
  idle: Idle | null;
  area: Area | null;
  /** What the area is compared with. */
  other: Area | null;
  marks: readonly Mark[];
  arrows: boolean;
  /** Names that a search found; null without a search. */
  found: ReadonlySet<number> | null;
}

export function paint(context: CanvasRenderingContext2D, raster: Raster, picture: Picture, store: Store) {
  const palette = coloursOf(picture.mode);
  raster.resize(Math.round(picture.frame.width * picture.ratio), Math.round(picture.frame.height * picture.ratio));
  raster.clear(palette.page);
  const fill = (lines: Scene['lines']) => {
    for (const line of lines) {
      paintBack(raster, line.entry, line.y, picture, palette);
      for (const { x0, x1, y, height } of idleIn(line, picture)) {
        const [top, r] = [y * picture.ratio, picture.ratio];
        raster.hatch(Math.round(x0 * r), Math.round(top), Math.round(x1 * r), Math.round(top + height * r), palette.dimmed[WAITING]!, palette.page);
      }
    }
    for (const line of lines) {
      if (line.entry.kind === 'lane') for (const row of line.boxes) for (const box of row) paintBox(raster, box, picture, palette);
      else paintCounter(raster, line.entry, line.y, picture, palette, store);
    }
  };
  const pinned = picture.scene.lines.filter((line) => picture.layout.pinned.includes(line.entry));
  for (const gap of picture.scene.gaps) {
    const r = picture.ratio;
    raster.checker(Math.round(gap.x0 * r), Math.round(gap.y * r), Math.round(gap.x1 * r), Math.round((gap.y + gap.height) * r), palette.page, palette.panel);
  }
  const others = picture.scene.lines.filter((line) => !pinned.includes(line));
  fill(others);
  if (pinned.length > 0) {
    raster.fill(0, 0, raster.width, Math.round(picture.layout.pinnedHeight * picture.ratio), palette.page);
    fill(pinned);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  raster.show(context);
  context.setTransform(picture.ratio, 0, 0, picture.ratio, 0, 0);
  paintSteps(context, picture, palette);
  paintTexts(context, others, picture, palette, store, picture.layout.pinnedHeight);
  paintTexts(context, pinned, picture, palette, store, 0);
  paintOverlay(context, picture, palette);
}

function paintBack(raster: Raster, entry: Entry, y: number, { frame, ratio }: Picture, palette: Colours) {
  const top = Math.round(y * ratio);
  const bottom = Math.round((y + entry.height) * ratio);
  if (entry.kind === 'group') raster.fill(0, top, Math.round(frame.width * ratio), bottom, palette.panel);
  raster.fill(0, bottom - 1, Math.round(frame.width * ratio), bottom, palette.line);
}

/** The idle stretches of a line's device that are wide enough to see. */
function idleIn({ entry, y }: Scene['lines'][number], { idle, frame }: Picture) {
  if (idle === null || entry.kind !== 'lane') return [];
  const x = (time: number) => pixelOf(time, frame.span, frame.width);
  return idleOn(idle, entry.lane.lane, frame.span).map((part) => ({ part, x0: x(part.start), x1: x(part.end), y: y + 1, height: entry.rows * ROW - 2 })).filter(({ x0, x1 }) => x1 - x0 >= 1);
}

const isLit = (box: Box, { found, path }: Picture) =>
  (found === null || found.has(box.name)) && (path === null || isOnPath(path, box.lane.lane, box.row, box));

function paintBox(raster: Raster, box: Box, picture: Picture, palette: Colours) {
  const { ratio } = picture;
  const lit = isLit(box, picture);
  const colour = (lit ? palette.family : palette.dimmed)[box.family] ?? palette.line;
  const x0 = Math.round(box.x0 * ratio);
  let x1 = Math.max(x0 + 1, Math.round(box.x1 * ratio));
  if (x1 - x0 > 3 && !box.goesOn) x1 -= 1; // neighbours stay apart
  const bottom = Math.round((box.y + 1 + BOX) * ratio);
  const top = bottom - Math.round(Math.max(LEAST_BUSY, (box.busy / 255) * BOX) * ratio);
  if (box.waiting) raster.hatch(x0, top, x1, bottom, colour, palette.panel);
  else raster.fill(x0, top, x1, bottom, colour);
}

function paintCounter(raster: Raster, entry: Entry, y: number, picture: Picture, palette: Colours, store: Store) {
  const counter = counterOf(entry);
  if (counter === undefined) return;
  const { frame, ratio } = picture;
  const bottom = Math.round((y + entry.height - 2) * ratio);
  const heightOf = (value: number) => Math.round(heightIn(entry, counter, value) * ratio);
  eachStretch(counter, frame, store, (from, to, low, top) => {
    const x0 = Math.round(pixelOf(from, frame.span, frame.width) * ratio);
    const x1 = Math.max(x0 + 1, Math.round(pixelOf(to, frame.span, frame.width) * ratio));
    const high = heightOf(top);
    raster.fill(x0, bottom - high, x1, bottom, palette.bar);
    if (high > 0) raster.fill(x0, bottom - high, x1, Math.min(bottom, bottom - Math.min(heightOf(low), high - Math.ceil(ratio))), packed(palette.surface.strong));
  });
}

/** How high a value stands above the ground of its lane, which is two pixels above its end. */
const heightIn = (entry: Entry, { max }: Counter, value: number) => Math.max(0, Math.min(1, value / (max || 1))) * (entry.height - 5);

/** Thin lines where steps begin. */
function paintSteps(context: CanvasRenderingContext2D, { timeline, frame }: Picture, palette: Colours) {
  context.fillStyle = palette.surface.strong;
  context.globalAlpha = 0.35;
  let last = -LEAST_STEP;
  for (const step of stepsOf(timeline)) {
    const x = Math.round(pixelOf(step.start, frame.span, frame.width));
    if (x < 0 || x > frame.width || x - last < LEAST_STEP) continue;
    context.fillRect(x, 0, 1, frame.height);
    last = x;
  }
  context.globalAlpha = 1;
}

const steps = new WeakMap<Timeline, Step[]>();

/** The steps of the first rank that has any: they stand for all. */
export function stepsOf(timeline: Timeline): Step[] {
  let known = steps.get(timeline);
  if (known === undefined) {
    const rank = timeline.steps[0]?.rank;
    known = timeline.steps.filter((step) => step.rank === rank);
    steps.set(timeline, known);
  }
  return known;
}

function paintTexts(context: CanvasRenderingContext2D, lines: Scene['lines'], picture: Picture, palette: Colours, store: Store, top: number) {
  context.save();
  context.beginPath();
  context.rect(0, top, picture.frame.width, top === 0 ? picture.layout.pinnedHeight : picture.frame.height - top);
  if (lines.length > 0 && (top > 0 || picture.layout.pinnedHeight > 0)) context.clip();
  context.font = FONT;
  context.textBaseline = 'middle';
  for (const line of lines) {
    for (const { part, x0, x1, y } of idleIn(line, picture)) {
      const { cause } = picture.idle!.causes[part.cause]!;
      const from = Math.max(0, x0) + 4;
      if (fitted(context, cause, Math.min(picture.frame.width, x1) - from - 4) !== cause) continue;
      context.fillStyle = palette.surface.text;
      backed(context, cause, from, y, palette);
      context.fillText(cause, from, y + BOX / 2 + 0.5);
    }
    for (const row of line.boxes) {
      for (const box of row) {
        const x0 = Math.max(0, box.x0);
        const room = Math.min(picture.frame.width, box.x1) - x0 - 8;
        if (room < LEAST_TEXT - 8 || box.count > 1) continue;
        const name = store.name(box.name);
        if (name === undefined) continue;
        const words = fitted(context, name, room);
        if (words === '') continue;
        const lit = isLit(box, picture);
        context.fillStyle = !lit ? palette.surface.faint : box.waiting ? palette.surface.text : palette.text[box.family] ?? palette.surface.text;
        if (box.waiting && lit) backed(context, words, x0 + 4, box.y + 1, palette);
        context.fillText(words, x0 + 4, box.y + 1 + BOX / 2 + 0.5);
      }
    }
  }
  context.restore();
}

/** A plain ground for a text on a hatch. */
function backed(context: CanvasRenderingContext2D, words: string, x: number, y: number, palette: Colours) {
  const front = context.fillStyle;
  context.fillStyle = palette.surface.panel;
  context.fillRect(x - 2, y + 2, context.measureText(words).width + 4, BOX - 4);
  context.fillStyle = front;
}

function paintOverlay(context: CanvasRenderingContext2D, picture: Picture, palette: Colours) {
  const { frame, layout, timeline } = picture;
  const x = (time: number) => pixelOf(time, frame.span, frame.width);
  if (picture.area !== null) paintArea(context, picture, palette, picture.area, picture.other === null ? '' : 'A');
  if (picture.other !== null) paintArea(context, picture, palette, picture.other, 'B');
  for (const mark of picture.marks) {
    context.fillStyle = palette.surface.select;
    context.globalAlpha = 0.14;
    context.fillRect(x(mark.span.from), 0, x(mark.span.to) - x(mark.span.from), frame.height);
    context.globalAlpha = 1;
    for (const edge of [mark.span.from, mark.span.to]) context.fillRect(Math.round(x(edge)), 0, 1, frame.height);
  }
  if (picture.hover !== null && 'x0' in picture.hover) outline(context, picture.hover.x0, picture.hover.x1, picture.hover.y, palette.surface.text, 1);
  if (picture.hover !== null && 'counter' in picture.hover) {
    const { counter, high, start } = picture.hover;
    const line = picture.scene.lines.find(({ entry }) => counterOf(entry) === counter);
    context.fillStyle = palette.surface.text;
    context.beginPath();
    if (line !== undefined) context.arc(x(start), line.y + line.entry.height - 2 - heightIn(line.entry, counter, high), DOT, 0, 7);
    context.fill();
  }
  const boxOf = (place: Place) => {
    const lane = timeline.lanes[place.lane];
    const entry = lane === undefined ? undefined : entryOf(layout, lane);
    if (entry === undefined) return null;
    const rows = entry.kind === 'lane' ? entry.rows : 1;
    return { x0: x(place.start), x1: x(place.end), y: screenY(layout, entry, frame.scroll) + (entry.kind === 'lane' ? Math.min(place.row, rows - 1) * ROW : 4) };
  };
  if (picture.path !== null) {
    const line = new Path2D();
    let lane: number | null = null;
    let last = 0;
    for (const part of picture.path.parts) {
      const at = part.lane === null ? null : boxOf(part as Place & typeof part);
      if (at === null || (part.lane === lane && at.x1 - at.x0 < WIDE_PART && at.x1 - last < SPARSE)) continue;
      ({ lane } = part);
      last = at.x1;
      line.lineTo(at.x0, at.y + BOX);
      line.lineTo(at.x1, at.y + BOX);
    }
    twice(context, line, palette.surface.select, palette.surface.page);
  }
  const selected = picture.selected === null ? null : boxOf(picture.selected);
  if (selected === null) return;
  const links = picture.details?.links ?? [];
  for (const link of links) {
    const end = placeIn(link);
    const other = end === null ? null : boxOf(end);
    if (other === null) continue;
    if (link.what === 'same collective') outline(context, other.x0, other.x1, other.y, palette.surface.select, 1.5);
    else if (picture.arrows) arrow(context, selected, other, palette.surface.select, palette.surface.page);
  }
  outline(context, selected.x0, selected.x1, selected.y, palette.surface.select, 2.5);
}

interface Edges { x0: number; x1: number; y: number }

function outline(context: CanvasRenderingContext2D, x0: number, x1: number, y: number, colour: string, width: number) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.strokeRect(x0 - 0.5, y + 0.5, Math.max(3, x1 - x0), BOX + 1);
}

/** A line with a ground that sets it off from what is below. */
function twice(context: CanvasRenderingContext2D, path: Path2D, colour: string, ground: string) {
  for (const [style, width] of [[ground, 4], [colour, 1.75]] as const) {
    context.strokeStyle = style;
    context.lineWidth = width;
    context.stroke(path);
  }
}

function arrow(context: CanvasRenderingContext2D, a: Edges, b: Edges, colour: string, ground: string) {
  const [from, to] = a.x0 <= b.x0 ? [a, b] : [b, a];
  const [x0, y0, x1, y1] = [from.x0 + Math.min(6, (from.x1 - from.x0) / 2), from.y + BOX / 2 + 1, to.x0, to.y + BOX / 2 + 1];
  const bend = Math.max(18, Math.abs(x1 - x0) / 3);
  const path = new Path2D();
  path.moveTo(x0, y0);
  path.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 5, y1);
  twice(context, path, colour, ground);
  context.fillStyle = colour;
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 8, y1 - 4);
  context.lineTo(x1 - 8, y1 + 4);
  context.fill();
}

function paintArea(context: CanvasRenderingContext2D, picture: Picture, palette: Colours, area: Area, letter: string) {
  const { frame, layout } = picture;
  const x0 = pixelOf(area.span.from, frame.span, frame.width);
  const x1 = pixelOf(area.span.to, frame.span, frame.width);
  context.fillStyle = palette.surface.accent;
  for (const line of picture.scene.lines) {
    if (line.entry.kind !== 'lane' || !area.lanes.has(line.entry.lane.lane)) continue;
    const top = Math.max(line.y, layout.pinned.includes(line.entry) ? 0 : layout.pinnedHeight);
    context.globalAlpha = 0.18;
    context.fillRect(x0, top, x1 - x0, line.y + line.entry.height - top);
  }
  context.globalAlpha = 1;
  context.fillRect(Math.round(x0), 0, 1, frame.height);
  context.fillRect(Math.round(x1), 0, 1, frame.height);
  if (letter === '' || x1 < 0 || x0 > frame.width) return;
  const left = Math.max(0, Math.round(x0));
  context.fillRect(left, 0, LETTER, LETTER);
  context.fillStyle = palette.surface.panel;
  context.font = FONT;
  context.textBaseline = 'middle';
  context.fillText(letter, left + 5, LETTER / 2 + 0.5);
}
