// The timeline: strips, lanes, their names, and the details below.
import { computed, effect, signal, untracked } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Run, Timeline } from '../data/types.ts';
import { facts, param, reachable, source } from '../state/app.ts';
import { PartialStrip } from '../verdict/strip.tsx';
import { Answer, Failure } from '../shell/answer.tsx';
import { Splitter } from '../shell/splitter.tsx';
import { formatValue, parseMarkedTime } from '../words/units.ts';
import { Canvas } from './canvas.ts';
import { Drawer } from './drawer.tsx';
import { Gutter } from './gutter.tsx';
import { markWords, showMark, takeJump } from './jumps.ts';
import { listenToKeys } from './keyboard.ts';
import { Model } from './model.ts';
import { listenToMouse } from './mouse.ts';
import { Tooltip } from './tooltip.tsx';
import { drawOverview, drawRuler, listenToOverview, listenToRuler, OVERVIEW_PX, RULER_PX, strip } from './strips.ts';
import { lengthOf, pixelOf } from './view.ts';

const gutter = signal(190);

export function TimelinePage({ run }: { run: Run }) {
  return (
    <Answer of={`timeline/${run.run}/${run.hash}`} what="the timeline" heading={`Timeline of ${run.name}`} ask={() => source.timeline(run.run)}>
      {(timeline) => timeline.lanes.length === 0
        ? <><h1>This recording holds no event with a duration.</h1><p>Record with ProfilerActivity.CPU and ProfilerActivity.CUDA.</p></>
        : <View run={run} timeline={timeline} />}
    </Answer>
  );
}

function View({ run, timeline }: { run: Run; timeline: Timeline }) {
  const model = useMemo(() => new Model(run, timeline, source), []);
  const [canvas, setCanvas] = useState<Canvas | null>(null);
  const [ruled, setRuled] = useState<{ x0: number; x1: number } | null>(null);
  const lanes = useRef<HTMLCanvasElement>(null);
  const ruler = useRef<HTMLCanvasElement>(null);
  const overview = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const made = new Canvas(lanes.current!, model);
    setCanvas(made);
    const width = () => model.size.value.width;
    const asked = computed(() => param('go') ?? param('longest') ?? param('step') ?? param('at'));
    listenToRuler(ruler.current!, model, setRuled);
    listenToOverview(overview.current!, model);
    const stops = [
      () => made.stop(), () => model.stop(), listenToKeys(model, made), listenToMouse(model, made),
      effect(() => { if (asked.value !== undefined) untracked(() => takeJump(model)); }),
      effect(() => { if (reachable.value) untracked(() => model.store.retry()); }),
      strip(ruler.current!, RULER_PX, drawRuler(model), width), strip(overview.current!, OVERVIEW_PX, drawOverview(model), width),
    ];
    const fromLink = () => model.readLink();
    addEventListener('popstate', fromLink);
    return () => {
      removeEventListener('popstate', fromLink);
      for (const stop of stops) stop();
    };
  }, []);
  const { news } = model;
  void news.value;
  return (
    <div class="timeline" style={{ '--gutter': `${gutter.value}px` }}>
      <h1 class="hidden">Timeline of {run.name}</h1>
      <Toolbar model={model} run={run} />
      <div class="strips">
        <div class="corner"><span>Whole run</span><span class="faint">{formatValue(timeline.end, 'ns')}</span></div>
        <canvas ref={overview} class="overview" role="img" aria-label="How full the run is over time. Drag to move the view." />
        <div class="corner"><span class="faint">{timeline.steps.length > 0 ? 'Time and steps' : 'Time'}</span></div>
        <div class="ruler">
          <canvas ref={ruler} role="img" aria-label="Ruler. Drag to zoom to a span; click a step to zoom to it." />
          <Marks model={model} />
          {ruled && <span class="ruled" style={{ left: `${ruled.x0}px`, width: `${ruled.x1 - ruled.x0}px` }} />}
        </div>
      </div>
      {(timeline.more_lanes || timeline.more_steps) ? (
        <p class="left-out">
          {timeline.more_lanes ? `${formatValue(timeline.more_lanes, 'count')} lanes with few events are left out. ` : ''}
          {timeline.more_steps ? `${formatValue(timeline.more_steps, 'count')} later steps have no mark.` : ''}
        </p>
      ) : null}
      <CoarseSpans end={timeline.end} />
      <div class="drawn" aria-live="polite">{[model.path.value, model.idle.value].map((one) => one && <p>{one.summary}</p>)}</div>
      {model.store.error && <div class="tile-error"><Failure error={model.store.error} again={() => model.store.retry()} /></div>}
      <div class="lanes">
        <Gutter model={model} />
        <Splitter size={gutter} least={90} most={500} side="left" label="Width of the names" />
        <div class="canvas-box">
          <canvas ref={lanes} tabIndex={0} role="application" aria-label="Lanes. Arrow keys walk along events, W and S zoom, A and D pan. The tab “In view” has the same as a table."
            aria-describedby="timeline-selection" />
          <Tooltip model={model} />
        </div>
      </div>
      <p id="timeline-selection" class="hidden" aria-live="polite">{model.announced.value}</p>
      <Drawer model={model} canvas={canvas} />
    </div>
  );
}

