// The canvas of the lanes: draws a frame when anything changed, and asks for the tiles that it lacked.
import { effect } from '@preact/signals';
import { mode } from '../state/theme.ts';
import { counterOf, reading, type Reading } from './counters.ts';
import { idleOn } from './drawn.ts';
import { entryAt } from './layout.ts';
import type { Model } from './model.ts';
import type { IdlePart } from '../data/types.ts';
import { paint } from './paint.ts';
import { Raster } from './raster.ts';
import { boxAt, entriesInView, sceneOf, type Box, type Frame, type Scene } from './scene.ts';
import { levelFor, nsPerPixel, timeAt } from './view.ts';

const MAX_RATIO = 2;
const SLOW_MS = 10;

export class Canvas {
  scene: Scene = { lines: [], gaps: [] };
  /** Where the mouse is on the canvas; null when it is elsewhere. */
  mouse: { x: number; y: number } | null = null;
  private sharpDraw = 0; // ms that the last frame with all device pixels took
  private readonly raster = new Raster();
  private readonly context: CanvasRenderingContext2D;
  private frame = 0;
  private readonly stopListening: () => void;
  private readonly watch: ResizeObserver;

  constructor(readonly element: HTMLCanvasElement, readonly model: Model) {
    this.context = element.getContext('2d', { alpha: false })!;
    this.watch = new ResizeObserver(() => this.measure());
    this.watch.observe(element.parentElement!);
    this.measure();
    this.stopListening = effect(() => {
      const { span, scroll, size, selected, details, area, other, marks, hover, layout, arrows, found, news, path, idle } = model;
      void [span, scroll, size, selected, details, area, other, marks, hover, layout, arrows, found, news, path, idle, mode].map((one) => one.value);
      this.frame ||= requestAnimationFrame(() => {
        this.frame = 0;
        this.draw();
      });
    });
  }

  stop() {
    this.stopListening();
    this.watch.disconnect();
    cancelAnimationFrame(this.frame);
  }

  frameNow(): Frame {
    const { width, height } = this.model.size.peek();
    const span = this.model.span.peek();
    return { span, width, height, scroll: this.model.scroll.peek(), end: this.model.timeline.end, level: levelFor(nsPerPixel(span, width * this.ratio)) };
  }

  boxAt(x: number, y: number): Box | null {
    return boxAt(this.scene, this.model.layout.peek(), x, y, this.model.scroll.peek());
  }

  /** The idle stretch under the mouse, if they are shown. */
  idleAt(x: number, y: number): IdlePart | undefined {
    const { layout, scroll, span, size } = this.model;
    const entry = entryAt(layout.peek(), y, scroll.peek());
    const idle = this.model.idle.peek();
    const time = timeAt(x, span.peek(), size.peek().width);
    return idle === null || entry?.kind !== 'lane' ? undefined : idleOn(idle, entry.lane.lane, { from: time, to: time })[0];
  }

  /** The value of the counter under the mouse. */
  readingAt(x: number, y: number): Reading | undefined {
    const { layout, scroll, span, size, store } = this.model;
    const counter = counterOf(entryAt(layout.peek(), y, scroll.peek()));
    return counter && reading(counter, this.frameNow(), store, timeAt(x, span.peek(), size.peek().width));
  }

  /** The key of the lane under the mouse. */
  entryUnderMouse(): string | undefined {
    if (this.mouse === null) return undefined;
    const entry = entryAt(this.model.layout.peek(), this.mouse.y, this.model.scroll.peek());
    return entry === undefined || entry.kind === 'group' ? undefined : entry.key;
  }

  /** Device pixels per pixel; where drawing is slow, one while the view moves. */
  private get ratio() {
    const full = Math.min(MAX_RATIO, devicePixelRatio || 1);
    return this.model.motion.moving && this.sharpDraw > SLOW_MS ? Math.min(1, full) : full;
  }

  private measure() {
    const { clientWidth: width, clientHeight: height } = this.element.parentElement!;
    if (width === 0 || height === 0) return;
    this.element.style.width = `${width}px`;
    this.element.style.height = `${height}px`;
    this.model.size.value = { width, height };
    this.model.scrollTo(this.model.scroll.peek());
  }

  private draw() {
    const { model } = this;
    const start = performance.now();
    const { ratio } = this;
    this.fit(ratio);
    const frame = this.frameNow();
    const layout = model.layout.peek();
    const lanes = new Set(entriesInView(layout, frame).flatMap((entry) => (entry.kind === 'lane' ? [entry.lane.lane] : [])));
    model.store.want(frame.span, frame.level, lanes);
    this.scene = sceneOf(layout, frame, model.store);
    paint(this.context, this.raster, {
      timeline: model.timeline, layout, frame, scene: this.scene, mode: mode.peek(), ratio,
      selected: model.selected.peek(), details: model.details.peek(), hover: model.hover.peek()?.box ?? null, path: model.path.peek(), idle: model.idle.peek(), area: model.area.peek(), other: model.other.peek(),
      marks: model.marks.peek(), arrows: model.arrows.peek(), found: model.found.peek(),
    }, model.store);
    if (ratio >= (devicePixelRatio || 1) || ratio === MAX_RATIO) this.sharpDraw = performance.now() - start;
  }

  private fit(ratio: number) {
    const { width, height } = this.model.size.peek();
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.element.width !== w) this.element.width = w;
    if (this.element.height !== h) this.element.height = h;
  }
}
