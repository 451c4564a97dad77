// The figure above a table, if its shape has one.
import { useMemo } from 'preact/hooks';
import type { Table } from '../data/types.ts';
import { CurveChart, StepChart } from './chart.tsx';
import { Flame, hasFlame } from './flame.tsx';
import { curvesOf, familyOfPart, partsOf, spoken, stackOf } from './parts.ts';
import { PartBars } from './partbar.tsx';
import { rooflineOf } from './roofline.ts';
import { RooflinePlot } from './roofline.tsx';
import { AddressMap, isMap } from './segments.tsx';
import { OneOf } from './some.tsx';
import { Swatch } from './swatch.tsx';

export const hasFigure = (table: Table) => partsOf(table).length > 0 || stackOf(table) !== null || curvesOf(table).length > 0 || hasFlame(table) || isMap(table) || rooflineOf(table) !== null;

export function Figure({ table }: { table: Table }) {
  const wholes = useMemo(() => partsOf(table), [table]);
  const stack = useMemo(() => stackOf(table), [table]);
  const curves = useMemo(() => curvesOf(table), [table]);
  const drawn = wholes.length > 0 ? <PartBars wholes={wholes} />
    : stack !== null ? <><StepChart stack={stack} /><StackLegend names={stack.parts.map((part) => part.name)} /></>
    : curves.length > 0 ? <OneOf of={curves}>{(curve) => <CurveChart curve={curve} />}</OneOf>
    : hasFlame(table) ? <Flame table={table} />
    : isMap(table) ? <AddressMap table={table} /> : null;
  if (drawn === null) return <RooflinePlot table={table} />;
  return <section class="card figure" aria-label={`Figure: ${table.title}`}><h2>{table.title}</h2>{drawn}</section>;
}

export function StackLegend({ names }: { names: string[] }) {
  return (
    <ul class="legend">
      {names.map((name) => <li key={name}><Swatch family={familyOfPart(name)} /> {spoken(name)}</li>)}
    </ul>
  );
}
