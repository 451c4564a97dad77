// A panel that waits for an answer, shows it, or says what went wrong and offers another try.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { Refusal } from '../data/source.ts';
import { Some } from '../figures/some.tsx';
import { isFile, readAgain } from '../state/app.ts';
import { load, retry } from '../state/load.ts';

const CHANGED = 409; // the recording is no longer what was read

interface Props<T> {
  /** Names the question: the same key has the same answer. */
  of: string;
  ask: () => Promise<T>;
  what: string;
  /** Heads the page until the answer does. */
  heading?: string;
  children: (value: T) => ComponentChildren;
}

export function Answer<T>({ of, ask, what, heading, children }: Props<T>) {
  const answer = useMemo(() => load(of, ask), [of]).value;
  if (answer.state === 'ok') return <>{children(answer.value)}</>;
  return (
    <>
      {heading && <h1>{heading}</h1>}
      {answer.state === 'failed' ? <Failure error={answer.error} again={() => retry(of)} /> : <p class="waiting" role="status">Reading {what} …</p>}
    </>
  );
}

export function Failure({ error, again }: { error: Error; again?: () => void }) {
  const lacking = isFile && error instanceof Refusal; // another try would not help
  return (
    <div class={lacking ? 'failure lacking' : 'failure'} role="alert">
      <p><strong>{error.message}</strong></p>
      {error instanceof Refusal && error.remedy !== '' && <p>{error.remedy}</p>}
      {error instanceof Refusal && error.status === CHANGED
        ? <button type="button" onClick={readAgain}>Read it again</button>
        : again && !lacking && <button type="button" onClick={again}>Try again</button>}
    </div>
  );
}

/** Sentences that a reader must see: what is missing, partial or estimated. */
export function Notes({ notes }: { notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return <div class="notes"><Some what="notes" of={notes}>{(note) => <p key={note}>{note}</p>}</Some></div>;
}

export function Icon({ path }: { path: string }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={path} fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" stroke-linecap="round" />
    </svg>
  );
}
