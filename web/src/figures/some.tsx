// The first of many parts of a page, and all of them on demand: a job of 64 ranks has one of each per rank.
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

const FEW = 4;

interface Props<T> { of: readonly T[]; what: string; children: (one: T) => VNode }

/** One of several things that have names: the first, or the one that is picked. */
export function OneOf<T extends { of: string }>({ of, children }: { of: readonly T[]; children: (one: T) => VNode }) {
  const [at, setAt] = useState(0);
  const one = of[at] ?? of[0];
  return (
    <>
      {of.length > 1 && (
        <label class="picker"><span>Show</span>
          <select value={String(at)} onChange={(event) => setAt(Number(event.currentTarget.value))}>
            {of.map((any, i) => <option key={any.of} value={String(i)}>{any.of}</option>)}
          </select>
        </label>
      )}
      {one && children(one)}
    </>
  );
}

export function Some<T>({ of, what, children }: Props<T>) {
  const [all, setAll] = useState(false);
  const isLong = of.length > FEW && !all;
  return (
    <>
      {(isLong ? of.slice(0, FEW - 1) : of).map(children)}
      {isLong && <button type="button" onClick={() => setAll(true)}>All {of.length} {what}</button>}
    </>
  );
}
