// Answers that views wait for. Each is asked for once, and kept while its run does not change.
import { signal, type Signal } from '@preact/signals';
import { Refusal } from '../data/source.ts';

export type Loaded<T> =
  | { state: 'loading' }
  | { state: 'ok'; value: T }
  | { state: 'failed'; error: Error };

const MAX_KEPT = 60;
const kept = new Map<string, { loaded: Signal<Loaded<unknown>>; ask: () => Promise<unknown> }>();

function ask(loaded: Signal<Loaded<unknown>>, question: () => Promise<unknown>) {
  loaded.value = { state: 'loading' };
  question().then(
    (value) => { loaded.value = { state: 'ok', value }; },
    (error: unknown) => { loaded.value = { state: 'failed', error: error instanceof Error ? error : new Error(String(error)) }; });
}

/** The answer named `key`, asked for on first use. */
export function load<T>(key: string, question: () => Promise<T>): Signal<Loaded<T>> {
  const known = kept.get(key);
  if (known !== undefined) {
    kept.delete(key);
    kept.set(key, known);
    return known.loaded as Signal<Loaded<T>>;
  }
  const loaded = signal<Loaded<unknown>>({ state: 'loading' });
  kept.set(key, { loaded, ask: question });
  if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
  ask(loaded, question);
  return loaded as Signal<Loaded<T>>;
}

export function retry(key: string) {
  const known = kept.get(key);
  if (known !== undefined) ask(known.loaded, known.ask);
}

/** Asks again what found no program that would answer. */
export function retryPassing() {
  for (const { loaded, ask: question } of kept.values()) {
    const now = loaded.peek();
    if (now.state === 'failed' && now.error instanceof Refusal && now.error.isPassing) ask(loaded, question);
  }
}

/** Forgets all answers: the recording changed. */
export const forget = () => kept.clear();
