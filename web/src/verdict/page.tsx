// The first screen: how long a step is, where it goes, what is wrong, what to do, and how sure that is.
import { useMemo, useState } from 'preact/hooks';
import { records, reportNamed, tableNamed, text } from '../data/table.ts';
import type { Reports, Run } from '../data/types.ts';
import { facts, hrefTo, openPage, param, reportOf } from '../state/app.ts';
import { StepChart } from '../figures/chart.tsx';
import { PartBars } from '../figures/partbar.tsx';
import { partsOf, stackOf } from '../figures/parts.ts';
import { StackLegend } from '../figures/figure.tsx';
import { Analysis, Lead, Tabs } from '../pages/analysis.tsx';
import { Scope } from '../pages/head.tsx';
import { Answer, Notes } from '../shell/answer.tsx';
import { pageNamed } from '../words/pages.ts';
import { formatValue } from '../words/units.ts';
import { Findings } from './findings.tsx';
import { verdictOf, type RankVerdict, type Verdict } from './model.ts';
import { Proofs } from './proofs.tsx';

const SUMMARY = 'verdict';

export function VerdictPage({ run }: { run: Run }) {
  const names = [SUMMARY, ...pageNamed('verdict').analyses];
  const tab = names.find((name) => name === param('tab')) ?? SUMMARY;
  return (
    <>
      <Tabs names={names} chosen={tab} />
      {tab !== SUMMARY ? <><Lead run={run} name={tab} question={pageNamed('verdict').question} /><Analysis key={tab} run={run} name={tab} /></> : (
        <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${SUMMARY}`} class="stack">
          <Answer {...reportOf(run)} what="the report" heading={pageNamed('verdict').question}>
            {(reports) => <><Scope run={run} question={pageNamed('verdict').question} /><Summary reports={reports} /></>}
          </Answer>
        </div>
      )}
    </>
  );
}

function Summary({ reports }: { reports: Reports }) {
  const verdict = useMemo(() => verdictOf(reports), [reports]);
  return (
    <>
      <Headlines verdict={verdict} />
      <div class="verdict-columns">
        <div class="stack">
          <Findings findings={verdict.findings} outcome={verdict.ranks[0]?.outcome ?? ''} together={verdict.together} />
          <Notes notes={verdict.notes} />
        </div>
        <div class="stack">
          <WhereItGoes reports={reports} ranks={verdict.ranks} />
          {hasSteps(verdict.ranks) && <Steps reports={reports} />}
          <HealthNotes verdict={verdict} />
          <Recording reports={reports} />
          <ThisFile />
        </div>
      </div>
    </>
  );
}

const BADGES: Record<string, string> = { 'cannot tell': 'doubt', 'no step': 'doubt', 'nothing is wrong': 'good' };

function Headlines({ verdict }: { verdict: Verdict }) {
  const [first, ...others] = verdict.ranks;
  if (first === undefined) return <p class="empty">The report holds no verdict.</p>;
  return (
    <section class="card headline" aria-label="Verdict">
      <Headline one={first} lead={true} />
      {others.length > 0 && (
        <details open={others.length === 1}>
          <summary>{others.length} more {others.length === 1 ? 'verdict' : 'verdicts'} of other ranks</summary>
          {others.map((one) => <Headline key={one.whose} one={one} lead={false} />)}
        </details>
      )}
    </section>
  );
}

function Headline({ one, lead }: { one: RankVerdict; lead: boolean }) {
  const end = one.headline.indexOf('. ');
  const [sentence, rest] = end < 0 ? [one.headline, ''] : [one.headline.slice(0, end + 1), one.headline.slice(end + 2)];
  const Title = lead ? 'h1' : 'p';
  return (
    <div class="rank-headline">
      <Title>{one.whose !== '' && <span class="faint">{one.whose}: </span>}{sentence}</Title>
      {rest !== '' && <p>{rest}</p>}
      <p class="facts">
        <span class={`badge ${BADGES[one.outcome] ?? ''}`}>{one.bound}</span>
        {one.outcome !== 'findings' && <span class={`badge ${BADGES[one.outcome] ?? ''}`}>{one.outcome}</span>}
        {one.step !== null && <span>mean step <b>{formatValue(one.step, 'ns')}</b></span>}
        {one.steps !== null && <span>{formatValue(one.steps, 'count')} complete {one.steps === 1 ? 'step' : 'steps'}</span>}
        {one.evidence.length > 0 && <span>see <Proofs proofs={one.evidence} /></span>}
      </p>
    </div>
  );
}

function WhereItGoes({ reports, ranks }: { reports: Reports; ranks: RankVerdict[] }) {
  const step = tableNamed(reportNamed(reports, 'steps'), 'Average step');
  const phases = tableNamed(reportNamed(reports, 'phases'), 'Phases');
  const wholes = step ? partsOf(step) : [];
  const perStep = hasSteps(ranks);
  const phaseWholes = phases ? partsOf(phases, perStep ? 'per_step' : 'time') : [];
  if (wholes.length === 0 && phaseWholes.length === 0) return null;
  const whole = perStep ? 'the mean step' : 'the whole recording';
  return (
    <section class="card" aria-label={`Where ${whole} goes`}>
      {wholes.length > 0 && <><h2>Where {whole} goes</h2><PartBars wholes={wholes} of={whole} /></>}
      {phaseWholes.length > 0 && <><h2>By phase on the host{perStep && ', per step'}</h2><PartBars wholes={phaseWholes} of="the host's time" /></>}
    </section>
  );
}

function Steps({ reports }: { reports: Reports }) {
  const table = reportNamed(reports, 'steps')?.tables.find((one) => one.shape === 'bars' && stackOf(one) !== null);
  const stack = useMemo(() => (table ? stackOf(table) : null), [table]);
  if (table === undefined || stack === null) return null;
  const steps = records(table);
  return (
    <section class="card" aria-label="Each step">
      <header><h2>Each step</h2><span class="grow" /><a href={hrefTo('verdict', { tab: 'steps' })}>Table of the steps</a></header>
      <StepChart stack={stack} height={140} onPick={(row) => openPage('timeline', { step: text(steps[row]?.step) })} />
      <StackLegend names={stack.parts.map((part) => part.name)} />
    </section>
  );
}

const hasSteps = (ranks: RankVerdict[]) => ranks.some((one) => one.steps !== 0);

const GRADES: Record<string, string> = { A: 'stops conclusions', B: 'lowers confidence', C: 'to know' };
const OPEN = 2;

function HealthNotes({ verdict }: { verdict: Verdict }) {
  const [all, setAll] = useState(false);
  const { health } = verdict;
  if (health.length === 0) return null;
  const shown = all ? health : health.slice(0, OPEN);
  return (
    <section class="card" aria-label="What the recording cannot show">
      <h2>What the recording cannot show</h2>
      <ul class="health">
        {shown.map((one) => (
          <li key={`${one.whose}${one.what}`} class={`grade-${one.grade}`}>
            <p><span class="badge">{GRADES[one.grade] ?? one.grade}</span> {one.whose !== '' && `${one.whose}: `}{one.what}</p>
            <p class="faint">Affects {one.suffers}. {one.remedy}</p>
          </li>
        ))}
      </ul>
      {health.length > OPEN && <button type="button" onClick={() => setAll(!all)}>{all ? 'Fewer' : `${health.length - OPEN} more`}</button>}
    </section>
  );
}

function Recording({ reports }: { reports: Reports }) {
  const rows = tableNamed(reportNamed(reports, 'overview'), 'Configuration')?.rows ?? [];
  if (rows.length === 0) return null;
  return (
    <section class="card" aria-label="Recording">
      <header><h2>Recording</h2><span class="grow" /><a href={hrefTo('verdict', { tab: 'overview' })}>What was recorded</a></header>
      <dl class="facts-list">
        {rows.slice(0, 8).map((row, i) => <div key={i}><dt>{row.slice(0, -1).map(text).join(' ')}</dt><dd>{text(row.at(-1))}</dd></div>)}
      </dl>
    </section>
  );
}

/** What a report file leaves out. */
function ThisFile() {
  const file = facts.value;
  if (file === null) return null;
  return (
    <section class="card" aria-label="This file">
      <h2>This file</h2>
      {file.left_out.map((sentence) => <p key={sentence}>{sentence}</p>)}
      <p>Areas of time, source lines and other steps need the recording: <code>stepscope serve {file.trace}</code></p>
    </section>
  );
}
