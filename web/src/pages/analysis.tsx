// A page of tables: one tab per analysis, each with what it answers, its figure and its tables.
import { reportNamed, titled } from '../data/table.ts';
import type { Report, Run, Table } from '../data/types.ts';
import { analyses, change, param, questionOf, reportOf } from '../state/app.ts';
import { OF_TAB } from '../state/link.ts';
import type { PageWords } from '../words/pages.ts';
import { Answer, Notes } from '../shell/answer.tsx';
import { heatColumns } from '../figures/heat.ts';
import { isHeld } from '../figures/held.ts';
import { HeatMap } from '../figures/heatmap.tsx';
import { Figure, hasFigure } from '../figures/figure.tsx';
import { TableCard } from '../table/card.tsx';
import { Head } from './head.tsx';
import { Snapshot } from './snapshot.tsx';
import { WhatIf } from './whatif.tsx';

export function AnalysisPage({ run, page }: { run: Run; page: PageWords }) {
  const asked = page.analyses.find((name) => name === param('tab'));
  if (asked !== undefined || page.id !== 'memory') return <Tab run={run} page={page} tab={asked ?? page.analyses[0]!} />;
  return (
    <Answer {...reportOf(run)} what="the report" heading={page.question}>
      {(all) => <Tab run={run} page={page} tab={page.analyses.find((name) => reportNamed(all, name)?.tables.some(({ rows }) => rows.length > 0)) ?? page.analyses[0]!} />}
    </Answer>
  );
}

function Tab({ run, page, tab }: { run: Run; page: PageWords; tab: string }) {
  return (
    <>
      <Lead run={run} name={tab} question={page.question} />
      {page.analyses.length > 1 && <Tabs names={page.analyses} chosen={tab} />}
      {tab === 'stragglers' && run.files > 1 && <Ranks run={run} />}
      <Analysis key={tab} run={run} name={tab} />
    </>
  );
}

/** The sentence that the analysis answers with. */
export function Lead({ run, name, question }: { run: Run; name: string; question: string }) {
  return <Head run={run} question={question} {...questionOf(run, name)} />;
}

/** The main figure of several ranks: which rank is slow in which step. */
function Ranks({ run }: { run: Run }) {
  return (
    <Answer {...questionOf(run, 'steps')} what="the steps of all ranks">
      {(report) => {
        const table = report.tables.find((one) => heatColumns(one).length > 0 && one.rows.length > 0);
        return table === undefined ? null : <HeatMap table={table} />;
      }}
    </Answer>
  );
}

export function Tabs({ names, chosen }: { names: readonly string[]; chosen: string }) {
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = names[(names.indexOf(chosen) + step + names.length) % names.length]!;
    change({ ...OF_TAB, tab: next }, 'push');
    document.getElementById(`tab-${next}`)?.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Analyses" onKeyDown={onKey}>
      {names.map((name) => (
        <button key={name} id={`tab-${name}`} type="button" role="tab" aria-selected={name === chosen} aria-controls="tab-panel"
          title={answered(name)} tabIndex={name === chosen ? 0 : -1} onClick={() => change({ ...OF_TAB, tab: name }, 'push')}>
          {titled(name)}
        </button>
      ))}
    </div>
  );
}

/** What an analysis answers, in the words of the program. */
const answered = (name: string) => String(analyses.value?.rows.find((row) => row[0] === name)?.[1] ?? '');

export function Analysis({ run, name }: { run: Run; name: string }) {
  return (
    <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${name}`} class="stack">
      {name === 'whatif' && <WhatIf key={run.run} run={run} />}
      <Answer {...questionOf(run, name)} what={titled(name).toLowerCase()}>
        {(report) => <Tables run={run} report={report} />}
      </Answer>
    </div>
  );
}

/** In a replay, what holds for all ranks together comes before what holds for each. */
function ordered(report: Report): Table[] {
  const filled = report.tables.filter((table) => table.rows.length > 0);
  const ofRanks = (table: Table) => table.columns.some((column) => column.name === 'rank');
  return report.report === 'whatif' ? [...filled.filter((table) => !ofRanks(table)), ...filled.filter(ofRanks)] : filled;
}

function Tables({ run, report }: { run: Run; report: Report }) {
  const filled = ordered(report);
  const held = filled.find(isHeld);
  const empty = report.tables.filter((table) => table.rows.length === 0);
  const main = filled.find((table) => table.shape === 'curve') ?? filled.find(hasFigure);
  return (
    <>
      <Notes notes={report.notes} />
      {held ? <Snapshot run={run} report={report} /> : main && <Figure table={main} />}
      {filled.map((table) => (
        <div key={table.title} class="stack">
          {table !== (held ?? main) && <Figure table={table} />}
          <TableCard table={table} place={String(report.tables.indexOf(table))} maxRows={table === filled[0] ? 18 : 10} />
        </div>
      ))}
      {empty.length > 0 && filled.length > 0 && (
        <p class="faint">Without rows in this recording: {empty.map((table) => table.title.toLowerCase()).join(', ')}.</p>
      )}
    </>
  );
}
