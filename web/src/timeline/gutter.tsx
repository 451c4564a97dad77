// The names of the lanes, beside the canvas: real text and buttons.
import { formatValue } from '../words/units.ts';
import { canOpen, isPinned, screenY, type Entry } from './layout.ts';
import type { Model } from './model.ts';
import { entriesInView } from './scene.ts';

const NAME = 23; // pixels that a name takes

const ROLES: Record<string, string> = {
  main: 'main thread', autograd: 'autograd', loader: 'data loading', thread: '', compute: 'compute', communication: 'communication', copy: 'copies', other: '',
};

export function Gutter({ model }: { model: Model }) {
  const layout = model.layout.value;
  const scroll = model.scroll.value;
  const onWheel = (event: WheelEvent) => model.scrollTo(scroll + event.deltaY);
  return (
    <div class="gutter" onWheel={onWheel}>
      <div class="gutter-lanes">
        {entriesInView(layout, { height: model.size.value.height, scroll }).filter((entry) => !isPinned(layout, entry)).map((entry) => <Label key={entry.key} entry={entry} y={screenY(layout, entry, scroll)} model={model} />)}
      </div>
      <div class="gutter-pinned" style={{ height: `${layout.pinnedHeight}px` }}>
        {layout.pinned.map((entry) => <Label key={entry.key} entry={entry} y={entry.y} model={model} />)}
      </div>
    </div>
  );
}

function Label({ entry, y, model }: { entry: Entry; y: number; model: Model }) {
  const above = entry.kind === 'lane' && !entry.pinned ? model.layout.value.pinnedHeight - y : 0; // of a tall lane, out of view: its name stays in view
  const place = { top: `${y}px`, height: `${entry.height}px`, paddingTop: `${Math.max(0, Math.min(above, entry.height - NAME))}px` };
  if (entry.kind === 'group') {
    return (
      <div class="label group" style={place}>
        <button type="button" aria-expanded={entry.isOpen} onClick={() => model.toggleGroup(entry.key)}>
          <span aria-hidden="true">{entry.isOpen ? '▾' : '▸'}</span> Rank {entry.rank}
          {!entry.isOpen && <span class="faint"> {entry.lanes} lanes</span>}
        </button>
        {entry.hidden.length > 0 && (
          <button type="button" class="more" aria-label={`Show ${entry.hidden.length} hidden lane${entry.hidden.length > 1 ? 's' : ''} of rank ${entry.rank}`} title="Show hidden lanes (Shift H)"
            onClick={() => model.showHidden((key) => entry.hidden.includes(key))}>{entry.hidden.length} hidden</button>
        )}
      </div>
    );
  }
  const words = entry.kind === 'counter' ? entry.counter.name : nameOf(entry, model);
  const title = entry.kind === 'counter' ? `${entry.counter.name}, up to ${formatValue(entry.counter.max, entry.counter.unit)}`
    : `${entry.lane.title}: ${formatValue(entry.lane.events, 'count')} events in ${entry.lane.rows} rows${entry.lane.hidden ? `; ${formatValue(entry.lane.hidden, 'count')} more are not drawn` : ''}`;
  return (
    <div class={`label ${entry.kind}`} style={place} title={title}>
      <span class="words">
        {entry.pinned && <span class="faint">rank {entry.kind === 'lane' ? entry.lane.rank : entry.counter.rank} </span>}{words}
        {entry.kind === 'lane' && ROLES[entry.lane.role] !== '' && !words.includes(ROLES[entry.lane.role] ?? '') && <span class="faint"> {ROLES[entry.lane.role]}</span>}
      </span>
      {entry.kind === 'lane' && canOpen(entry.lane) && (
        <button type="button" class="more" aria-expanded={entry.rows === entry.lane.rows} aria-label={entry.rows < entry.lane.rows ? `+${entry.lane.rows - entry.rows} rows of ${words}` : `− rows of ${words}`}
          onClick={() => model.openLane(entry.key, entry.rows < entry.lane.rows)}>
          {entry.rows < entry.lane.rows ? `+${entry.lane.rows - entry.rows}` : '−'}
        </button>
      )}
      <button type="button" class="pin" aria-label={`Hide ${words}`} title="Hide (H)" onClick={() => model.hide(entry.key)}><span aria-hidden="true">×</span></button>
      <button type="button" class="pin" aria-pressed={entry.pinned} aria-label={`Pin ${words}`} title={entry.pinned ? 'Unpin (P)' : 'Pin (P)'}
        onClick={() => model.togglePin(entry.key)}>
        <span aria-hidden="true">{entry.pinned ? '★' : '☆'}</span>
      </button>
    </div>
  );
}

/** "stream 7"; with its device where a rank has several. */
function nameOf({ lane }: Entry & { kind: 'lane' }, model: Model): string {
  if (lane.side === 'host') return lane.role === 'main' ? 'main thread' : lane.name;
  const device = (key: string) => key.replace(/s[^s]*$/, '');
  const isAlone = model.timeline.lanes.every((other) => other.rank !== lane.rank || other.side === 'host' || device(other.key) === device(lane.key));
  return isAlone ? lane.name : lane.title;
}
