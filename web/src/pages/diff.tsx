// What changed from one run to another.
import { reportNamed, tableNamed, text } from '../data/table.ts';
import type { Reports, Run } from '../data/types.ts';
import { baseRun, source } from '../state/app.ts';
import { BasePicker } from '../shell/topbar.tsx';
import { Answer, Notes } from '../shell/answer.tsx';
import { TableCard } from '../table/card.tsx';

export function DiffPage({ run }: { run: Run }) {
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

function Differences({ reports }: { reports: Reports }) {
  const verdict = tableNamed(reportNamed(reports, 'diff'), 'Verdict');
  const tables = reports.reports.flatMap((report) => report.tables.filter((table) => table !== verdict && table.rows.length > 0));
  const notes = [...new Set(reports.reports.flatMap((report) => report.notes))];
  return (
    <div class="stack">
      {verdict && <section class="card"><p class="lead">{text(verdict.rows[0]?.[0])}</p><p class="faint">A is the run compared with, B the run above.</p></section>}
      <Notes notes={notes} />
      {tables.map((table, i) => <TableCard key={`${i}-${table.title}`} table={table} place={String(i)} maxRows={i === 1 ? 16 : 10} />)}
    </div>
  );
}
