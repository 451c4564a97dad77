// The strips above the lanes: the whole run with the window in view, and the ruler with the steps.
import { computed, effect } from '@preact/signals';
import type { Lane } from '../data/types.ts';
import { mode } from '../state/theme.ts';
import { FONT } from './labels.ts';
import { coloursOf, stepsOf } from './paint.ts';
import type { Model } from './model.ts';
import { BUCKETS } from '../data/tile.ts';
import { pixelOf, roundStep, tickWords, timeAt, wholeLevel, type Span } from './view.ts';

export const OVERVIEW_PX = 40;
export const RULER_PX = 42;
const TICK_PX = 90; // at least, from one label to the next

type Draw = (context: CanvasRenderingContext2D, width: number) => void;

/** Draws a strip whenever a signal that its drawing reads changes, or its width. */
export function strip(element: HTMLCanvasElement, height: number, draw: Draw, width: () => number): () => void {
  const context = element.getContext('2d')!;
  return effect(() => {
    const w = width();
    const ratio = Math.min(2, devicePixelRatio || 1);
    element.width = Math.round(w * ratio);
    element.height = Math.round(height * ratio);
    element.style.width = `${w}px`;
    element.style.height = `${height}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = FONT;
    draw(context, w);
  });
}

export function drawRuler(model: Model): Draw {
  return (context, width) => {
    const { surface } = coloursOf(mode.value);
    const span = model.span.value;
    context.fillStyle = surface.panel;
    context.fillRect(0, 0, width, RULER_PX);
    const step = roundStep(((span.to - span.from) / width) * TICK_PX);
    context.textBaseline = 'middle';
    for (let time = Math.ceil(span.from / step) * step; time <= span.to; time += step) {
      const x = Math.round(pixelOf(time, span, width));
      context.fillStyle = surface.strong;
      context.fillRect(x, 14, 1, 8);
      context.fillStyle = surface.faint;
      context.fillText(tickWords(time, step), x + 4, 11);
    }
    drawSteps(model, context, width, span);
  };
}

function drawSteps(model: Model, context: CanvasRenderingContext2D, width: number, span: Span) {
  const { surface } = coloursOf(mode.value);
  context.fillStyle = surface.line;
  context.fillRect(0, RULER_PX - 20, width, 1);
  stepsOf(model.timeline).forEach((step, i) => {
    const x0 = Math.max(0, pixelOf(step.start, span, width));
    const x1 = Math.min(width, pixelOf(step.end, span, width));
    if (x1 <= 0 || x0 >= width || x1 - x0 < 1) return;
    context.fillStyle = i % 2 === 0 ? surface['accent-soft'] : surface.bar;
    context.fillRect(x0, RULER_PX - 19, x1 - x0, 18);
    const words = `step ${step.number}`;
    if (x1 - x0 < context.measureText(words).width + 8) return;
    context.fillStyle = surface.text;
    context.fillText(words, x0 + 5, RULER_PX - 10);
  });
}

/** How full each bucket of the whole run is, 0 to 1, over the lanes of one side. */
function fullness(model: Model, lanes: Lane[]): Float32Array | null {
  const level = wholeLevel(model.timeline.end);
  const sums = new Float32Array(BUCKETS);
  for (const lane of lanes) {
    const best = model.store.tileFor(level, 0, lane.lane);
    if (best === null || best.level !== level) return null;
    const { tile, rowsOf } = best.held;
    const first = rowsOf.get(lane.lane)?.[0];
    if (first === undefined) continue;
    for (let i = tile.first[first]!; i < tile.first[first + 1]!; ++i) {
      const share = tile.busy[i]! / 255;
      for (let at = tile.begin[i]!; at < tile.end[i]!; ++at) sums[at] = Math.min(lanes.length, sums[at]! + share);
    }
  }
  return sums.map((sum) => sum / lanes.length);
}

interface Side { fullness: Float32Array | null; colour: 'strong' | 'bar' }

export function drawOverview(model: Model): Draw {
  const sides = [
    { lanes: model.timeline.lanes.filter((lane) => lane.side === 'device' && model.store.isInOverview(lane.lane)), colour: 'strong' as const },
    { lanes: model.timeline.lanes.filter((lane) => lane.side === 'host' && model.store.isInOverview(lane.lane)), colour: 'bar' as const },
  ].filter((side) => side.lanes.length > 0);
  const full = computed((): Side[] => {
    void model.news.value; // more tiles may be here
    return sides.map(({ lanes, colour }) => ({ fullness: fullness(model, lanes), colour }));
  });
  return (context, width) => {
    const { surface } = coloursOf(mode.value);
    const { end } = model.timeline;
    const span = model.span.value;
    context.fillStyle = surface.panel;
    context.fillRect(0, 0, width, OVERVIEW_PX);
    const level = wholeLevel(end);
    const room = OVERVIEW_PX / sides.length;
    full.value.forEach(({ fullness: shares, colour }, i) => {
      const bottom = (i + 1) * room - 1;
      context.fillStyle = surface[colour];
      shares?.forEach((share, at) => {
        const x0 = pixelOf(at * 2 ** level, { from: 0, to: end }, width);
        const x1 = pixelOf((at + 1) * 2 ** level, { from: 0, to: end }, width);
        const height = share * (room - 5);
        context.fillRect(x0, bottom - height, x1 - x0 + 0.5, height);
      });
    });
    const density = model.search.value?.density ?? [];
    context.fillStyle = surface.select;
    density.forEach((hits, at) => { if (hits > 0) context.fillRect((at / density.length) * width, 0, Math.max(1.5, width / density.length), 6); });
    drawWindow(context, width, span, end, surface);
  };
}

function drawWindow(context: CanvasRenderingContext2D, width: number, span: Span, end: number, surface: ReturnType<typeof coloursOf>['surface']) {
  const x0 = Math.max(0, pixelOf(span.from, { from: 0, to: end }, width));
  const x1 = Math.max(x0 + 3, Math.min(width, pixelOf(span.to, { from: 0, to: end }, width)));
  context.fillStyle = surface.page;
  context.globalAlpha = 0.6;
  context.fillRect(0, 0, x0, OVERVIEW_PX);
  context.fillRect(x1, 0, width - x1, OVERVIEW_PX);
  context.globalAlpha = 1;
  context.strokeStyle = surface.accent;
  context.lineWidth = 2;
  context.strokeRect(x0 + 1, 1, x1 - x0 - 2, OVERVIEW_PX - 2);
}

const CLICK = 4; // pixels that a press may move and still be a click
const EDGE = 6;

/** Drags on the overview: inside the window they move it, at its edges they resize it, elsewhere they draw a new one. */
export function listenToOverview(element: HTMLCanvasElement, model: Model) {
  const whole = { from: 0, to: model.timeline.end };
  const width = () => model.size.peek().width;
  drags(element, (x0) => {
    const before = model.span.peek();
    const [left, right] = [pixelOf(before.from, whole, width()), pixelOf(before.to, whole, width())];
    const fixed = Math.abs(x0 - left) < EDGE ? before.to : Math.abs(x0 - right) < EDGE ? before.from : null;
    const inside = fixed === null && left < x0 && x0 < right && before.to - before.from < model.timeline.end;
    return (x, isClick) => {
      const by = timeAt(x, whole, width()) - timeAt(x0, whole, width());
      if (isClick) {
        const half = (before.to - before.from) / 2;
        const middle = timeAt(x, whole, width());
        model.motion.go({ from: middle - half, to: middle + half });
      } else if (inside) {
        model.motion.jump({ from: before.from + by, to: before.to + by });
      } else {
        const [from, to] = [fixed ?? timeAt(x0, whole, width()), timeAt(x, whole, width())].sort((a, b) => a - b) as [number, number];
        model.motion.jump({ from, to });
      }
    };
  });
}

/** A drag on the ruler zooms to its span; a click on a step zooms to the step. */
export function listenToRuler(element: HTMLCanvasElement, model: Model, onSpan: (span: { x0: number; x1: number } | null) => void) {
  const width = () => model.size.peek().width;
  drags(element, (x0) => {
    const span = model.span.peek();
    return (x, isClick, isOver) => {
      onSpan(isOver || isClick ? null : { x0: Math.min(x0, x), x1: Math.max(x0, x) });
      if (!isOver) return;
      const time = timeAt(x, span, width());
      if (isClick) {
        const step = stepsOf(model.timeline).find((one) => one.start <= time && time < one.end);
        if (step !== undefined) model.motion.go({ from: step.start, to: step.end });
        return;
      }
      const [from, to] = [timeAt(x0, span, width()), time].sort((a, b) => a - b) as [number, number];
      model.motion.go({ from, to });
    };
  });
}

type Drag = (x: number, isClick: boolean, isOver: boolean) => void;

function drags(element: HTMLElement, begin: (x: number) => Drag) {
  element.addEventListener('pointerdown', (down) => {
    if (down.button !== 0) return;
    element.setPointerCapture(down.pointerId);
    const at = (event: PointerEvent) => event.clientX - element.getBoundingClientRect().left;
    const x0 = at(down);
    const drag = begin(x0);
    let wasMoved = false;
    const move = (event: PointerEvent) => {
      wasMoved ||= Math.abs(at(event) - x0) >= CLICK;
      if (wasMoved) drag(at(event), false, false);
    };
    const up = (event: PointerEvent) => {
      element.removeEventListener('pointermove', move);
      element.removeEventListener('pointerup', up);
      drag(at(event), !wasMoved, true);
    };
    element.addEventListener('pointermove', move);
    element.addEventListener('pointerup', up);
  });
}
