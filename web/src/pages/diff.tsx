// What changed from one run to another.
import { reportNamed, tableNamed, text } from '../data/table.ts';
import type { Reports, Run } from '../data/types.ts';
import { baseRun, facts, param, source } from '../state/app.ts';
import { BasePicker } from '../shell/topbar.tsx';
import { Answer, Notes } from '../shell/answer.tsx';
import { Tabs } from './analysis.tsx';
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
        <section class="card"><p>Choose the run to compare with. It is A; the run above is B.</p><BasePicker /></section>
      </>
    );
  }
  return (
    <>
      <h1>What changed from {base.name} to {run.name}?</h1>
      <Answer of={`diff/${base.run}/${base.hash}/${run.run}/${run.hash}`} what="the comparison" ask={() => source.diff(run.run, base.run)}>
        {(reports) => <Differences reports={reports} />}
      </Answer>
    </>
  );
}

/** A tab per answer that differs; the first holds the verdict. */
function Differences({ reports }: { reports: Reports }) {
  const verdict = tableNamed(reportNamed(reports, 'diff'), 'Verdict');
  const shown = reports.reports.map((report) => ({ ...report, tables: report.tables.filter((table) => table !== verdict && table.rows.length > 0) }))
    .filter((report) => report.tables.length > 0);
  const names = shown.map((report) => report.report);
  const chosen = shown.find((report) => report.report === param('tab')) ?? shown[0];
  return (
    <div class="stack">
      {verdict && <section class="card" aria-label="Verdict"><p class="lead">{text(verdict.rows[0]?.[0])}</p><p class="faint">A is the run compared with, B the run above.</p></section>}
      {chosen === undefined ? <p class="empty">Nothing differs.</p> : (
        <>
          <Tabs names={names} chosen={chosen.report} />
          <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${chosen.report}`} class="stack">
            <Notes notes={chosen.notes} />
            {chosen.tables.map((table, i) => (
              <TableCard key={`${chosen.report}${table.title}`} table={table} place={String(i)} maxRows={table.rows.length > 10 && i < 2 ? 16 : 10} />
            ))}
          </div>
        </>
      )}
    </div>
  );
}
