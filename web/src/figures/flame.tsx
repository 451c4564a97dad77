// Flame graphs, read from the top: each frame is as wide as the time in it, below the frame that called it.
// Arrow keys walk the frames, Enter widens one to the whole width. The names view has the callers and the callees of one name.
import { useMemo, useState } from 'preact/hooks';
import type { Table } from '../data/types.ts';
import { change, param } from '../state/app.ts';
import { formatValue, type Unit } from '../words/units.ts';
import { familyOfFrame, framesIn, namesIn, pathTo, sandwichOf, treeOf, treeOfRows, weightsOf, type Node } from './flame.ts';

const FRAME_PX = 20;
const LEAST = 0.002; // of the width
const LEAST_NAMED = 0.025;
const MAX_ROWS = 40;
const MAX_NAMES = 200;
const NAMES = 'names'; // in the address: the view of callers and callees

export const hasFlame = (table: Table) => table.rows.length > 0 && (table.shape === 'flame' || weightsOf(table).length > 0);

export function Flame({ table }: { table: Table }) {
  const weights = useMemo(() => weightsOf(table), [table]);
  const used = useMemo(() => weights.filter(({ name }) => treeOfRows(table, name) !== null), [table]);
  const [weight, view, ...named] = (param('flame') ?? '').split('~');
  const column = used.find(({ name }) => name === weight) ?? used.at(weights.length > 1 && used.length > 1 ? 1 : 0);
  const root = useMemo(() => (table.shape === 'flame' ? treeOf(table) : column ? treeOfRows(table, column.name) : null), [table, column]);
  const isNames = view === NAMES;
  const show = (width: string | undefined, ...of: string[]) => change({ flame: [width ?? '', ...of].join('~') });
  if (root === null) return null;
  const unit: Unit = column?.unit ?? table.columns.find((one) => one.role === 'value')?.unit ?? '';
  return (
    <div class="flame">
      <p class="flame-tools">
        <span class="segments" role="group" aria-label="View">
          <button type="button" aria-pressed={!isNames} onClick={() => show(column?.name)}>Tree</button>
          <button type="button" aria-pressed={isNames} onClick={() => show(column?.name, NAMES)}>Callers and callees</button>
        </span>
        {used.length > 1 && (
          <label class="picker"><span>Width</span>
            <select value={column?.name} onChange={(event) => show(event.currentTarget.value, ...(isNames ? [NAMES] : []))}>
              {used.map(({ name }) => <option key={name} value={name}>{name.replaceAll('_', ' ')}</option>)}
            </select>
          </label>
        )}
      </p>
      {isNames ? <Sandwich root={root} unit={unit} asked={named.join('~')} onName={(name) => show(column?.name, NAMES, name)} /> : <Frames key={column?.name} root={root} unit={unit} whole={root.weight} />}
    </div>
  );
}

interface SandwichProps { root: Node; unit: Unit; asked: string; onName: (name: string) => void }

function Sandwich({ root, unit, asked, onName }: SandwichProps) {
  const names = useMemo(() => namesIn(root).slice(0, MAX_NAMES), [root]);
  const name = (names.find((one) => one.name === asked) ?? names[0])?.name ?? '';
  const { callers, callees } = useMemo(() => sandwichOf(root, name), [root, name]);
  return (
    <div class="sandwich">
      <label class="picker"><span>Name</span>
        <select value={name} onChange={(event) => onName(event.currentTarget.value)}>
          {names.map((one) => <option key={one.name} value={one.name}>{`${formatValue(one.own, unit)} itself, ${formatValue(one.total, unit)} in all · ${bare(one.name)}`}</option>)}
        </select>
      </label>
      <h3>Callers, nearest first</h3>
      {callers.children.length === 0 ? <p class="faint">Nothing calls it.</p> : <Frames key={`up${name}`} root={callers} unit={unit} whole={root.weight} />}
      <h3>What it calls</h3>
      {callees.children.length === 0 ? <p class="faint">It calls nothing.</p> : <Frames key={`down${name}`} root={callees} unit={unit} whole={root.weight} />}
    </div>
  );
}

/** The frame that an arrow key leads to, among those that are drawn. */
function beside(at: Node, key: string, drawn: (node: Node) => boolean): Node | null {
  if (key === 'ArrowUp') return at.parent;
  if (key === 'ArrowDown') return at.children.find(drawn) ?? null;
  const row = at.parent?.children.filter(drawn) ?? [];
  return row[row.indexOf(at) + (key === 'ArrowRight' ? 1 : -1)] ?? null;
}

function Frames({ root, unit, whole }: { root: Node; unit: Unit; whole: number }) {
  const [top, setTop] = useState(root);
  const [at, setAt] = useState<Node | null>(null);
  const path = pathTo(top);
  const frames = framesIn(top, LEAST).filter((node) => node.depth - top.depth < MAX_ROWS);
  const rows = path.length + frames.reduce((most, node) => Math.max(most, node.depth - top.depth), 0);
  const width = top.to - top.from;
  const shown = at ?? top;
  const words = `${shown === root && root.name === 'all' ? 'All' : bare(shown.name)}: ${formatValue(shown.weight, unit)}, ${formatValue(shown.weight / (whole || 1), 'share')} of all`;
  const drawn = (node: Node) => path.includes(node) || frames.includes(node);
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter') setTop(shown);
    else if (event.key === 'Escape' && top !== root) setTop(root);
    else if (event.key.startsWith('Arrow')) setAt(beside(shown, event.key, drawn) ?? shown);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const pick = (node: Node) => { setTop(node); setAt(node); };
  return (
    <>
      <p class="flame-words">
        <span aria-live="polite">{words}</span>
        <span class="grow" />
        {top !== root && <button type="button" onClick={() => { setTop(root); setAt(null); }}>Show all</button>}
      </p>
      <div class="frames-box" tabIndex={0} role="application" style={{ height: `${rows * FRAME_PX}px` }} onMouseLeave={() => setAt(null)} onKeyDown={onKey}
        aria-label={`Flame graph. ${words}. Arrow keys walk the frames, Enter widens one. The table has the numbers.`}>
        {path.slice(0, -1).map((node) => <FrameBox key={node.depth} node={node} left={0} wide={1} faded chosen={node === at} onPick={pick} onHover={setAt} />)}
        {frames.map((node, i) => (
          <FrameBox key={i} node={node} left={(node.from - top.from) / width} wide={(node.to - node.from) / width} faded={false} chosen={node === at}
            onPick={pick} onHover={setAt} />
        ))}
      </div>
    </>
  );
}

const bare = (name: string) => name.replace(/^nn\.Module: /, '');

interface BoxProps { node: Node; left: number; wide: number; faded: boolean; chosen: boolean; onPick: (node: Node) => void; onHover: (node: Node) => void }

function FrameBox({ node, left, wide, faded, chosen, onPick, onHover }: BoxProps) {
  const family = node.parent === null && node.name === 'all' ? 'other' : familyOfFrame(node.name);
  return (
    <div class={`frame${faded ? ' faded' : ''}${chosen ? ' chosen' : ''}`} title={node.name} onClick={() => onPick(node)} onMouseEnter={() => onHover(node)}
      style={{
        left: `${left * 100}%`, width: `${wide * 100}%`, top: `${node.depth * FRAME_PX}px`,
        background: `var(--family-${family})`, color: `var(--on-family-${family})` }}>
      {wide < LEAST_NAMED ? '' : bare(node.name)}
    </div>
  );
}
