// Ways to a place in the timeline: a time, a mark, the longest event of a name.
import type { HitQuery } from '../data/source.ts';
import { placeIn, type Place } from '../data/types.ts';
import { change, param, said } from '../state/app.ts';
import { MAX_QUERY } from '../table/links.ts';
import { formatValue } from '../words/units.ts';
import type { Model } from './model.ts';
import { stepsOf } from './paint.ts';
import { lengthOf, widened, type Span } from './view.ts';

const NEAR = 20; // a time is shown in at most 1/20 of the run
const AROUND = 0.6; // beside what is shown, as a share of its length

/** The address names a place that is taken once: then the view itself stands in the address. */
export function takeJump(model: Model) {
  const { go, longest } = { go: param('go'), longest: param('longest') };
  if (go === undefined && longest === undefined) return model.readLink();
  change({ go: undefined, longest: undefined });
  if (longest !== undefined) void showLongest(model, longest);
  else if (/^\d+$/.test(go!)) goToTime(model, Number(go), 'replace');
}

type How = 'push' | 'replace';

function show(model: Model, span: Span, how: How) {
  const [middle, half] = [(span.from + span.to) / 2, Math.min(lengthOf(model.motion.target), model.timeline.end / NEAR) / 2];
  model.motion.go(lengthOf(span) > 1 ? widened(span, AROUND) : { from: middle - half, to: middle + half });
  model.keepLink(how);
}

export function addMark(model: Model, span: Span, kept: boolean) {
  model.marks.value = [...model.marks.peek().filter((mark) => mark.kept), { span, kept }];
}

/** Marks the time and shows it. */
export function goToTime(model: Model, asked: number, how: How = 'push') {
  const { end } = model.timeline;
  const from = Math.min(asked, end);
  if (from < asked) said.value = `The run ends at ${formatValue(end, 'ns')}.`;
  addMark(model, { from, to: from + 1 }, false);
  showMark(model, model.marks.peek().length - 1, how);
}

export function showMark(model: Model, at: number, how: How = 'push') {
  const { span } = model.marks.peek()[at]!;
  model.announced.value = markWords(span);
  show(model, span, how);
}
export const markWords = ({ from, to }: Span) => `Mark at ${formatValue(from, 'ns')}${to - from > 1 ? `, ${formatValue(to - from, 'ns')} long` : ''}`;

let last = -1;
/** The marks in turn. */
export function nextMark(model: Model) {
  const count = model.marks.peek().length;
  if (count === 0) said.value = 'There is no mark. M marks the selection.';
  else showMark(model, last = (last + 1) % count);
}

export function goToStep(model: Model, by: 1 | -1) {
  const steps = stepsOf(model.timeline);
  const { from, to } = model.motion.target;
  const middle = (from + to) / 2;
  const now = steps.findIndex((step) => step.start <= middle && middle < step.end);
  const next = now < 0 ? steps.findIndex((step) => step.start > middle) : now + by;
  const step = steps[Math.max(0, Math.min(steps.length - 1, next))];
  if (step !== undefined) model.motion.go(widened({ from: step.start, to: step.end }, 0.05));
}

/** Selects the longest event of exactly this name. A search tells how long all that are longer than some time are together: their mean is a better such time. */
export async function showLongest(model: Model, name: string) {
  const ask = (limits: string, hit?: HitQuery) => model.source.search(model.run.run, name.slice(0, MAX_QUERY) + limits, hit);
  let shorter = -1; // ns; the longest event is longer than this
  said.value = 'Looking for the longest event …';
  const limit = () => (shorter < 0 ? '' : ` dur>${shorter}ns`);
  try {
    for (;;) {
      const own = (await ask(limit())).names.find((one) => one.name === name);
      const mean = own === undefined ? -1 : Math.ceil(own.time / own.count) - 1;
      if (mean <= shorter) break;
      shorter = mean;
      if (own!.count === 1) break;
    }
    for (let from: Place | null | undefined = { start: -1, lane: 0, row: 0 } as Place; from;) {
      from = (await ask(`${limit()} dur<${shorter + 2}ns`, { after: from.start, lane: from.lane, row: from.row })).hit;
      const event = from && await model.source.event(model.run.run, from.rank, from.id);
      const place = event && placeIn(event);
      if (event?.name !== name || !place) continue;
      await model.selectById(place.rank, place.id, { show: true });
      return show(model, { from: place.start, to: place.end }, 'replace');
    }
    said.value = `No event has exactly this name: ${name}`;
    model.find(name.slice(0, MAX_QUERY));
  } catch (error) {
    said.value = (error as Error).message;
  }
}
