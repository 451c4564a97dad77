// Which steps every page counts: a small chart of the steps that can be brushed, and the same as a field.
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Run } from '../data/types.ts';
import { change, param, source } from '../state/app.ts';
import { load } from '../state/load.ts';
import { formatValue } from '../words/units.ts';
import { barsOf, brushed, formatRange, moved, parseRange, stepTimes, type Range } from './steps.ts';

const WIDTH = 150;
const HEIGHT = 26;

const setRange = (range: Range | null) => change({ steps: range === null ? undefined : formatRange(range) }, 'push');

export function StepPicker({ run }: { run: Run }) {
  const answer = useMemo(() => load(`show/${run.run}/${run.hash}/steps/`, () => source.show(run.run, 'steps', {})), [run.run, run.hash]).value;
  const times = useMemo(() => (answer.state === 'ok' ? stepTimes(answer.value) : []), [answer]);
  const range = parseRange(param('steps'));
  const onKey = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key] as 1 | -1 | undefined;
    const isSideways = event.key === 'ArrowRight' || event.key === 'ArrowLeft';
    if (event.key === 'Escape') setRange(null);
    else if (by !== undefined && !isSideways && times.length > 0) setRange(moved(times, range, by, event.shiftKey));
    else return;
    event.preventDefault();
  };
  return (
    <div class="picker">
      <span id="steps-label">Steps</span>
      {times.length > 1 && <Brush times={times} range={range} />}
      <input class="steps" aria-labelledby="steps-label" value={param('steps') ?? ''} placeholder="all" inputMode="numeric" pattern="\s*\d+\s*([\-–]\s*\d+\s*)?" spellcheck={false}
        title="One step (7) or several (7-9), by their numbers in the trace. Empty: all. ↑ and ↓ move the range, with Shift its end; Esc: all." onKeyDown={onKey}
        onChange={(event) => setRange(parseRange(event.currentTarget.value))} />
      {range && <button type="button" class="link" onClick={() => setRange(null)}>all</button>}
    </div>
  );
}

function Brush({ times, range }: { times: ReturnType<typeof stepTimes>; range: Range | null }) {
  const bars = useMemo(() => barsOf(times, WIDTH), [times]);
  const most = Math.max(...bars, 1);
  const wide = WIDTH / bars.length;
  const box = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<Range | null>(null);
  const shareAt = (event: PointerEvent) => {
    const { left, width } = box.current!.getBoundingClientRect();
    return (event.clientX - left) / width;
  };
  const onDown = (down: PointerEvent) => {
    const from = shareAt(down);
    const element = box.current!;
    element.setPointerCapture(down.pointerId);
    let last = brushed(times, from, from);
    setDrag(last);
    const move = (event: PointerEvent) => setDrag(last = brushed(times, from, shareAt(event)));
    const end = () => {
      element.removeEventListener('pointermove', move);
      setDrag(null);
      setRange(last.from === times[0]!.step && last.to === times.at(-1)!.step ? null : last);
    };
    element.addEventListener('pointermove', move);
    element.addEventListener('pointerup', end, { once: true });
    element.addEventListener('pointercancel', end, { once: true });
  };
  const now = drag ?? range;
  const [least, longest] = [times.reduce((a, b) => (b.time < a.time ? b : a)), times.reduce((a, b) => (b.time > a.time ? b : a))];
  const isIn = (i: number) => now === null || (times[Math.floor((i * times.length) / bars.length)]!.step >= now.from && times[Math.floor((i * times.length) / bars.length)]!.step <= now.to);
  const words = `${times.length} steps, ${formatValue(least.time, 'ns')} (step ${least.step}) to ${formatValue(longest.time, 'ns')} (step ${longest.step})`;
  return (
    <svg ref={box} class="brush" width={WIDTH} height={HEIGHT} role="img" aria-label={`${words}. The field beside chooses some of them.`} onPointerDown={onDown}>
      <title>{drag ? `steps ${formatRange(drag)}` : `${words}. Drag to choose some.`}</title>
      {bars.map((time, i) => {
        const high = Math.max(1, (time / most) * HEIGHT);
        return <rect key={i} class={isIn(i) ? 'in' : 'out'} x={i * wide} y={HEIGHT - high} width={Math.max(1, wide - (wide > 3 ? 1 : 0))} height={high} />;
      })}
    </svg>
  );
}
