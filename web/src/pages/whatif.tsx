// Sliders that ask the replay: how long would a step take if parts of it took less?
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Run } from '../data/types.ts';
import { change, param, scope, source } from '../state/app.ts';
import { Answer } from '../shell/answer.tsx';
import { formatValue } from '../words/units.ts';
import { formatChanges, outcomeOf, parseChanges, PARTS, type Factors, type Outcome } from './changes.ts';

const STILL_MS = 300; // without a move, before the program is asked
const STEP = 5; // percent

export function WhatIf({ run }: { run: Run }) {
  const asked = param('scale');
  const [factors, setFactors] = useState<Factors>(() => parseChanges(asked));
  const wanted = formatChanges(factors);
  useEffect(() => {
    const timer = setTimeout(() => change({ scale: wanted }), STILL_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  return (
    <section class="card figure whatif" aria-label="What if">
      <header>
        <h2>What if these took another time?</h2>
        <span class="grow" />
        {wanted !== '' && <button type="button" onClick={() => setFactors({})}>As recorded</button>}
      </header>
      <div class="sliders">
        {PARTS.map(({ what, words, long }) => {
          const percent = Math.round((factors[what] ?? 1) * 100);
          return (
            <label key={what} title={long}>
              <span>{words}</span>
              <input type="range" min="0" max="100" step={STEP} value={percent} aria-valuetext={`${percent} % of its time`}
                onInput={(event) => setFactors({ ...factors, [what]: Number(event.currentTarget.value) / 100 })} />
              <output>{percent === 100 ? 'as recorded' : `${percent} %`}</output>
            </label>
          );
        })}
      </div>
      <div class="outcome" aria-live="polite">
        {asked === undefined ? <p class="faint">Move a slider: the program replays the recording with that part at a share of its time.</p> : <Asked run={run} scale={asked} />}
      </div>
    </section>
  );
}

function Asked({ run, scale }: { run: Run; scale: string }) {
  const options = { ...scope.value, scale };
  return (
    <Answer of={`show/${run.run}/${run.hash}/whatif/${new URLSearchParams(options)}`} what="the replay" ask={() => source.show(run.run, 'whatif', options)}>
      {(report) => <Said outcome={outcomeOf(report)} />}
    </Answer>
  );
}

function Said({ outcome }: { outcome: Outcome | null }) {
  const bars = useMemo(() => (outcome === null ? [] : [outcome.before, outcome.step]), [outcome]);
  if (outcome === null) return <p>The recording cannot be replayed, so no change can be told. The notes below say why.</p>;
  const most = Math.max(...bars, outcome.high ?? 0);
  const range = outcome.low !== null && outcome.high !== null ? `between ${formatValue(outcome.low, 'ns')} and ${formatValue(outcome.high, 'ns')}` : '';
  return (
    <>
      <p><b>{formatValue(outcome.before, 'ns')} → ≈ {formatValue(outcome.step, 'ns')}</b> per step: saves {formatValue(outcome.saving, 'ns')}, {formatValue(outcome.share, 'share')} of the step
        {range !== '' && `; ${range}`}.</p>
      <svg class="bars" width="100%" height="48" role="img" aria-label={`A step takes ${formatValue(outcome.before, 'ns')} as replayed, ${formatValue(outcome.step, 'ns')} with the changes.`}>
        <rect class="before" x="0" y="2" height="18" width={`${(outcome.before / most) * 100}%`} />
        <rect class="after" x="0" y="26" height="18" width={`${(outcome.step / most) * 100}%`} />
        {outcome.low !== null && outcome.high !== null && <line class="range" x1={`${(outcome.low / most) * 100}%`} x2={`${(outcome.high / most) * 100}%`} y1="35" y2="35" />}
        <text x="8" y="16">as replayed</text>
        <text x="8" y="40">with the changes</text>
      </svg>
      <p class="faint">
        The replay without changes is {formatValue(Math.abs(outcome.error), 'share')} off the recorded step.
        {outcome.limit !== '' && ` Next limit: ${outcome.limit}.`}
        {!outcome.found && ' Nothing in the recording belongs to these parts.'}
      </p>
    </>
  );
}
