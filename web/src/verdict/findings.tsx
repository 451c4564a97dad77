// Findings, ranked by what they save, each with what to do, why, how sure, and how to check.
import { useState } from 'preact/hooks';
import type { Report } from '../data/types.ts';
import { change, hrefTo, param, run, scope, source } from '../state/app.ts';
import { formatMoment } from '../state/link.ts';
import { Answer } from '../shell/answer.tsx';
import { TableCard } from '../table/card.tsx';
import { whenWords, type Finding } from './model.ts';
import { Proofs } from './proofs.tsx';

const SHOWN = 5;

const NOTHING: Record<string, string> = {
  'nothing is wrong': 'No rule found anything wrong. The device is busy with compute.',
  'cannot tell': 'The recording cannot support a verdict. The notes on the right say what is missing.',
  'no step': 'The recording holds no training or inference step.',
};

interface Props { findings: Finding[]; outcome: string; together: string }

export function Findings({ findings, outcome, together }: Props) {
  const [all, setAll] = useState(false);
  if (findings.length === 0) {
    return (
      <section class="card" aria-label="Findings">
        <h2>What to change</h2>
        <p>{NOTHING[outcome] ?? 'No rule has a change that is worth making.'}</p>
      </section>
    );
  }
  const shown = all ? findings : findings.slice(0, SHOWN);
  return (
    <section class="findings" aria-label="Findings">
      {shown.map((finding, i) => (
        <div key={finding.id}>
          {(i === 0 || finding.when !== shown[i - 1]!.when) && (
            <h2>
              {whenWords(finding.when)}
              {i === 0 && together !== '' && finding.when === 'now' && <span class="faint">together ≈ {together} per step</span>}
            </h2>
          )}
          <Card finding={finding} number={i + 1} open={i === 0} />
        </div>
      ))}
      {findings.length > SHOWN && (
        <button type="button" onClick={() => setAll(!all)}>{all ? 'Fewer findings' : `${findings.length - SHOWN} more findings`}</button>
      )}
      {findings.filter((finding) => finding.saving !== '').length > 1 && <p class="faint">Savings of causes that overlap do not add up.</p>}
    </section>
  );
}

function Card({ finding, number, open }: { finding: Finding; number: number; open: boolean }) {
  const asked = param('row') === `${finding.id}.${number}`;
  return (
    <article class="card finding">
      <header>
        <span class="number" aria-hidden="true">{number}</span>
        <h3>{finding.whose !== '' && <span class="faint">{finding.whose}: </span>}{finding.title}</h3>
        <p class="saves">
          {finding.saving !== '' && <span>saves ≈ <b>{finding.saving}</b> per {finding.per}</span>}
          <span class={`confidence ${finding.confidence}`}><Meter level={finding.confidence} /> {finding.confidence} confidence</span>
        </p>
      </header>
      {finding.remedy !== '' && <p class="remedy"><b>Do</b> {finding.remedy}</p>}
      {finding.aside !== '' && <p class="faint">{finding.aside}</p>}
      <p class="proofs">
        <b>See</b>{' '}
        {finding.at !== null && <><a href={hrefTo('timeline', { at: formatMoment(finding.at) })}>it in the timeline</a>; </>}
        <Proofs proofs={finding.evidence} />
      </p>
      <details open={open || asked}>
        <summary>Why, and how to check</summary>
        <dl class="facts-list">
          <div><dt>Confidence</dt><dd>{finding.confidence}: {finding.because}</dd></div>
          {finding.verify !== '' && <div><dt>Check</dt><dd>{finding.verify}</dd></div>}
          <div><dt>Rule</dt><dd>{finding.id} <button type="button" class="link" aria-expanded={asked}
            onClick={() => change({ row: asked ? undefined : `${finding.id}.${number}` })}>{asked ? 'Hide its inputs' : 'Show its inputs'}</button></dd></div>
        </dl>
        {asked && <Explained id={finding.id} />}
      </details>
    </article>
  );
}

const LEVELS = ['low', 'medium', 'high'];

function Meter({ level }: { level: string }) {
  const filled = LEVELS.indexOf(level) + 1;
  return (
    <svg width="16" height="12" viewBox="0 0 16 12" aria-hidden="true">
      {LEVELS.map((_, i) => <rect key={i} x={i * 5.5} y={8 - i * 4} width="4" height={4 + i * 4} class={i < filled ? 'full' : 'hollow'} />)}
    </svg>
  );
}

function Explained({ id }: { id: string }) {
  const now = run.value!;
  return (
    <Answer of={`explain/${now.run}/${now.hash}/${id}/${scope.value.step ?? ''}`} what="the rule" ask={() => source.explain(now.run, id, scope.peek())}>
      {(report: Report) => (
        <div class="stack">
          {report.tables.filter((table) => table.title !== 'Rule' && table.rows.length > 0)
            .map((table, i) => <TableCard key={i} table={table} maxRows={8} />)}
        </div>
      )}
    </Answer>
  );
}
