// The selected area as tables, or two areas side by side.
import type { Report, Table } from '../data/types.ts';
import { Answer, Notes } from '../shell/answer.tsx';
import { TableCard } from '../table/card.tsx';
import { areaWords } from './area_words.ts';
import { tablesOf } from './areas.ts';
import type { Model } from './model.ts';
import type { Area } from './paint.ts';

export function AreaTab({ model }: { model: Model }) {
  const [area, other] = [model.area.value, model.other.value];
  if (area === null) return <p class="empty">Drag over lanes, or press R on an event, to select an area of time.</p>;
  const key = (one: Area) => `${one.span.from},${one.span.to},${[...one.lanes].join(',')}`;
  return (
    <div class="stack">
      <p class="areas">
        {other !== null && <b>A, old: </b>}{areaWords(model.timeline, area)}
        {other !== null && <><br /><b>B, new: </b>{areaWords(model.timeline, other)}</>}
        {' '}
        {other === null
          ? <button type="button" aria-pressed={model.comparing.value} onClick={() => { model.comparing.value = !model.comparing.peek(); }}>
              {model.comparing.value ? 'Drag over the other area …' : 'Compare with another area'}
            </button>
          : <button type="button" onClick={() => model.compare(null)}>Stop comparing</button>}
      </p>
      {model.dragging.value ? <p class="faint">The tables follow when the drag ends.</p> : other === null
        ? (
          <Answer of={`area/${model.run.run}/${model.run.hash}/${key(area)}`} what="the area" ask={() => model.askArea(area)}>
            {(report) => <Tables notes={report.notes} tables={report.tables} />}
          </Answer>
        ) : (
          <Answer of={`areas/${model.run.run}/${model.run.hash}/${key(area)}/${key(other)}`} what="both areas" ask={() => Promise.all([area, other].map((one) => model.askArea(one)))}>
            {([old, now]) => <Tables notes={notesOf(old!, now!)} tables={tablesOf(old!, now!)} />}
          </Answer>
        )}
    </div>
  );
}

const notesOf = (old: Report, now: Report) => [...old.notes.map((note) => `A: ${note}`), ...now.notes.map((note) => `B: ${note}`)];

function Tables({ notes, tables }: { notes: string[]; tables: Table[] }) {
  const filled = tables.filter((table) => table.rows.length > 0);
  return (
    <>
      {filled.map((table) => <TableCard key={table.title} table={table} maxRows={8} />)}
      {filled.length === 0 && <p class="empty">No event is in this area.</p>}
      <Notes notes={notes} />
    </>
  );
}
