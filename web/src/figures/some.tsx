// The first of many parts of a page, and all of them on demand: a job of 64 ranks has one of each per rank.
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

const FEW = 4;

interface Props<T> { of: readonly T[]; what: string; children: (one: T) => VNode }

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
