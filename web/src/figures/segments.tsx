// An address map: each segment is as wide as it is large, and divided by what its memory holds.
import { useMemo } from 'preact/hooks';
import { hasColumns, records, text, type Row } from '../data/table.ts';
import type { Table } from '../data/types.ts';
import { WAITING } from '../words/palette.ts';
import { shortPlace } from '../words/names.ts';
import { formatValue } from '../words/units.ts';
import { familyOfPlace, MAX_PLACE } from './held.tsx';
import { fillOf, Swatch } from './swatch.tsx';

const MAX_NAMED = 8;
const LINES = 12; // that all segments fill, about

export const isMap = (table: Table) => table.rows.length > 0 && hasColumns(table, { segment: '', offset: 'bytes', size: 'bytes', state: '', place: '' });

const sizeOf = (row: Row) => Number(row.size);
const bytes = (value: number) => formatValue(value, 'bytes');
const sum = (rows: Row[]) => rows.reduce((all, row) => all + sizeOf(row), 0);

/** The largest first. */
function groups(rows: Row[], keyOf: (row: Row) => string) {
  const found = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    if (!found.has(key)) found.set(key, []);
    found.get(key)!.push(row);
  }
  return [...found].map(([key, of]) => ({ key, of, size: sum(of) })).sort((a, b) => b.size - a.size);
}

export function AddressMap({ table }: { table: Table }) {
  const rows = useMemo(() => records(table), [table]);
  const places = groups(rows.filter((row) => row.state === 'used'), (row) => text(row.place)).slice(0, MAX_NAMED);
  const segments = groups(rows, (row) => `${text(row.rank)}/${text(row.device)}/${text(row.segment)}`);
  const line = segments[0]!.size * Math.ceil(sum(rows) / LINES / segments[0]!.size);
  const family = ({ state, place }: Row) => (state === 'pending' ? WAITING : familyOfPlace(state === 'used' ? places.findIndex(({ key }) => key === place) : -1));
  return (
    <>
      <div class="map" role="img" aria-label={`${segments.length} segments by size, divided by what they hold. The table has the numbers.`}>
        {segments.map(({ key, of, size }) => (
          <svg key={key} height="20" style={{ width: `calc(${(size / line) * 100}% - 2px)` }}>
            {of.map((row) => row.state !== 'free' && (
              <rect key={row.offset} x={`${(Number(row.offset) / size) * 100}%`} width={`${(sizeOf(row) / size) * 100}%`} height="20" fill={fillOf(family(row))}>
                <title>{`${text(row.place)}, ${text(row.state)}: ${bytes(sizeOf(row))} of ${bytes(size)}`}</title>
              </rect>
            ))}
          </svg>
        ))}
      </div>
      <ul class="legend">
        {places.map(({ key, size }, i) => <li key={key} title={key}><Swatch family={familyOfPlace(i)} /> {shortPlace(key, MAX_PLACE)} <b>{bytes(size)}</b></li>)}
        <li><Swatch family={familyOfPlace(-1)} /> others, or small parts</li>
        <li><Swatch family={WAITING} /> waits for another stream</li>
        <li>blank: free</li>
      </ul>
    </>
  );
}
