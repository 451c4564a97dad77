// Asks for what analyses found, as the view moves: an answer is as fine as the span that it is for.
import { effect, type Signal } from '@preact/signals';
import type { DrawnPath, Idle, Options } from '../data/types.ts';
import { said } from '../state/app.ts';
import type { Model } from './model.ts';
import { lengthOf, type Span } from './view.ts';

const ASK_AFTER_MS = 120;

/** A span around the view that stays the same while the view moves a little; none for the whole run. */
function around(span: Span, end: number): Options {
  const length = 2 ** Math.ceil(Math.log2(lengthOf(span)));
  const from = Math.floor(span.from / length) * length;
  return length >= end ? {} : { from: `${Math.max(0, from)}`, to: `${from + 2 * length}` };
}

/** Asks until the returned function is called. */
export function askWhatIsShown(model: Model): () => void {
  const asked = { path: 'null', idle: 'null' };
  const ask = (kind: 'path' | 'idle', options: Options | null) => {
    const key = JSON.stringify(options);
    if (key === asked[kind]) return;
    asked[kind] = key;
    const answer = model[kind] as Signal<DrawnPath | Idle | null>;
    if (options === null) return void (answer.value = null);
    model.source[kind](model.run.run, options).then((found) => {
      if (key !== asked[kind]) return;
      const isFirst = answer.peek() === null;
      answer.value = found;
      if (isFirst && kind === 'path') model.showPath();
    }, (error: Error) => {
      if (key !== asked[kind]) return;
      answer.value = null;
      said.value = error.message;
    });
  };
  let timer = 0;
  const stop = effect(() => {
    const span = around(model.span.value, model.timeline.end);
    const [, rank, step] = /^r(\d+)\.?(\d*)$/.exec(model.pathOf.value) ?? [];
    const idle = model.idleShown.value;
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      ask('path', rank ? { rank, step: step!, ...span } : null);
      ask('idle', idle ? span : null);
    }, ASK_AFTER_MS);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}
