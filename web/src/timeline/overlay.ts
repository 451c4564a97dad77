// What analyses found, drawn in when asked: the critical path of a step, and why devices were idle.
import { effect, signal, type Signal } from '@preact/signals';
import type { DataSource } from '../data/source.ts';
import type { DrawnPath, Idle, IdlePart, Options } from '../data/types.ts';
import { lengthOf, type Span } from './view.ts';

const ASK_AFTER_MS = 120;

type Kind = 'path' | 'idle';

export class Overlay {
  /** Whose path is shown: "r0.5" is step 5 of rank 0, "r0" its whole recording; "" for none. */
  readonly pathOf = signal('');
  readonly idleShown = signal(false);
  readonly path = signal<DrawnPath | null>(null);
  readonly idle = signal<Idle | null>(null);
  readonly stop: () => void;
  private readonly asked: Record<Kind, string> = { path: '', idle: '' };

  /** Asks again as the view moves: an answer is as fine as the span that it is for. */
  constructor(private readonly source: DataSource, private readonly run: number, private readonly end: number, span: Signal<Span>, private readonly on: { found(path: DrawnPath): void; failed(error: Error): void }) {
    let timer = 0;
    const listening = effect(() => {
      const [now, of, idle] = [span.value, this.pathOf.value, this.idleShown.value];
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        const [, rank, step] = /^r(\d+)(?:\.(\d+))?$/.exec(of) ?? [];
        const around = this.around(now);
        this.ask('path', this.path, rank === undefined ? null : { rank, ...(step !== undefined && { step }), ...around });
        this.ask('idle', this.idle, idle ? around : null);
      }, ASK_AFTER_MS);
    });
    this.stop = () => {
      listening();
      clearTimeout(timer);
    };
  }

  /** A span around the view that stays the same while the view moves a little; none for the whole run. */
  private around(span: Span): Options {
    const length = 2 ** Math.ceil(Math.log2(lengthOf(span)));
    const from = Math.floor(span.from / length) * length;
    return length >= this.end ? {} : { from: String(Math.max(0, from)), to: String(from + 2 * length) };
  }

  private ask<T extends DrawnPath | Idle>(kind: Kind, into: Signal<T | null>, options: Options | null) {
    const key = JSON.stringify(options);
    if (key === this.asked[kind]) return;
    this.asked[kind] = key;
    if (options === null) return void (into.value = null);
    (this.source[kind](this.run, options) as Promise<unknown>).then(
      (answer) => {
        if (this.asked[kind] !== key) return;
        const isFirst = into.peek() === null;
        into.value = answer as T;
        if (isFirst && kind === 'path') this.on.found(answer as DrawnPath);
      },
      (error: Error) => {
        if (this.asked[kind] !== key) return;
        into.value = null;
        this.on.failed(error);
      });
  }
}

/** Whether an event, or one of several in a box, is on the path. Its parts follow each other in time. */
export function isOnPath({ parts }: DrawnPath, lane: number, row: number, { start, end }: { start: number; end: number }): boolean {
  let [at, behind] = [0, parts.length];
  while (at < behind) {
    const middle = (at + behind) >> 1;
    if (parts[middle]!.end > start) behind = middle;
    else at = middle + 1;
  }
  for (; parts[at] !== undefined && parts[at]!.start < end; ++at) if (parts[at]!.lane === lane && parts[at]!.row === row) return true;
  return false;
}

/** The stretches of a lane's device that overlap a span. */
export const idleOn = ({ devices, stretches }: Idle, lane: number, { from, to }: Span): IdlePart[] =>
  stretches.filter((part) => part.end > from && part.start < to && devices[part.device]!.lanes.includes(lane));
