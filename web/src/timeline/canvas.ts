// The canvas of the lanes: draws a frame when anything changed, and asks for the tiles that it lacked.
import { effect } from '@preact/signals';
import { mode } from '../state/theme.ts';
import { entryAt } from './layout.ts';
import type { Model } from './model.ts';
import { paint } from './paint.ts';
import { Raster } from './raster.ts';
import { boxAt, entriesInView, sceneOf, type Box, type Frame, type Scene } from './scene.ts';
import { levelFor, nsPerPixel } from './view.ts';

const MAX_RATIO = 2;

export class Canvas {
  scene: Scene = { lines: [], gaps: [] };
  /** Where the mouse is on the canvas; null when it is elsewhere. */
  mouse: { x: number; y: number } | null = null;
  /** How long the last frame took to draw, in ms. */
  lastDraw = 0;
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
      const { span, scroll, size, selected, details, area, marks, hover, layout, arrows, found, news } = model;
      void [span, scroll, size, selected, details, area, marks, hover, layout, arrows, found, news, mode].map((one) => one.value);
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

  /** The key of the lane under the mouse. */
  entryUnderMouse(): string | undefined {
    if (this.mouse === null) return undefined;
    const entry = entryAt(this.model.layout.peek(), this.mouse.y, this.model.scroll.peek());
    return entry === undefined || entry.kind === 'group' ? undefined : entry.key;
  }

  private get ratio() { return Math.min(MAX_RATIO, devicePixelRatio || 1); }

  private measure() {
    const { clientWidth: width, clientHeight: height } = this.element.parentElement!;
    if (width === 0 || height === 0) return;
    this.element.width = Math.round(width * this.ratio);
    this.element.height = Math.round(height * this.ratio);
    this.element.style.width = `${width}px`;
    this.element.style.height = `${height}px`;
    this.model.size.value = { width, height };
    this.model.scrollTo(this.model.scroll.peek());
  }

  private draw() {
    const { model } = this;
    const start = performance.now();
    const frame = this.frameNow();
    const layout = model.layout.peek();
    const lanes = new Set(entriesInView(layout, frame).flatMap((entry) => (entry.kind === 'lane' ? [entry.lane.lane] : [])));
    model.store.want(frame.span, frame.level, lanes);
    this.scene = sceneOf(layout, frame, model.store);
    paint(this.context, this.raster, {
      timeline: model.timeline, layout, frame, scene: this.scene, mode: mode.peek(), ratio: this.ratio,
      selected: model.selected.peek(), details: model.details.peek(), hover: model.hover.peek()?.box ?? null, area: model.area.peek(),
      marks: model.marks.peek(), arrows: model.arrows.peek(), found: model.found.peek(),
    }, model.store);
    this.lastDraw = performance.now() - start;
  }
}
