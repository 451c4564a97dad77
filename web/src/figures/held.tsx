// A device's memory over events or time, divided by the places that hold it, with the instants A and B. Arrow keys walk the instants.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { mode } from '../state/theme.ts';
import { PAINTS, SURFACES } from '../words/palette.ts';
import { shortPlace } from '../words/names.ts';
import { formatValue } from '../words/units.ts';
import { axis, useChart } from './chart.tsx';
import { instantOf, type Held } from './held.ts';
import { stepped } from './paths.ts';
import { patternOf } from './pattern.ts';
import { Swatch } from './swatch.tsx';

const FAMILIES = [6, 0, 9, 3, 4, 1, 7, 2]; // whose colours stand in for places
const OTHER = PAINTS.length - 1;
export const MAX_PLACE = 40;
const HEIGHT = 300;
const NAMES: Record<string, string> = { oom: 'out of memory' };

const bytes = (value: number | null | undefined) => formatValue(value, 'bytes');
export const familyOfPlace = (i: number) => FAMILIES[i] ?? OTHER;

interface Props {
  held: Held;
  byTime: boolean;
  a: number;
  b: number;
  isPart: boolean;
  onPick: (event: number, isB: boolean) => void;
  /** The first and the last event in view. */
  onZoom: (from: number, to: number) => void;
}

export function HeldChart({ held, byTime, a, b, isPart, onPick, onZoom }: Props) {
  const top = held.marks[0]?.event ?? -1;
  const peak = instantOf(held, top);
  const [event, setEvent] = useState(top);
  const at = instantOf(held, event); // of all instants, or of a part
  const setAt = (instant: number) => setEvent(held.events[instant]!);
  const x = byTime ? held.times : held.events;
  const lines = useRef<[label: string, event: number, row: number][]>([]);
  lines.current = [...held.marks.map(({ name, event }, i): [string, number, number] => [NAMES[name] ?? name, event, i + 2]), ['A', a, 0], ['B', b, 1]];
  const sums = useMemo(() => {
    let below = x.map(() => 0);
    return held.places.map(({ values }) => (below = below.map((sum, i) => sum + (values[i] ?? 0))));
  }, [held]);
  const zoomed = (from: number, to: number) => onZoom(held.events[from]!, held.events[to]!);
  const [box, plot] = useChart((width) => {
    return [{
      width, height: HEIGHT, legend: { show: false }, cursor: { y: false, points: { show: false }, drag: { x: true, y: false } },
      scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] } },
      axes: [axis(2, (value) => formatValue(value, byTime ? 'ns' : 'count'), 30), axis(3, bytes, 74, 'bytes')],
      series: [
        {},
        { width: 1.5, dash: [6, 3], stroke: SURFACES[mode.value].text, points: { show: false }, paths: stepped },
        ...sums.map((_, i): uPlot.Series => ({ width: 0, points: { show: false }, paths: stepped, fill: () => patternOf(familyOfPlace(sums.length - 1 - i), mode.value) })),
      ],
      hooks: {
        setSelect: [(u) => zoomed(u.posToIdx(u.select.left), u.posToIdx(u.select.left + u.select.width))],
        draw: [(u) => { for (const [label, event, row] of lines.current) drawLine(u, label, byTime ? x[instantOf(held, event)]! : event, row); }],
      },
    }, [x, held.reserved, ...[...sums].reverse()]]; // the highest first: each next one covers its lower part
  }, [held, byTime]);
  useEffect(() => plot.current?.redraw(false), [a, b]);
  useEffect(() => { if (!isPart) plot.current?.setScale('x', { min: x[0]!, max: x.at(-1)! }); }, [isPart]);
  const move = (to: number) => {
    const next = Math.max(0, Math.min(x.length - 1, to));
    setAt(next);
    plot.current?.setCursor({ left: plot.current.valToPos(x[next]!, 'x'), top: 0 }, false);
  };
  const onKey = (event: KeyboardEvent) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, PageUp: at - 20, PageDown: at + 20, Home: 0, End: x.length - 1, p: peak }[event.key];
    if (to !== undefined) move(to);
    else if (event.key === '+') {
      const [from, last] = [Math.max(0, at - (x.length >> 3)), Math.min(x.length - 1, at + (x.length >> 3))];
      plot.current?.setScale('x', { min: x[from]!, max: x[last]! });
      zoomed(from, last);
    }
    else if (event.key === 'a' || event.key === 'b') onPick(held.events[at]!, event.key === 'b');
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const atMouse = ({ clientX }: MouseEvent, then: (instant: number) => void) => {
    const { left, right } = plot.current!.over.getBoundingClientRect();
    if (clientX >= left && clientX <= right) then(plot.current!.posToIdx(clientX - left));
  };
  const time = held.times[at];
  const words = `${held.events[at]! < 0 ? 'Before the first event' : `After event ${formatValue(held.events[at], 'count')}`}${time === undefined ? '' : `, ${formatValue(time, 'ns')}`}`
    + `${held.events[at] === top ? ', the peak' : ''}: ${bytes(held.requested[at])} requested, ${bytes(held.reserved[at])} reserved`;
  return (
    <>
      <p class="flame-words" aria-live="polite">{words}</p>
      <div class="chart picks" ref={box} tabIndex={0} role="application" onKeyDown={onKey}
        aria-label={`Memory by place, ${held.of}. Arrow keys walk, P goes to the peak, Plus zooms in, A and B set the instants A and B. The tables have the numbers.`}
        onMouseMove={(event) => atMouse(event, setAt)} onClick={(event) => atMouse(event, (instant) => onPick(held.events[instant]!, event.shiftKey))} />
      <ul class="legend">
        {held.places.map(({ name, values }, i) => (
          <li key={name} title={name}><Swatch family={familyOfPlace(i)} /> {shortPlace(name, MAX_PLACE)} <b>{bytes(values[at])}</b></li>
        ))}
      </ul>
      <p class="faint">Dashed: reserved. Click, or A, sets A; Shift and click, or B, sets B. Drag, or +, zooms in.</p>
    </>
  );
}

function drawLine(u: uPlot, label: string, x: number, row: number) {
  const { ctx, bbox } = u;
  const { text, page } = SURFACES[mode.peek()];
  const at = u.valToPos(x, 'x', true);
  if (at < bbox.left || at > bbox.left + bbox.width) return;
  const size = uPlot.pxRatio * 12;
  ctx.save();
  ctx.beginPath();
  ctx.moveTo(at, bbox.top);
  ctx.lineTo(at, bbox.top + bbox.height);
  ctx.strokeStyle = text;
  ctx.setLineDash(row < 2 ? [] : [2, 3]);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.font = `600 ${size}px system-ui, sans-serif`;
  ctx.textAlign = at > bbox.left + bbox.width / 2 ? 'right' : 'left';
  const [left, top] = [at + (ctx.textAlign === 'left' ? 4 : -4), bbox.top + size * (1 + row * 1.3)];
  ctx.lineWidth = size / 3;
  ctx.strokeStyle = page;
  ctx.strokeText(label, left, top);
  ctx.fillStyle = text;
  ctx.fillText(label, left, top);
  ctx.restore();
}
