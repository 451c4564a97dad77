// The roofline of a recording's operators.
import { useMemo } from 'preact/hooks';
import type { Table } from '../data/types.ts';
import { formatValue } from '../words/units.ts';
import { decades, logAt, placed, rooflineOf, type Point, type Roofline } from './roofline.ts';

const WIDTH = 1040;
const HEIGHT = 300;
const LEFT = 96;
const BOTTOM = 34;
const RIGHT = 12;
const TOP = 10;
const LABEL_PX = 6.6; // the mean width of a letter
const LINE_PX = 15;
const RADIUS: [number, number] = [4, 13];

/** A bound's colour, and its form, which says the same. */
const BOUNDS: Record<string, { family: string; form: 'circle' | 'square' | 'triangle' | 'diamond' }> = {
  compute: { family: 'compute', form: 'circle' }, memory: { family: 'copy', form: 'square' },
  latency: { family: 'waiting', form: 'triangle' }, balanced: { family: 'host', form: 'diamond' },
};
const lookOf = (bound: string) => BOUNDS[bound.split(' ')[0]!] ?? { family: 'other', form: 'circle' as const };

export function RooflinePlot({ table }: { table: Table }) {
  const all = useMemo(() => rooflineOf(table), [table]);
  if (all === null) return null;
  const bounds = Object.keys(BOUNDS).filter((bound) => all.points.some((one) => one.bound.startsWith(bound)));
  return (
    <section class="card figure" aria-label="Figure: roofline">
      <h2>How near each operator is to its roof</h2>
      <Plot all={all} />
      <ul class="legend">
        {bounds.map((bound) => <li key={bound}><svg width="16" height="14" aria-hidden="true"><Mark bound={bound} x={8} y={7} r={5} /></svg> bound by {bound}</li>)}
        <li class="faint">The line above a point ends at its own roof. A larger point took more time.</li>
      </ul>
    </section>
  );
}

function Plot({ all }: { all: Roofline }) {
  const across = (value: number) => LEFT + logAt(value, all.x) * (WIDTH - LEFT - RIGHT);
  const up = (value: number) => HEIGHT - BOTTOM - logAt(value, all.y) * (HEIGHT - BOTTOM - TOP);
  const longest = all.points[0]!.time;
  const radius = (one: Point) => Math.max(RADIUS[0], RADIUS[1] * Math.sqrt(one.time / longest));
  const boxes = all.points.map((one) => ({ x: across(one.intensity) + radius(one) + 3, y: up(one.rate) - LINE_PX / 2, width: one.name.length * LABEL_PX, height: LINE_PX }));
  const fits = placed(boxes.map((box) => (box.x + box.width > WIDTH ? { ...box, x: box.x - box.width - 2 * RADIUS[1] } : box)));
  const { memory, compute } = all.roofs;
  const ridgeOf = (rate: number) => (memory === null ? null : rate / memory);
  const ridge = compute[0] === undefined ? null : ridgeOf(compute[0].rate);
  const slope = (Math.atan2(up(all.x[1]) - up(all.x[0]), across(all.x[1]) - across(all.x[0])) * 180) / Math.PI;
  const words = all.points.slice(0, 3).map((one) => `${one.name} at ${formatValue(one.rate, 'flop_per_s')}${one.roof === null ? '' : ` of ${formatValue(one.roof, 'flop_per_s')}`}`).join('; ');
  return (
    <svg class="roofline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Roofline. ${words}. The table has the numbers.`}>
      {decades(all.x, 9).map((value) => (
        <g key={value}><line class="grid-line" x1={across(value)} x2={across(value)} y1={TOP} y2={HEIGHT - BOTTOM} />
          <text x={across(value)} y={HEIGHT - BOTTOM + 16} text-anchor="middle">{value >= 1 ? value : value.toPrecision(1)}</text></g>
      ))}
      {decades(all.y, 6).map((value) => (
        <g key={value}><line class="grid-line" x1={LEFT} x2={WIDTH - RIGHT} y1={up(value)} y2={up(value)} />
          <text x={LEFT - 8} y={up(value) + 4} text-anchor="end">{formatValue(value, 'flop_per_s').replace(/\.0+ /, ' ')}</text></g>
      ))}
      <text class="axis-title" x={WIDTH - RIGHT} y={HEIGHT - 3} text-anchor="end">work per byte of memory traffic (FLOP/B)</text>
      <svg x={LEFT} y={TOP} width={WIDTH - LEFT - RIGHT} height={HEIGHT - BOTTOM - TOP} viewBox={`${LEFT} ${TOP} ${WIDTH - LEFT - RIGHT} ${HEIGHT - BOTTOM - TOP}`}>
        {memory !== null && <line class="roof" x1={across(all.x[0])} y1={up(all.x[0] * memory)} x2={across(ridge ?? all.x[1])} y2={up((ridge ?? all.x[1]) * memory)} />}
        {compute.map(({ name, rate }) => <line key={name} class="roof" x1={across(ridgeOf(rate) ?? all.x[0])} y1={up(rate)} x2={across(all.x[1])} y2={up(rate)} />)}
      </svg>
      {memory !== null && (
        <text class="roof-name" transform={`translate(${LEFT + 10} ${up(all.x[0] * memory) - 8}) rotate(${slope})`}>memory {formatValue(memory, 'bytes_per_s')}</text>
      )}
      {compute.map(({ name, rate }) => <text key={name} class="roof-name" x={WIDTH - RIGHT - 4} y={up(rate) - 5} text-anchor="end">{name} {formatValue(rate, 'flop_per_s')}</text>)}
      {all.points.map((one, i) => (
        <g key={i}>
          <title>{`${one.name}: ${formatValue(one.rate, 'flop_per_s')}${one.roof === null ? '' : `, ${formatValue(one.rate / one.roof, 'share')} of its roof`}; ${formatValue(one.time, 'ns')}; bound by ${one.bound || 'unknown'}`}</title>
          {one.roof !== null && <path class="own-roof" d={`M${across(one.intensity)} ${up(one.rate)}V${up(one.roof)}m-4 0h8`} />}
          <Mark bound={one.bound} x={across(one.intensity)} y={up(one.rate)} r={radius(one)} />
        </g>
      ))}
      {all.points.map((one, i) => fits[i] && (
        <text key={i} class="point-name" x={boxes[i]!.x + boxes[i]!.width > WIDTH ? across(one.intensity) - radius(one) - 3 : boxes[i]!.x} y={boxes[i]!.y + LINE_PX - 4}
          text-anchor={boxes[i]!.x + boxes[i]!.width > WIDTH ? 'end' : 'start'}>{one.name}</text>
      ))}
    </svg>
  );
}

function Mark({ bound, x, y, r }: { bound: string; x: number; y: number; r: number }) {
  const { family, form } = lookOf(bound);
  const style = { fill: `var(--family-${family})` };
  if (form === 'circle') return <circle class="mark" cx={x} cy={y} r={r} style={style} />;
  const a = r * 0.9;
  const path = form === 'square' ? `M${x - a} ${y - a}h${2 * a}v${2 * a}h${-2 * a}z` : form === 'triangle' ? `M${x} ${y - r}L${x + r} ${y + a}H${x - r}z` : `M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}z`;
  return <path class="mark" d={path} style={style} />;
}
