// Where answers of analyses lie on the lanes: the critical path of a step, and why devices were idle.
import type { DrawnPath, Idle, IdlePart } from '../data/types.ts';
import type { Span } from './view.ts';

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
