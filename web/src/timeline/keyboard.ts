// What each key of the timeline does. The keys themselves stand in words/keys.
import { said } from '../state/app.ts';
import { editor } from '../state/editor.ts';
import type { Place } from '../data/types.ts';
import { editorAddress } from '../words/editors.ts';
import { keyOf, typing } from '../words/keys.ts';
import type { Canvas } from './canvas.ts';
import { addMark, goToStep, nextMark } from './jumps.ts';
import type { Model } from './model.ts';
import type { Held } from './motion.ts';
import type { Area } from './paint.ts';
import { placeOf } from './scene.ts';

const PAN = 0.1;
const SCROLL = 60;
const BACK = ['launched by', 'forward', 'op'];
const ON = ['launches', 'backward', 'flow'];

function follow(model: Model, kinds: readonly string[]) {
  const links = model.details.peek()?.links ?? [];
  const link = kinds.map((kind) => links.find((one) => one.what === kind)).find((one) => one !== undefined);
  if (link === undefined) said.value = 'No arrow leads there from this event.';
  else void model.follow(link);
}

function toId(model: Model, id: number | null | undefined, none: string) {
  const rank = model.selected.peek()?.rank;
  if (rank === undefined) return;
  if (id === null || id === undefined) said.value = none;
  else void model.selectById(rank, id, { show: true }).then(() => model.keepLink('push'));
}

/** The first box below the selection: an event inside it. */
function inner(canvas: Canvas, place: Place) {
  const line = canvas.scene.lines.find((one) => one.entry.kind === 'lane' && one.entry.lane.lane === place.lane);
  return line?.boxes[place.row + 1]?.find((box) => box.start < place.end && box.end > place.start);
}

function markSelection(model: Model, kept: boolean) {
  const area = model.area.peek();
  const place = model.selected.peek();
  const span = area?.span ?? (place === null ? null : { from: place.start, to: place.end });
  if (span === null) return void (said.value = 'Select an event or an area first.');
  addMark(model, span, kept);
  model.keepLink();
}

function pinCollective(model: Model) {
  const links = (model.details.peek()?.links ?? []).filter((link) => link.what === 'same collective');
  const place = model.selected.peek();
  if (links.length === 0 || place === null) return void (said.value = 'The selection is not a collective with others.');
  const keys = [place, ...links].map((one) => model.timeline.lanes[one.lane ?? -1]?.key ?? '');
  model.pinned.value = [...new Set([...model.pinned.peek(), ...keys])].filter((key) => key !== '');
  model.keepLink();
}

function openSource(model: Model) {
  const frame = model.details.peek()?.stack[0];
  if (frame === undefined) return void (said.value = 'This event has no stack. Record with with_stack=True.');
  const address = editorAddress(editor.peek(), frame.file ?? '', frame.line ?? 0);
  if (address !== null) location.href = address;
  else said.value = editor.peek() === 'none' ? 'Choose an editor in the help (?) first.' : `${frame.file ?? 'The frame'} is not a whole path.`;
}

function areaOfEvent(model: Model): Area | null {
  const place = model.selected.peek();
  if (place === null) said.value = 'Select an event first.';
  return place && { span: { from: place.start, to: place.end }, lanes: new Set([place.lane]) };
}

/** Does something with the lane under the mouse, or that of the selection. */
function onLane(model: Model, canvas: Canvas, does: (key: string) => void) {
  const key = canvas.entryUnderMouse() ?? model.timeline.lanes[model.selected.peek()?.lane ?? -1]?.key;
  if (key !== undefined) does(key);
}

type Actions = Record<string, (model: Model, canvas: Canvas) => void>;

