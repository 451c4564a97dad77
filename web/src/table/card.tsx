// A table with its title, filter, columns, CSV and the details of one row.
import { useId, useMemo, useState } from 'preact/hooks';
import type { Cell, Table } from '../data/types.ts';
import { change, param } from '../state/app.ts';
import { formatValue } from '../words/units.ts';
import { RowDetails } from './details.tsx';
import { Grid } from './grid.tsx';
import { EVERY } from './links.ts';
import { csvOf, orderedRows, shownColumns, type Sort } from './model.ts';

const FEW = 8; // rows that need no filter

interface Props {
  table: Table;
  /** Names the table in the address; tables without one keep their order to themselves. */
  place?: string;
  maxRows?: number;
  onRow?: (row: Cell[]) => void;
}

/** "2:conv" in the address is "conv" for table 2, and "*:conv" is "conv" for every table. */
function ownPart(name: 'sort' | 'filter' | 'row', place: string | undefined): string {
  const value = param(name) ?? '';
  const own = [`${place}:`, EVERY].find((start) => value.startsWith(start));
  return place === undefined || own === undefined ? '' : value.slice(own.length);
}

function sortIn(table: Table, words: string): Sort | null {
  const [name, up] = words.split('~');
  const index = table.columns.findIndex((column) => column.name === name);
  return index < 0 ? null : { index, up: up === 'up' };
}

export function TableCard({ table, place, maxRows = 14, onRow }: Props) {
  const id = useId();
  const [all, setAll] = useState(false);
  const [own, setOwn] = useState({ sort: ownPart('sort', place), filter: ownPart('filter', place), row: ownPart('row', place) });
  const chosen = own.row === '' ? null : table.rows[Number(own.row)] ?? null;
  const sort = useMemo(() => sortIn(table, own.sort), [table, own.sort]);
  const columns = useMemo(() => shownColumns(table, all), [table, all]);
  const rows = useMemo(() => orderedRows(table, own.filter, sort), [table, own.filter, sort]);
  const hidden = useMemo(() => shownColumns(table, true).length - shownColumns(table, false).length, [table]);

  const set = (next: Partial<typeof own>) => {
    setOwn({ ...own, ...next });
    if (place === undefined) return;
    if (next.sort !== undefined) change({ sort: `${place}:${next.sort}` });
    if (next.filter !== undefined) change({ filter: next.filter === '' ? undefined : `${place}:${next.filter}` });
    if (next.row !== undefined) change({ row: next.row === '' ? undefined : `${place}:${next.row}` });
  };
  const choose = (row: Cell[] | null) => {
    set({ row: row === null ? '' : String(table.rows.indexOf(row)) });
    if (row !== null) onRow?.(row);
  };
  if (rows.length === 0 && (param('filter') ?? '').startsWith(EVERY)) return <p class="faint">{table.title}: no row contains “{own.filter}”.</p>;
  return (
    <section class="card table" aria-label={table.title}>
      <header>
        <h2>{table.title}</h2>
        <span class="count">{counted(rows.length, table.rows.length)}</span>
        <span class="grow" />
        {(table.rows.length > FEW || own.filter !== '') && (
          <input type="search" placeholder="Filter" aria-label={`Filter ${table.title}`} value={own.filter}
            onInput={(event) => set({ filter: event.currentTarget.value })} />
        )}
        {hidden > 0 && (
          <label class="check"><input type="checkbox" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} /> All columns</label>
        )}
        <button type="button" aria-label={`Save ${table.title} as CSV`} onClick={() => save(table, rows)}>CSV</button>
      </header>
      {rows.length === 0
        ? <p class="empty">No row contains “{own.filter}”.</p>
        : <Grid id={id} table={table} columns={columns} rows={rows} sort={sort} chosen={chosen} onChoose={choose} maxRows={maxRows}
            onSort={({ index, up }) => set({ sort: `${table.columns[index]!.name}${up ? '~up' : ''}` })} />}
      {chosen && <RowDetails table={table} row={chosen} close={() => choose(null)} />}
    </section>
  );
}

function counted(found: number, all: number): string {
  const rows = formatValue(all, 'count');
  return found === all ? `${rows} ${all === 1 ? 'row' : 'rows'}` : `${formatValue(found, 'count')} of ${rows} rows`;
}

function save(table: Table, rows: Cell[][]) {
  const address = URL.createObjectURL(new Blob([csvOf(table, rows)], { type: 'text/csv' }));
  const link = Object.assign(document.createElement('a'), { href: address, download: `${table.title.toLowerCase().replace(/\W+/g, '_')}.csv` });
  link.click();
  URL.revokeObjectURL(address);
}
