// What the mouse does on the lanes: hover, select, pan, scroll, zoom, and areas.
import type { Canvas } from './canvas.ts';
import type { Model } from './model.ts';
import type { Area } from './paint.ts';
import { edgeNear } from './scene.ts';
import { moved, pixelOf, timeAt, widened, type Span } from './view.ts';

const SLACK = 4; // pixels before a press becomes a drag
const SNAP = 6;
const EDGE = 5; // pixels beside an area's edge that still move it
const WHEEL_ZOOM = 0.0022;
const LINE_PX = 16;

interface Press { x: number; y: number; kind: 'area' | 'pan' | 'edge'; began: Span; scroll: number; fixed: number; of: 'area' | 'other'; moved: boolean }

export function listenToMouse(model: Model, canvas: Canvas): () => void {
  const { element } = canvas;
  let press: Press | null = null;
  const at = (event: MouseEvent) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const time = (x: number) => timeAt(x, model.span.peek(), model.size.peek().width);
  /** Shift and Alt switch it off; where Alt began the drag, it asks for the second area. */
  const snapped = (x: number, event: MouseEvent, of: 'area' | 'other') =>
    (event.shiftKey || (event.altKey && of === 'area') ? null : edgeNear(canvas.scene, x, SNAP)) ?? time(x);
  /** The exact time of an event's edge: boxes have it as exact as a pixel. */
  const exact = async (time: number) => {
    const box = canvas.scene.lines.flatMap((line) => line.boxes.flat()).find((one) => one.count === 1 && (one.start === time || one.end === time));
    const event = box && await model.source.event(model.run.run, box.lane.rank, box.id).catch(() => undefined);
    return event === undefined ? time : box!.start === time ? event.start : event.end;
  };

  const lanesBetween = (y0: number, y1: number) => {
    const [top, bottom] = [Math.min(y0, y1), Math.max(y0, y1)];
    return new Set(canvas.scene.lines.flatMap((line) =>
      line.entry.kind === 'lane' && line.y < bottom && line.y + line.entry.height > top ? [line.entry.lane.lane] : []));
  };
  const areaOf = (now: { x: number; y: number }, event: MouseEvent): Area | null => {
    const [a, b] = [press!.fixed, snapped(now.x, event, press!.of)].sort((x, y) => x - y) as [number, number];
    const lanes = press!.kind === 'edge' ? model[press!.of].peek()!.lanes : lanesBetween(press!.y, now.y);
    return a < b && lanes.size > 0 ? { span: { from: a, to: b }, lanes } : null;
  };
  /** The area of which x is at an edge, and its other edge. */
  const edgeAt = (x: number): { of: 'area' | 'other'; fixed: number } | null => {
    const isNear = (time: number) => Math.abs(pixelOf(time, model.span.peek(), model.size.peek().width) - x) < EDGE;
    for (const of of ['other', 'area'] as const) {
      const span = model[of].peek()?.span;
      if (span && isNear(span.from)) return { of, fixed: span.to };
      if (span && isNear(span.to)) return { of, fixed: span.from };
    }
    return null;
  };

  const down = (event: PointerEvent) => {
    if (event.button > 1) return;
    const { x, y } = at(event);
    const isOther = event.altKey || model.comparing.peek();
    const edge = isOther ? null : edgeAt(x);
    const kind = event.shiftKey || event.button === 1 ? 'pan' : edge !== null ? 'edge' : 'area';
    const of = edge?.of ?? (model.area.peek() !== null && isOther ? 'other' : 'area');
    press = { x, y, kind, of, began: model.span.peek(), scroll: model.scroll.peek(), fixed: edge?.fixed ?? snapped(x, event, of), moved: false };
    element.setPointerCapture(event.pointerId);
    element.focus({ preventScroll: true });
  };
  const move = (event: PointerEvent) => {
    const now = at(event);
    canvas.mouse = now;
    model.motion.ratio = Math.max(0, Math.min(1, now.x / model.size.peek().width));
    if (press === null) return hover(now);
    if (!press.moved && Math.hypot(now.x - press.x, now.y - press.y) < SLACK) return;
    press.moved = true;
    model.hover.value = null;
    if (press.kind === 'pan') {
      const { width } = model.size.peek();
      model.motion.jump(moved(press.began, ((press.x - now.x) / width) * (press.began.to - press.began.from)));
      model.scrollTo(press.scroll + press.y - now.y);
    } else {
      const area = areaOf(now, event);
      model.dragging.value = true;
      if (area !== null) model[press.of].value = area;
    }
  };
  const hover = ({ x, y }: { x: number; y: number }) => {
    const box = canvas.boxAt(x, y) ?? canvas.idleAt(x, y);
    const shown = box ?? canvas.readingAt(x, y);
    model.hover.value = shown === undefined ? null : { box: shown, x, y };
    element.style.cursor = edgeAt(x) !== null ? 'ew-resize' : box === undefined ? 'default' : 'pointer';
  };
  const up = (event: PointerEvent) => {
    if (press === null) return;
    const now = at(event);
    const { moved: dragged, kind, of } = press;
    const area = dragged && kind !== 'pan' ? areaOf(now, event) : null;
    press = null;
    if (area !== null) {
      void Promise.all([exact(area.span.from), exact(area.span.to)]).then(([from, to]) => {
        model.dragging.value = false;
        const now = { ...area, span: { from, to } };
        if (of === 'other') model.compare(now);
        else model.selectArea(now, kind === 'edge' ? model.other.peek() : null);
      });
      return;
    }
    model.dragging.value = false;
    if (dragged) return;
    const box = canvas.boxAt(now.x, now.y);
    const idle = canvas.idleAt(now.x, now.y);
    if (box !== null) {
      model.selectBox(box); // an area stays, to be compared with that of this event
    } else if (idle !== undefined) {
      model.selectCause(idle);
    } else if (model.selected.peek() !== null || model.area.peek() !== null) {
      model.deselect();
    }
  };
  const twice = (event: MouseEvent) => {
    const { x, y } = at(event);
    const box = canvas.boxAt(x, y);
    if (box === null) return;
    if (box.count === 1) model.motion.go(widened({ from: box.start, to: box.end }, 0.2));
    else model.motion.go(widened({ from: box.start, to: box.end }, 6));
  };
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? LINE_PX : event.deltaMode === 2 ? model.size.peek().height : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    if (event.ctrlKey || event.metaKey) model.motion.zoom(Math.exp(dy * WHEEL_ZOOM));
    else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) model.motion.pan((Math.abs(dx) > Math.abs(dy) ? dx : dy) / model.size.peek().width);
    else model.scrollTo(model.scroll.peek() + dy);
    if (canvas.mouse !== null) hover(canvas.mouse);
  };
  const leave = () => {
    canvas.mouse = null;
    model.hover.value = null;
    model.motion.ratio = 0.5;
  };
  const cancel = () => {
    press = null;
    model.dragging.value = false;
  };

  element.addEventListener('pointerdown', down);
  element.addEventListener('pointermove', move);
  element.addEventListener('pointerup', up);
  element.addEventListener('pointercancel', cancel);
  element.addEventListener('pointerleave', leave);
  element.addEventListener('dblclick', twice);
  element.addEventListener('wheel', wheel, { passive: false });
  return () => {
    element.removeEventListener('pointerdown', down);
    element.removeEventListener('pointermove', move);
    element.removeEventListener('pointerup', up);
    element.removeEventListener('pointercancel', cancel);
    element.removeEventListener('pointerleave', leave);
    element.removeEventListener('dblclick', twice);
    element.removeEventListener('wheel', wheel);
  };
}
