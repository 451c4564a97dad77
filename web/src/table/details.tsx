// The details of one row: where it leads, and every cell in full.
import { titled } from '../data/table.ts';
import type { Cell, Table } from '../data/types.ts';
import { Place } from '../shell/place.tsx';
import { address, copyText, hrefTo } from '../state/app.ts';
import { formatMoment } from '../state/link.ts';
import { shortName } from '../words/names.ts';
import { formatExact, formatValue } from '../words/units.ts';
import { everyTable, inLines, momentIn, namesIn, sourcesIn, stepIn } from './links.ts';

const LONG = 40; // letters, from which a cell takes a line of its own

export function RowDetails({ table, row, close }: { table: Table; row: Cell[]; close: () => void }) {
  const moment = momentIn(table, row);
  const step = stepIn(table, row);
  const names = namesIn(table, row, address.value.page);
  const sources = sourcesIn(table, row);
  return (
    <aside class="row-details" aria-label="Details of the row">
      <header>
        {moment && <a href={hrefTo('timeline', { at: formatMoment(moment) })}>Show in the timeline</a>}
        {step && <a href={hrefTo('timeline', step)}>Step {step.step}{step.rank === undefined ? '' : ` of rank ${step.rank}`} in the timeline</a>}
        <span class="grow" />
        <button type="button" onClick={() => copyRow(table, row)}>Copy row</button>
        <button type="button" onClick={close}>Close</button>
      </header>
      {names.length + sources.length > 0 && (
        <ul class="ways">
          {names.map(({ name, ways }) => (
            <li key={name}>
              <b title={name}>{shortName(name)}</b>
              {ways.map(({ words, page, params }) => <a key={words} href={hrefTo(page, params)}>{words}</a>)}
              <button type="button" class="link" onClick={() => copyText(name, 'The name is copied.')}>copy name</button>
            </li>
          ))}
          {sources.map(({ file, line, name }) => (
            <li key={`${file}${line}`}>
              <Place file={file} line={line} />
              {address.value.page !== 'source' && <a href={hrefTo('source', { filter: everyTable(`${file}(${line}): ${name}`) })}>on the page Source</a>}
            </li>
          ))}
        </ul>
      )}
      <dl>
        {table.columns.map((column, i) => row[i] === null || row[i] === '' ? null : (
          <div key={column.name} class={String(row[i]).length > LONG ? 'long' : undefined}>
            <dt>{titled(column.name)}</dt>
            <dd title={formatExact(row[i] ?? null, column.unit)}>{inLines(column, formatValue(row[i] ?? null, column.unit))}</dd>
          </div>
        ))}
      </dl>
    </aside>
  );
}

const copyRow = (table: Table, row: Cell[]) =>
  copyText(table.columns.map((column, i) => `${column.name}\t${formatExact(row[i] ?? null, column.unit)}`).join('\n'), 'The row is copied.');
