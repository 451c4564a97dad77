import type { Table } from '../data/types.ts';
import { formatValue } from '../words/units.ts';
import { waterfallOf } from './waterfall.ts';

const WIDTH = 1040;
const ROW = 26;
const LEFT = 190;
const RIGHT = 240;

const signed = (value: number) => `${value > 0 ? '▲ +' : value < 0 ? '▼ −' : ''}${formatValue(Math.round(Math.abs(value)), 'ns')}`;

export function WaterfallPlot({ table }: { table: Table }) {
  const all = waterfallOf(table);
  if (all === null) return null;
  const { a, b, falls } = all;
  const most = Math.max(a, b, ...falls.map((one) => Math.max(one.from, one.to)));
  const across = (value: number) => LEFT + (value / most) * (WIDTH - LEFT - RIGHT);
  const height = (falls.length + 2) * ROW;
  const words = `Step of A ${formatValue(a, 'ns')}, of B ${formatValue(b, 'ns')}. ${falls.map((one) => `${one.name} ${signed(one.change)}`).join(', ')}`;
  return (
    <section class="card figure" aria-label="Figure: from A to B">
      <h2>What leads from A to B, per step</h2>
      <svg class="waterfall" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={`${words}. The table has the numbers.`}>
        <Row y={0} name="step of A" words={formatValue(a, 'ns')} from={across(0)} to={across(a)} kind="whole" />
        {falls.map((one, i) => (
          <g key={one.name}>
            <line class="joint" x1={across(one.from)} x2={across(one.from)} y1={i * ROW + 4} y2={(i + 2) * ROW - 4} />
            <Row y={(i + 1) * ROW} name={one.name.replaceAll('_', ' ')} words={`${signed(one.change)}${one.state === '' || one.state === 'changed' ? '' : ` · ${one.state}`}`}
              from={across(Math.min(one.from, one.to))} to={across(Math.max(one.from, one.to))} kind={one.change > 0 ? 'worse' : 'better'} />
          </g>
        ))}
        <line class="joint" x1={across(b)} x2={across(b)} y1={falls.length * ROW + 4} y2={height - 4} />
        <Row y={height - ROW} name="step of B" words={formatValue(b, 'ns')} from={across(0)} to={across(b)} kind="whole" />
      </svg>
    </section>
  );
}

function Row({ y, name, words, from, to, kind }: { y: number; name: string; words: string; from: number; to: number; kind: string }) {
  return (
    <>
      <text x={LEFT - 12} y={y + 17} text-anchor="end">{name}</text>
      <rect class={kind} x={from} y={y + 4} width={Math.max(1.5, to - from)} height={ROW - 8} rx="2" />
      <text class={`amount ${kind}`} x={to + 8} y={y + 17}>{words}</text>
    </>
  );
}
