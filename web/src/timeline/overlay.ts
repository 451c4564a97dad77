// What analyses found, drawn in when asked: the critical path of a step, and why devices were idle.
import { effect, signal, type Signal } from '@preact/signals';
import type { DataSource } from '../data/source.ts';
import type { DrawnPath, Idle, IdlePart, Options, PathPart } from '../data/types.ts';
import { said } from '../state/app.ts';
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
  constructor(private readonly source: DataSource, private readonly run: number, private readonly end: number, span: Signal<Span>) {
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
      (answer) => { if (this.asked[kind] === key) into.value = answer as T; },
      (error: Error) => {
        if (this.asked[kind] !== key) return;
        into.value = null;
        said.value = error.message;
      });
  }
}

/** Of disjoint spans in order the one that overlaps [from, to]. */
function within<T extends { start: number; end: number }>(all: readonly T[], from: number, to: number): T | undefined {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (all[middle]!.start < to) low = middle + 1;
    else high = middle;
  }
  const last = all[low - 1];
  return last !== undefined && last.end > from ? last : undefined;
}

/** What an answer has on each lane, or on each row of it. */
const byPlace = new WeakMap<object, Map<string, (PathPart | IdlePart)[]>>();
function placed<T extends PathPart | IdlePart>(answer: object, parts: readonly T[], keysOf: (part: T) => string[]): Map<string, T[]> {
  let known = byPlace.get(answer) as Map<string, T[]> | undefined;
  if (known === undefined) {
    byPlace.set(answer, known = new Map());
    for (const part of parts) {
      for (const key of keysOf(part)) {
        const others = known.get(key);
        if (others === undefined) known.set(key, [part]);
        else others.push(part);
      }
    }
  }
  return known;
}

/** Whether an event, or one of several in a box, is on the path. */
export function isOnPath(path: DrawnPath, lane: number, row: number, span: { start: number; end: number }): boolean {
  const parts = placed(path, path.parts, (part) => [`${part.lane}.${part.row}`]).get(`${lane}.${row}`);
  return parts !== undefined && within(parts, span.start, span.end) !== undefined;
}

/** The idle stretches of a lane's device, in order. */
export const idleOn = (idle: Idle, lane: number): readonly IdlePart[] =>
  placed(idle, idle.stretches, (part) => idle.devices[part.device]!.lanes.map(String)).get(String(lane)) ?? [];

export const idleAt = (idle: Idle, lane: number, time: number) => within(idleOn(idle, lane), time, time + 1);