const ACTIONS: Actions = {
  previous: (model) => model.selected.peek() === null ? model.motion.pan(-PAN)
    : toId(model, model.details.peek()?.previous, 'This is the first event of the row.'),
  next: (model) => model.selected.peek() === null ? model.motion.pan(PAN)
    : toId(model, model.details.peek()?.next, 'This is the last event of the row.'),
  up: (model) => model.selected.peek() === null ? model.scrollTo(model.scroll.peek() - SCROLL)
    : toId(model, model.details.peek()?.parent, 'No event is around this one.'),
  down: (model, canvas) => {
    const place = model.selected.peek();
    if (place === null) return model.scrollTo(model.scroll.peek() + SCROLL);
    const box = inner(canvas, place);
    if (box === undefined) said.value = 'No event in view is inside this one.';
    else void model.select(placeOf(box), { show: true });
  },
  fit: (model) => model.fit(),
  whole: (model) => model.motion.go(model.whole),
  nextStep: (model) => goToStep(model, 1),
  previousStep: (model) => goToStep(model, -1),
  linkBack: (model) => follow(model, BACK),
  linkOn: (model) => follow(model, ON),
  collective: pinCollective,
  arrows: (model) => {
    model.arrows.value = !model.arrows.peek();
    model.keepLink();
  },
  path: (model) => model.togglePath(),
  idle: (model) => model.toggleIdle(),
  asArea: (model) => {
    const area = areaOfEvent(model);
    if (area !== null) model.selectArea(area);
  },
  asOther: (model) => {
    const area = areaOfEvent(model);
    if (area !== null) model.compare(area);
  },
  mark: (model) => markSelection(model, false),
  keepMark: (model) => markSelection(model, true),
  unmark: (model) => {
    model.marks.value = [];
    model.keepLink();
  },
  pin: (model, canvas) => onLane(model, canvas, (key) => model.togglePin(key)),
  hide: (model, canvas) => onLane(model, canvas, (key) => model.hide(key)),
  showHidden: (model) => model.showHidden(() => true),
  nextMark,
  openSource,
  drawer: (model) => {
    model.tab.value = model.tab.peek() !== null ? null
      : model.area.peek() !== null ? 'area' : model.selected.peek() === null && model.search.peek() !== null ? 'search' : 'event';
  },
  nextHit: (model) => void model.nextHit(1),
  previousHit: (model) => void model.nextHit(-1),
  selectAll: (model) => model.selectArea({ span: model.whole, lanes: new Set(model.timeline.lanes.map((lane) => lane.lane)) }),
  leave: (model) => {
    if (model.selected.peek() !== null || model.area.peek() !== null) model.deselect();
    else if (model.query.peek() !== '') model.find('');
    else model.tab.value = null;
  },
};

const HELD: readonly string[] = ['zoomIn', 'zoomOut', 'panLeft', 'panRight'];

/** Listens until the returned function is called. */
export function listenToKeys(model: Model, canvas: Canvas): () => void {
  const pressed = new Map<string, Held>();
  const down = (event: KeyboardEvent) => {
    if (event.defaultPrevented || typing(event.target) || document.querySelector('dialog[open]') !== null) return;
    const inTable = event.target instanceof HTMLElement && event.target.closest('[role=grid], [role=tablist], .drawer dl') !== null;
    const key = keyOf(event, 'timeline');
    if (key === undefined || (inTable && event.key.length > 1 && event.key !== 'Escape')) return;
    if (event.repeat && key.held !== true) return;
    event.preventDefault();
    model.hover.value = null; // what is under the mouse moves away
    if (HELD.includes(key.action)) {
      pressed.set(event.code, key.action as Held);
      model.motion.hold(key.action as Held);
    } else {
      ACTIONS[key.action]?.(model, canvas);
    }
  };
  const up = (event: KeyboardEvent) => {
    const action = pressed.get(event.code);
    if (action !== undefined) model.motion.release(action);
    pressed.delete(event.code);
  };
  const leave = () => model.motion.releaseAll();
  addEventListener('keydown', down);
  addEventListener('keyup', up);
  addEventListener('blur', leave);
  return () => {
    removeEventListener('keydown', down);
    removeEventListener('keyup', up);
    removeEventListener('blur', leave);
  };
}
