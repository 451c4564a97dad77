// A table of any length: only the rows in view are in the page.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Cell, Table } from '../data/types.ts';
import { hrefTo, showInTimeline } from '../state/app.ts';
import { isName } from './links.ts';
import { depthOf, label, orderedBy, type Shown, type Sort } from './model.ts';

export const ROW_PX = 26;
const BEYOND = 8; // rows drawn above and below the view
const FLEXIBLE = 28; // a text column at least this wide takes the room that is left
const SHARED = 17; // the least width of each where there are several
const LETTER = 0.95; // of the width of a digit
const PADDING = 2.1;

const PLACES = ['rank', 'device']; // columns before that of a tree's names

interface Props {
  id: string;
  table: Table;
  columns: Shown[];
  rows: Cell[][];
  sort: Sort | null;
  onSort: (sort: Sort) => void;
  chosen: Cell[] | null;
  onChoose: (row: Cell[] | null) => void;
  maxRows: number;
}

/** Every row is a grid of its own, so all widths are fixed; wide texts share the room that is left. */
function layoutOf(columns: Shown[]): { gridTemplateColumns: string; minWidth: string } {
  const wide = columns.filter(({ isText, width }) => isText && width >= FLEXIBLE);
  const isFlexible = (one: Shown) => wide.includes(one);
  const room = wide.length > 1 ? SHARED : FLEXIBLE;
  const least = (one: Shown) => (isFlexible(one) ? room : one.width) * LETTER + PADDING;
  const tracks = columns.map((one) => (isFlexible(one) ? `minmax(${least(one)}ch, ${one.width}fr)` : `${least(one)}ch`));
  if (!columns.some(isFlexible)) tracks.push('1fr');
  return { gridTemplateColumns: tracks.join(' '), minWidth: `calc(${columns.reduce((sum, one) => sum + least(one), 0)}ch + 12px)` };
}

export function Grid({ id, table, columns, rows, sort, onSort, chosen, onChoose, maxRows }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [active, setActive] = useState(-1);
  useEffect(() => { scroller.current?.scrollTo({ top: 0 }); setActive(-1); }, [rows]);
  const grid = useMemo(() => layoutOf(columns), [columns]);
  const seen = Math.min(rows.length, maxRows);
  const first = Math.max(0, Math.floor(top / ROW_PX) - BEYOND);
  const last = Math.min(rows.length, first + seen + 2 * BEYOND);

  const name = useMemo(() => table.columns.findIndex(isName), [table]);
  const nameOf = (row: Cell[] | undefined) => row?.[name];
  const move = (to: number) => {
    const row = Math.max(0, Math.min(rows.length - 1, to));
    setActive(row);
    const box = scroller.current!;
    const visible = box.clientHeight - ROW_PX;
    if (row * ROW_PX < box.scrollTop) box.scrollTop = row * ROW_PX;
    else if ((row + 1) * ROW_PX > box.scrollTop + visible) box.scrollTop = (row + 1) * ROW_PX - visible;
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const page = seen - 1;
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: rows.length - 1 }[event.key];
    if (to !== undefined) move(to);
    else if (event.key === 't' && typeof nameOf(rows[active]) === 'string') showInTimeline({ longest: String(nameOf(rows[active])) });
    else if (event.key === 'Enter' && rows[active] !== undefined) onChoose(rows[active] === chosen ? null : rows[active]!);
    else if (event.key === 'Escape' && chosen !== null) onChoose(null);
    else return;
    event.preventDefault();
  };
  const depth = depthOf(table);
  const named = columns.find((one) => one.isText && !PLACES.includes(one.column.name))?.index;
  const ordered = useMemo(() => orderedBy(table), [table]);
  return (
    <div class="grid" ref={scroller} role="grid" tabIndex={0} aria-label={table.title} aria-rowcount={rows.length + 1}
      aria-colcount={columns.length} style={{ maxHeight: `${(seen + 1) * ROW_PX + 18}px` }}
      {...(active >= first && active < last && { 'aria-activedescendant': `${id}-${active}` })}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)} onKeyDown={onKey}>
      <div class="grid-head" role="rowgroup" style={{ minWidth: grid.minWidth }}>
        <div class="grid-row" role="row" style={grid} aria-rowindex={1}>
          {columns.map((one) => <Head key={one.index} one={one} sort={sort} onSort={onSort} />)}
        </div>
      </div>
      <div class="grid-body" role="rowgroup" style={{ height: `${rows.length * ROW_PX}px`, minWidth: grid.minWidth }}>
        <div class="grid-window" role="presentation" style={{ transform: `translateY(${first * ROW_PX}px)` }}>
          {rows.slice(first, last).map((row, i) => (
            <div key={first + i} id={`${id}-${first + i}`} role="row" aria-rowindex={first + i + 2} style={grid}
              class={`grid-row${row === chosen ? ' chosen' : ''}${first + i === active ? ' active' : ''}`}
              aria-selected={row === chosen} onClick={() => { setActive(first + i); onChoose(row === chosen ? null : row); }}>
              {columns.map((one) => (
                <Field key={one.index} one={one} cell={row[one.index] ?? null} barred={one.index === (sort?.index ?? ordered)}
                  depth={one.index === named && depth >= 0 ? Number(row[depth] ?? 0) : 0} leads={one.index === name} />
              ))}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

function Head({ one, sort, onSort }: { one: Shown; sort: Sort | null; onSort: (sort: Sort) => void }) {
  const sorted = sort?.index === one.index;
  const mark = !sorted ? '' : sort.up ? ' ▲' : ' ▼';
  return (
    <div role="columnheader" class={one.isText ? 'text' : 'number'} aria-sort={!sorted ? 'none' : sort.up ? 'ascending' : 'descending'}>
      <button type="button" onClick={() => onSort({ index: one.index, up: sorted ? !sort.up : one.isText })}>
        {label(one.column)}<span aria-hidden="true">{mark}</span>
      </button>
    </div>
  );
}

const JUMP = 'Its longest event, in the timeline (T)';

interface FieldProps { one: Shown; cell: Cell; barred: boolean; depth: number; leads: boolean }

function Field({ one, cell, barred, depth, leads }: FieldProps) {
  const words = one.format(cell);
  const size = typeof cell === 'number' ? Math.abs(cell) : 0;
  const whole = one.column.role === 'share' ? 1 : one.most;
  const bar = (barred || one.column.role === 'share') && size > 0 && one.column.role !== 'key' && one.column.role !== 'change';
  const change = one.column.role === 'change' && typeof cell === 'number' && cell !== 0 ? (cell > 0 ? ' worse' : ' better') : '';
  return (
    <div role="gridcell" class={`${one.isText ? 'text' : 'number'}${change}`} title={one.isText && typeof cell === 'string' ? cell : undefined}
      style={depth > 0 ? { paddingLeft: `${8 + depth * 14}px` } : undefined}>
      {bar && <span class="bar" aria-hidden="true" style={{ width: `${Math.min(100, (size / whole) * 100).toFixed(1)}%` }} />}
      <span class="words">{words}</span>
      {leads && typeof cell === 'string' && (
        <a class="jump" href={hrefTo('timeline', { longest: cell })} tabIndex={-1} title={JUMP} aria-label={JUMP}
          onClick={(event) => { event.preventDefault(); event.stopPropagation(); showInTimeline({ longest: cell }); }}>⇥</a>
      )}
    </div>
  );
}
