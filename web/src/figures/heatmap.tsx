// A map of ranks and steps. Arrow keys move the chosen cell; Enter opens its step in the timeline.
import { useMemo, useState } from 'preact/hooks';
import type { Table } from '../data/types.ts';
import { change, openPage, param } from '../state/app.ts';
import { formatValue } from '../words/units.ts';
import { heatColour, heatColumns, heatOf, heatText, largestFirst, mostUneven, type Heat } from './heat.ts';

const CELL = 26;
const LEAST_CELL = 3;
const WIDEST = 96;
const ROOM = 900; // pixels across that the cells share
const TALLEST = 420;
const LABEL = 70;
const LARGEST = 'largest';
const WORDS = 62; // pixels that a number in a cell needs

export function HeatMap({ table }: { table: Table }) {
  const columns = heatColumns(table);
  const [asked, order] = (param('heat') ?? '').split('~');
  const value = useMemo(() => columns.find((name) => name === asked) ?? mostUneven(table), [table, asked]);
  const byRank = order !== LARGEST;
  const show = (name: string, inOrder: boolean) => change({ heat: `${name}${inOrder ? '' : `~${LARGEST}`}` });
  const heat = useMemo(() => {
    const all = heatOf(table, value);
    return all === null || byRank ? all : largestFirst(all);
  }, [table, value, byRank]);
  if (heat === null) return null;
  return (
    <section class="card figure" aria-label="Ranks and steps">
      <header>
        <h2>Ranks and steps</h2>
        <span class="grow" />
        <span class="segments" role="group" aria-label="Order of the ranks">
          <button type="button" aria-pressed={byRank} onClick={() => show(value, true)}>By rank</button>
          <button type="button" aria-pressed={!byRank} onClick={() => show(value, false)}>Largest first</button>
        </span>
        <label class="picker"><span>Show</span>
          <select value={value} onChange={(event) => show(event.currentTarget.value, byRank)}>
            {columns.map((name) => <option key={name} value={name}>{name.replaceAll('_', ' ')}</option>)}
          </select>
        </label>
      </header>
      <Cells key={`${value}${byRank}`} heat={heat} what={value.replaceAll('_', ' ')} />
    </section>
  );
}

function Cells({ heat, what }: { heat: Heat; what: string }) {
  const [at, setAt] = useState<[number, number]>([0, 0]);
  const wide = Math.max(LEAST_CELL, Math.min(WIDEST, Math.floor(ROOM / heat.columns.length)));
  const high = Math.max(LEAST_CELL, Math.min(CELL, Math.floor(TALLEST / heat.rows.length)));
  const share = (cell: number) => (heat.most === heat.least ? 0.3 : (cell - heat.least) / (heat.most - heat.least));
  const open = ([row, column]: [number, number]) => openPage('timeline', { step: heat.columns[column]!, rank: heat.rows[row]! });
  const move = (event: KeyboardEvent) => {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === 'Enter') open(at);
    else if (by !== undefined) {
      setAt([Math.max(0, Math.min(heat.rows.length - 1, at[0] + by[0]!)), Math.max(0, Math.min(heat.columns.length - 1, at[1] + by[1]!))]);
    } else return;
    event.preventDefault();
  };
  const said = ([row, column]: [number, number]) =>
    `rank ${heat.rows[row]}, step ${heat.columns[column]}: ${what} ${formatValue(heat.cells[row]![column] ?? null, heat.unit) || 'unknown'}`;
  const ends = every(heat.columns.length, wide, 34);
  const rowEnds = every(heat.rows.length, high, 16);
  return (
    <>
      <div class="heat" tabIndex={0} role="application" aria-label={`Map of ranks and steps. ${said(at)}. Enter opens the step in the timeline.`} onKeyDown={move}>
        <svg width={LABEL + wide * heat.columns.length + 2} height={20 + high * heat.rows.length + 2} aria-hidden="true">
          {heat.columns.map((name, i) => i % ends === 0 && <text key={name} class="axis" x={LABEL + (i + 0.5) * wide} y="12" text-anchor="middle">{wide >= WORDS ? `step ${name}` : name}</text>)}
          {heat.rows.map((name, i) => i % rowEnds === 0 && <text key={name} class="axis" x={LABEL - 8} y={20 + (i + 0.5) * high + 4} text-anchor="end">rank {name}</text>)}
          {heat.cells.map((cells, row) => cells.map((cell, column) => cell !== null && (
            <g key={`${row}/${column}`} onClick={() => open([row, column])} onMouseEnter={() => setAt([row, column])}>
              <rect x={LABEL + column * wide} y={20 + row * high} width={wide - (wide > 6 ? 1 : 0)} height={high - (high > 6 ? 1 : 0)} style={{ fill: heatColour(share(cell)) }} />
              {wide >= WORDS && high >= 16 && (
                <text x={LABEL + (column + 0.5) * wide} y={20 + (row + 0.5) * high + 4} text-anchor="middle" style={{ fill: heatText(share(cell)) }}>{formatValue(cell, heat.unit)}</text>
              )}
            </g>
          )))}
          <rect class="chosen" x={LABEL + at[1] * wide} y={20 + at[0] * high} width={wide - 1} height={high - 1} />
        </svg>
      </div>
      <p class="faint" aria-live="polite">{said(at)}. {scaleWords(heat)}</p>
    </>
  );
}

const scaleWords = (heat: Heat) => `Light is ${formatValue(heat.least, heat.unit)}, dark is ${formatValue(heat.most, heat.unit)}.`;

/** Every how many cells a label fits. */
const every = (count: number, size: number, room: number) => Math.max(1, Math.min(count, Math.ceil(room / size)));