const MAX_SPANS_SAID = 4;

/** Where a report file has all events, if that is not everywhere. */
function CoarseSpans({ end }: { end: number }) {
  const exact = facts.value?.exact;
  if (exact === undefined || exact.some(([from, to]) => from <= 0 && to >= end)) return null;
  const said = exact.slice(0, MAX_SPANS_SAID).map(([from, to]) => `${formatValue(from, 'ns')} to ${formatValue(to, 'ns')}`);
  const more = exact.length - said.length;
  return (
    <p class="left-out">
      {said.length === 0 ? 'This file holds coarse data of all events only.'
        : `This file holds all events from ${said.join(', ')}${more > 0 ? ` and of ${more} more spans` : ''}; elsewhere, coarse data. A search finds those events only.`}
      {' '}<code>stepscope serve {facts.value!.trace}</code> shows all.
    </p>
  );
}

const toggle = (on: boolean, words: string, does: () => void, title?: string) => <button type="button" aria-pressed={on} title={title} onClick={does}>{words}</button>;

const EDGE = 8; // pixels of the ruler that marks out of view keep to

/** The marks, on the ruler: those out of view wait at its edges. */
function Marks({ model }: { model: Model }) {
  const span = model.span.value;
  const { width } = model.size.value;
  const remove = (at: number) => {
    model.marks.value = model.marks.peek().filter((_, i) => i !== at);
    model.keepLink();
  };
  return model.marks.value.map((mark, i) => {
    const x = pixelOf((mark.span.from + mark.span.to) / 2, span, width);
    const words = `${markWords(mark.span)}. Click to go there; Delete removes it.`;
    return (
      <button key={i} type="button" class="mark" style={{ left: `${Math.max(EDGE, Math.min(width - EDGE, x))}px` }} title={words} aria-label={words} onClick={() => showMark(model, i)}
        onKeyDown={(event) => {
          if (event.key !== 'Delete') return;
          remove(i);
          event.stopPropagation();
        }}>{x < 0 ? '◂' : x > width ? '▸' : '▾'}</button>
    );
  });
}

function Toolbar({ model, run }: { model: Model; run: Run }) {
  const time = parseMarkedTime(model.query.value);
  const span = model.span.value;
  const { clock } = model.timeline;
  const several = new Set(model.timeline.lanes.map((lane) => lane.rank)).size > 1;
  const onKey = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => {
    if (event.key === 'Enter') void model.nextHit(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape') event.currentTarget.blur();
    else return;
    event.preventDefault();
  };
  return (
    <div class="toolbar">
      <input type="search" placeholder="Name or 12.5 ms ( / )" aria-label="Search names of events, or go to a time such as 12.5 ms" value={model.query.value} spellcheck={false}
        onInput={(event) => model.find(event.currentTarget.value)} onKeyDown={onKey} />
      <span class="grow">
        <span class="faint" role="status">{model.search.value ? `${formatValue(model.search.value.total, 'count')} events` : time !== null && 'Enter: go there'}</span>
        <PartialStrip run={run} />
      </span>
      <span class="shown"><b>{formatValue(Math.round(lengthOf(span)), 'ns')}</b> <span class="faint">from {formatValue(Math.max(0, Math.round(span.from)), 'ns')}</span></span>
      {several && (
        <span class="faint" title="How far the clocks of the ranks may be apart">
          {!clock.aligned ? 'clocks not aligned' : clock.own?.length ? `own clocks: rank ${clock.own.join(', ')}` : `clocks ± ${formatValue(clock.error_ns, 'ns')}`}
        </span>
      )}
      <button type="button" aria-label="Zoom out (S)" title="Zoom out (S)" onClick={() => model.motion.zoom(1.6, 0.5)}>−</button>
      <button type="button" aria-label="Zoom in (W)" title="Zoom in (W)" onClick={() => model.motion.zoom(1 / 1.6, 0.5)}>+</button>
      <button type="button" title="Whole run (0)" onClick={() => model.motion.go(model.whole)}>Whole run</button>
      {toggle(model.path.value !== null, 'Critical path', () => model.togglePath(), 'Of the step in view (X)')}
      {toggle(model.idleShown.value, 'Idle causes', () => model.toggleIdle(), 'Why devices were idle (I)')}
      {toggle(model.tab.value === 'table', 'As table', () => { model.tab.value = model.tab.peek() === 'table' ? null : 'table'; })}
    </div>
  );
}
