// A page of tables: one tab per analysis, each with what it answers, its figure and its tables.
import { titled } from '../data/table.ts';
import type { Report, Run } from '../data/types.ts';
import { analyses, change, param, scope, source } from '../state/app.ts';
import type { PageWords } from '../words/pages.ts';
import { Answer, Notes } from '../shell/answer.tsx';
import { heatColumns } from '../figures/heat.ts';
import { HeatMap } from '../figures/heatmap.tsx';
import { Figure } from '../figures/figure.tsx';
import { TableCard } from '../table/card.tsx';

export function AnalysisPage({ run, page }: { run: Run; page: PageWords }) {
  const tab = page.analyses.find((name) => name === param('tab')) ?? page.analyses[0]!;
  return (
    <>
      <h1>{page.question}</h1>
      {page.analyses.length > 1 && <Tabs names={page.analyses} chosen={tab} />}
      {page.id === 'distributed' && run.files > 1 && <Ranks run={run} />}
      <Analysis key={tab} run={run} name={tab} />
    </>
  );
}

/** The main figure of several ranks: which rank is slow in which step. */
function Ranks({ run }: { run: Run }) {
  const options = scope.value;
  return (
    <Answer of={`show/${run.run}/${run.hash}/steps/${options.step ?? ''}`} what="the steps of all ranks" ask={() => source.show(run.run, 'steps', options)}>
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
    change({ tab: next, sort: undefined, filter: undefined }, 'push');
    document.getElementById(`tab-${next}`)?.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Analyses" onKeyDown={onKey}>
      {names.map((name) => (
        <button key={name} id={`tab-${name}`} type="button" role="tab" aria-selected={name === chosen} aria-controls="tab-panel"
          tabIndex={name === chosen ? 0 : -1} onClick={() => change({ tab: name, sort: undefined, filter: undefined }, 'push')}>
          {titled(name)}
        </button>
      ))}
    </div>
  );
}

function answered(name: string): string {
  const row = analyses.value?.rows.find((one) => one[0] === name);
  const words = String(row?.[1] ?? '');
  return words === '' ? '' : `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

export function Analysis({ run, name }: { run: Run; name: string }) {
  const options = scope.value;
  return (
    <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${name}`} class="stack">
      <Answer of={`show/${run.run}/${run.hash}/${name}/${options.step ?? ''}`} what={titled(name).toLowerCase()}
        ask={() => source.show(run.run, name, options)}>
        {(report) => <Tables report={report} name={name} />}
      </Answer>
    </div>
  );
}

function Tables({ report, name }: { report: Report; name: string }) {
  const filled = report.tables.filter((table) => table.rows.length > 0);
  const empty = report.tables.filter((table) => table.rows.length === 0);
  return (
    <>
      <p class="lead">{answered(name)}</p>
      <Notes notes={report.notes} />
      {filled.map((table) => (
        <div key={table.title} class="stack">
          <Figure table={table} />
          <TableCard table={table} place={String(report.tables.indexOf(table))} maxRows={table === filled[0] ? 18 : 10} />
        </div>
      ))}
      {empty.length > 0 && (
        <p class="faint">Without rows in this recording: {empty.map((table) => table.title.toLowerCase()).join(', ')}.</p>
      )}
    </>
  );
}
