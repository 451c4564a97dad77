// The run in view, and the one that it is compared with: a button that opens a list to search.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Run } from '../data/types.ts';
import { baseRun, change, openPage, run, runKey, runs } from '../state/app.ts';
import { shortRun } from '../words/names.ts';
import { formatValue } from '../words/units.ts';
import { Choices } from './choices.tsx';
import type { Choice } from './matching.ts';

const NONE = '';
const MAX_NAME = 30; // letters of a run's name in the bar
/** What belongs to one run alone, and is left behind with it. */
const OF_RUN = { t: undefined, sel: undefined, area: undefined, area2: undefined, pin: undefined, closed: undefined, open: undefined, marks: undefined, row: undefined, rank: undefined, step: undefined, hide: undefined };

export const openRun = (key: string) => change({ ...OF_RUN, run: key }, 'push');

const dateOf = (one: Run) => new Date(one.modified * 1000).toISOString().slice(0, 10);

export function runChoices(all: readonly Run[]): Choice[] {
  return all.map((one) => ({
    key: runKey(one), words: one.name,
    hint: [one.files > 1 ? `${one.files} ranks` : '', formatValue(one.bytes, 'bytes'), dateOf(one), one.state === 'unreadable' ? 'cannot be read' : ''].filter(Boolean).join(' · '),
  }));
}

export function RunPicker() {
  const all = runs.value?.runs ?? [];
  const choices = useMemo(() => runChoices(all), [all]);
  const now = run.value;
  if (now === null) return null;
  return <Picker id="run" label="Run" shown={now.name} chosen={runKey(now)} choices={choices} onPick={openRun} />;
}

export function BasePicker() {
  const all = (runs.value?.runs ?? []).filter((one) => one !== run.value);
  const base = baseRun.value;
  const choices = useMemo(() => [{ key: NONE, words: 'no run', hint: '' }, ...runChoices(all)], [runs.value, run.value]);
  if (all.length === 0) return null;
  return (
    <Picker id="base" label="Compare with" shown={base?.name ?? 'no run'} chosen={base === null ? NONE : runKey(base)} choices={choices}
      onPick={(key) => (key === NONE ? change({ base: undefined }, 'push') : openPage('diff', { base: key }))} />
  );
}

interface Props { id: string; label: string; shown: string; chosen: string; choices: readonly Choice[]; onPick: (key: string) => void }

function Picker({ id, label, shown, chosen, choices, onPick }: Props) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    const outside = (event: Event) => { if (!box.current?.contains(event.target as Node)) setOpen(false); };
    addEventListener('pointerdown', outside);
    return () => removeEventListener('pointerdown', outside);
  }, [open]);
  const close = () => { setOpen(false); button.current?.focus(); };
  return (
    <div class="picker" ref={box}>
      <span id={`${id}-label`}>{label}</span>
      <button ref={button} id={`${id}-button`} type="button" class="pick" title={shown} aria-haspopup="listbox" aria-expanded={open} aria-labelledby={`${id}-label ${id}-button`}
        onClick={() => setOpen(!open)}><span>{shortRun(shown, MAX_NAME)}</span><span aria-hidden="true">▾</span></button>
      {open && (
        <div class="popover">
          <Choices id={id} label={label} placeholder={`Search ${choices.length} runs`} choices={choices} chosen={chosen}
            onPick={(one) => { close(); onPick(one.key); }} onLeave={close} />
        </div>
      )}
    </div>
  );
}
