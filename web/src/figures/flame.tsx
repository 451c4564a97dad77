// A flame graph, read from the top: each frame is as wide as the time in it, below the frame that called it.
import { useState } from 'preact/hooks';
import type { Table } from '../data/types.ts';
import { formatValue, type Unit } from '../words/units.ts';
import { familyOfFrame, framesIn, pathTo, type Node } from './flame.ts';

const FRAME_PX = 20;
const LEAST = 0.002; // of the width
const LEAST_NAMED = 0.025;
const MOST_ROWS = 40;

export function Flame({ root, table }: { root: Node; table: Table }) {
  const [top, setTop] = useState(root);
  const [hover, setHover] = useState<Node | null>(null);
  const unit: Unit = table.columns.find((column) => column.role === 'value')?.unit ?? '';
  const path = pathTo(top);
  const frames = framesIn(top, LEAST).filter((node) => node.depth - top.depth < MOST_ROWS);
  const rows = path.length + frames.reduce((most, node) => Math.max(most, node.depth - top.depth), 0);
  const width = top.to - top.from;
  const shown = hover ?? top;
  return (
    <div class="flame">
      <p class="flame-words">
        <b>{shown === root ? 'All stacks' : shown.name}</b> {formatValue(shown.weight, unit)},{' '}
        {formatValue(shown.weight / (root.weight || 1), 'share')} of all
        <span class="grow" />
        {top !== root && <button type="button" onClick={() => setTop(root)}>Show all</button>}
      </p>
      <div class="frames-box" role="img" aria-label="Flame graph of the stacks. The table has the numbers." style={{ height: `${rows * FRAME_PX}px` }}
        onMouseLeave={() => setHover(null)}>
        {path.slice(0, -1).map((node) => <FrameBox key={node.depth} node={node} left={0} wide={1} y={node.depth} faded onPick={setTop} onHover={setHover} />)}
        {frames.map((node, i) => (
          <FrameBox key={i} node={node} left={(node.from - top.from) / width} wide={(node.to - node.from) / width} y={node.depth} faded={false}
            onPick={setTop} onHover={setHover} />
        ))}
      </div>
    </div>
  );
}

interface BoxProps { node: Node; left: number; wide: number; y: number; faded: boolean; onPick: (node: Node) => void; onHover: (node: Node) => void }

function FrameBox({ node, left, wide, y, faded, onPick, onHover }: BoxProps) {
  const family = node.parent === null ? 'other' : familyOfFrame(node.name);
  return (
    <div class={`frame${faded ? ' faded' : ''}`} title={node.name} onClick={() => onPick(node)} onMouseEnter={() => onHover(node)}
      style={{
        left: `${left * 100}%`, width: `${wide * 100}%`, top: `${y * FRAME_PX}px`,
        background: `var(--family-${family})`, color: `var(--on-family-${family})` }}>
      {wide < LEAST_NAMED ? '' : node.parent === null ? 'all stacks' : node.name.replace(/^nn\.Module: /, '')}
    </div>
  );
}
