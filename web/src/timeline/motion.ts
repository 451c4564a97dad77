// How the view moves: at once, in a short glide, or for as long as a key is held.
import type { Signal } from '@preact/signals';
import { stillMotion } from '../state/theme.ts';
import { blended, lengthOf, moved, zoomed, type Span } from './view.ts';

const GLIDE_MS = 160;
const FRAME_MS = 16; // taken for the first frame of a held key
const PAN_SPEED = 0.0009; // widths per ms
const ZOOM_SPEED = 0.0022; // doublings per ms, about
const FASTEST = 3; // times the first speed
const ACCELERATION_MS = 600;

export type Held = 'zoomIn' | 'zoomOut' | 'panLeft' | 'panRight';

export class Motion {
  private glide: { from: Span; to: Span; start: number } | null = null;
  private readonly held = new Map<Held, number>();
  private frame = 0;
  private last = 0;
  /** Where the mouse is, 0 to 1 of the width: zooming keeps the time there. */
  ratio = 0.5;

  constructor(private readonly span: Signal<Span>, private readonly bounded: (span: Span) => Span, private readonly onRest: () => void) {}

  /** Where the view will be once it rests. */
  get target(): Span { return this.glide?.to ?? this.span.peek(); }

  get moving() { return this.glide !== null || this.held.size > 0; }

  go(to: Span) {
    const target = this.bounded(to);
    if (stillMotion.matches) return this.jump(target);
    this.glide = { from: this.span.peek(), to: target, start: performance.now() };
    this.run();
  }
  jump(to: Span) {
    this.glide = null;
    this.span.value = this.bounded(to);
    this.onRest();
  }
  zoom(factor: number, ratio = this.ratio) { this.jump(zoomed(this.span.peek(), factor, ratio)); }
  pan(share: number) { this.jump(moved(this.span.peek(), share * lengthOf(this.span.peek()))); }

  hold(what: Held) {
    if (this.held.has(what)) return;
    this.glide = null;
    this.held.set(what, performance.now());
    this.run();
  }
  release(what: Held) { this.held.delete(what); }
  releaseAll() { this.held.clear(); }
  stop() {
    cancelAnimationFrame(this.frame);
    this.held.clear();
  }

  private run() {
    if (this.frame !== 0) return;
    this.last = performance.now() - FRAME_MS;
    const tick = (now: number) => {
      this.frame = 0;
      const going = this.step(now);
      this.last = now;
      if (going) this.frame = requestAnimationFrame(tick);
      else this.onRest();
    };
    this.frame = requestAnimationFrame(tick);
  }

  private step(now: number): boolean {
    if (this.glide !== null) {
      const share = Math.min(1, Math.max(0, (now - this.glide.start) / GLIDE_MS));
      this.span.value = blended(this.glide.from, this.glide.to, 1 - (1 - share) ** 3);
      if (share < 1) return true;
      this.span.value = this.glide.to;
      this.glide = null;
    }
    const passed = Math.min(100, Math.max(0, now - this.last));
    let span = this.span.peek();
    for (const [what, since] of this.held) {
      const speed = Math.min(FASTEST, 1 + (now - since) / ACCELERATION_MS);
      if (what === 'panLeft' || what === 'panRight') {
        span = moved(span, (what === 'panLeft' ? -1 : 1) * PAN_SPEED * speed * passed * lengthOf(span));
      } else {
        span = zoomed(span, Math.exp((what === 'zoomIn' ? -1 : 1) * ZOOM_SPEED * speed * passed), this.ratio);
      }
    }
    if (this.held.size > 0) this.span.value = this.bounded(span);
    return this.held.size > 0;
  }
}
