// What changed from one run to another.
import { reportNamed, tableNamed, text } from '../data/table.ts';
import type { Reports, Run } from '../data/types.ts';
import { baseRun, facts, param, source } from '../state/app.ts';
import { Answer, Notes } from '../shell/answer.tsx';
import { Tabs } from './analysis.tsx';
import { WaterfallPlot } from '../figures/waterfall.tsx';
import { TableCard } from '../table/card.tsx';

export function DiffPage({ run }: { run: Run }) {
  if (facts.value !== null) {
    return (
      <>
        <h1>What changed between two runs?</h1>
        <section class="card"><p>This file holds one run. Compare two with:</p><pre>stepscope diff BASE {facts.value.trace} -o diff.html</pre></section>
      </>
    );
  }
  const base = baseRun.value;
  if (base === null || base.run === run.run) {
    return (
      <>
        <h1>What changed between two runs?</h1>
        <p>Choose above the run to compare with. It is A; the run in view, {run.name}, is B.</p>
      </>
    );
  }
  return (
    <Answer of={`diff/${base.run}/${base.hash}/${run.run}/${run.hash}`} what="the comparison" heading="What changed between two runs?" ask={() => source.diff(run.run, base.run)}>
      {(reports) => <Differences reports={reports} a={base} b={run} />}
    </Answer>
  );
}

/** A tab per answer that differs; the first holds the verdict. */
function Differences({ reports, a, b }: { reports: Reports; a: Run; b: Run }) {
  const verdict = tableNamed(reportNamed(reports, 'diff'), 'Verdict');
  const shown = reports.reports.map((report) => ({ ...report, tables: report.tables.filter((table) => table !== verdict && table.rows.length > 0) }))
    .filter((report) => report.tables.length > 0);
  const names = shown.map((report) => report.report);
  const chosen = shown.find((report) => report.report === param('tab')) ?? shown[0];
  return (
    <>
      <header class="page-head">
        <p class="scope"><span>What changed between two runs?</span><span>A: {a.name} · B: {b.name}</span></p>
        <h1>{text(verdict?.rows[0]?.[0]) || `What changed from ${a.name} to ${b.name}?`}</h1>
      </header>
      {chosen === undefined ? <p class="empty">Nothing differs.</p> : (
        <>
          <Tabs names={names} chosen={chosen.report} />
          <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${chosen.report}`} class="stack">
            <Notes notes={chosen.notes} />
            {chosen.tables.map((table) => <WaterfallPlot key={table.title} table={table} />)}
            {chosen.tables.map((table, i) => (
              <TableCard key={`${chosen.report}${table.title}`} table={table} place={String(i)} maxRows={table.rows.length > 10 && i < 2 ? 16 : 10} />
            ))}
          </div>
        </>
      )}
    </>
  );
}
