// A memory snapshot over its events, and what was allocated between two instants and not freed.
import { useMemo } from 'preact/hooks';
import { rowsWith } from '../data/table.ts';
import type { Column, Options, Report, Run, Table } from '../data/types.ts';
import { OneOf } from '../figures/some.tsx';
import { heldOf, type Held } from '../figures/held.ts';
import { HeldChart } from '../figures/held.tsx';
import { Answer } from '../shell/answer.tsx';
import { change, param, questionOf } from '../state/app.ts';
import { formatSpan, parseSpan } from '../state/link.ts';
import { load } from '../state/load.ts';
import { TableCard } from '../table/card.tsx';
import { formatValue } from '../words/units.ts';

const COLUMNS: Column[] = [
  { name: 'place', unit: '', role: 'key' }, { name: 'kept', unit: 'bytes', role: 'value' }, { name: 'kept_count', unit: 'count', role: 'value' }];

export function Snapshot({ run, report }: { run: Run; report: Report }) {
  const devices = useMemo(() => heldOf(report), [report]);
  return <OneOf of={devices}>{(held) => <Device key={held.of} run={run} held={held} />}</OneOf>;
}

function Device({ run, held }: { run: Run; held: Held }) {
  const byTime = param('axis') === 'time' && held.times.length > 0;
  const asked = (param('marks') ?? '').split(',').map((one) => (/^-?\d+$/.test(one) ? Number(one) : null));
  const [a, b] = [asked[0] ?? -1, asked[1] ?? held.marks[0]?.event ?? -1];
  const options: Options = asked.some((one) => one !== null) ? { since: String(Math.min(a, b)), until: String(Math.max(a, b)) } : {};
  const span = parseSpan(param('t'));
  const { of, ask } = questionOf(run, 'memory_curve', span ? { since: String(span.from), until: String(span.to) } : undefined);
  const detail = useMemo(() => load(of, ask), [of]).value;
  const part = useMemo(() => (detail.state === 'ok' ? heldOf(detail.value).find((one) => one.of === held.of) : undefined), [detail]);
  return (
    <>
      <section class="card figure" aria-label="Memory by place">
        <header>
          <h2>Requested memory, by place</h2>
          <span class="grow" />
          {span && <button type="button" onClick={() => change({ t: undefined })}>Show all</button>}
          {held.times.length > 0 && (
            <span class="segments" role="group" aria-label="Axis">
              <button type="button" aria-pressed={!byTime} onClick={() => change({ axis: undefined })}>Events</button>
              <button type="button" aria-pressed={byTime} onClick={() => change({ axis: 'time' })}>Time</button>
            </span>
          )}
        </header>
        <HeldChart held={part ?? held} byTime={byTime} isPart={span !== null} onZoom={(from, to) => change({ t: formatSpan(from, to) })} a={Math.min(a, b)} b={Math.max(a, b)} onPick={(event, isB) => change({ marks: isB ? `${a},${event}` : `${event},${b}` })} />
      </section>
      <Answer {...questionOf(run, 'memory_diff', options)} what="what was allocated between A and B">
        {(diff) => <TableCard key={JSON.stringify(options)} table={keptIn(diff, held, `${nameOf(Math.min(a, b))} (A) and not freed at ${nameOf(Math.max(a, b))} (B)`)} />}
      </Answer>
    </>
  );
}

const nameOf = (event: number) => (event < 0 ? 'the start' : `event ${formatValue(event, 'count')}`);

/** What was allocated after A and is alive at B, the largest first. */
function keptIn(diff: Report, held: Held, when: string): Table {
  const rows = rowsWith(diff, { place: '', kept: 'bytes', kept_count: 'count' }).filter((row) => held.isDevice(row) && Number(row.kept) > 0);
  return {
    title: `Allocated after ${when}, by place`, shape: 'table', columns: COLUMNS,
    rows: rows.sort((one, other) => Number(other.kept) - Number(one.kept)).map((row) => COLUMNS.map(({ name }) => row[name] ?? null)),
  };
}
