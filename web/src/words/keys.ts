// Every key of the page. The handlers and the help read the same list.

export type Where = 'everywhere' | 'timeline';

export interface Key {
  action: string;
  where: Where;
  /** As `KeyboardEvent.code`, for keys that are places on the keyboard; otherwise as `KeyboardEvent.key`. */
  code?: string;
  key?: string;
  shift?: boolean;
  ctrl?: boolean;
  /** Repeats while held. */
  held?: boolean;
  shown: string;
  does: string;
}

const at = (code: string, shown: string, action: string, does: string): Key =>
  ({ action, where: 'timeline', code, shown, does, held: true });
const on = (key: string, action: string, does: string, more: Partial<Key> = {}): Key =>
  ({ action, where: 'timeline', key, shown: key.length === 1 ? key.toUpperCase() : key, does, ...more });

export const KEYS: readonly Key[] = [
  { action: 'help', where: 'everywhere', key: '?', shown: '?', does: 'show or hide this help' },
  { action: 'page', where: 'everywhere', key: 'g', shown: 'G, then a letter', does: 'open a page; the letter stands in the list of pages' },
  { action: 'search', where: 'everywhere', key: '/', shown: '/', does: 'search names in the timeline, or go to a time such as 12.5 ms; filter a table elsewhere' },
  { action: 'commands', where: 'everywhere', key: '>', shown: '>', does: 'commands: pages, analyses, steps, runs, times; also in an empty search, and with Ctrl Shift P' },
  { action: 'link', where: 'everywhere', key: 'L', shown: 'Shift L', does: 'copy a link to this view', shift: true },
  { action: 'longest', where: 'everywhere', key: 't', shown: 'T', does: 'in a table: the longest event of the row\'s name, in the timeline' },
  at('KeyW', 'W', 'zoomIn', 'zoom in at the mouse'),
  at('KeyS', 'S', 'zoomOut', 'zoom out at the mouse'),
  at('KeyA', 'A', 'panLeft', 'pan left'),
  at('KeyD', 'D', 'panRight', 'pan right'),
  on('ArrowLeft', 'previous', 'previous event of the row; without a selection, pan', { shown: '←', held: true }),
  on('ArrowRight', 'next', 'next event of the row; without a selection, pan', { shown: '→', held: true }),
  on('ArrowUp', 'up', 'the event around it; without a selection, scroll', { shown: '↑', held: true }),
  on('ArrowDown', 'down', 'the event inside it; without a selection, scroll', { shown: '↓', held: true }),
  on(',', 'previous', 'previous event of the row', { shown: ',', held: true }),
  on('.', 'next', 'next event of the row', { shown: '.', held: true }),
  on('f', 'fit', 'fit the selection; again: its step; again: the whole run'),
  on('0', 'whole', 'the whole run'),
  on('Home', 'whole', 'the whole run'),
  on('{', 'previousStep', 'previous training step', { shown: '{' }),
  on('}', 'nextStep', 'next training step', { shown: '}' }),
  on('[', 'linkBack', 'follow the arrow to what caused the event', { shown: '[' }),
  on(']', 'linkOn', 'follow the arrow to what the event caused', { shown: ']' }),
  on('c', 'collective', 'pin the same collective on all ranks'),
  on('g', 'arrows', 'arrows: none or those of the selection', { shown: 'Shift G', key: 'G', shift: true }),
  on('x', 'path', 'critical path of the step in view'),
  on('i', 'idle', 'why devices were idle'),
  on('r', 'asArea', 'select the area of the event'),
  on('R', 'asOther', 'compare the selected area with that of the event', { shown: 'Shift R', shift: true }),
  on('m', 'mark', 'mark the selected span; Shift M keeps the mark'),
  on('M', 'keepMark', 'keep a mark of the selected span', { shown: 'Shift M', shift: true }),
  on('j', 'nextMark', 'go to the next mark'),
  on('Delete', 'unmark', 'remove all marks, or the one that has the focus'),
  on('e', 'openSource', 'open the source of the event in the editor'),
  on('p', 'pin', 'pin or unpin the lane under the mouse or of the selection'),
  on('h', 'hide', 'hide the lane under the mouse or of the selection'),
  on('H', 'showHidden', 'show hidden lanes', { shown: 'Shift H', shift: true }),
  on('q', 'drawer', 'show or hide the details'),
  on('n', 'nextHit', 'next hit of the search'),
  on('N', 'previousHit', 'previous hit of the search', { shown: 'Shift N', shift: true }),
  on('a', 'selectAll', 'select all time on all lanes', { shown: 'Ctrl A', ctrl: true }),
  on('Escape', 'leave', 'clear the selection, then the search', { shown: 'Esc' }),
];

/** What the mouse does in the timeline. */
export const MOUSE: readonly { shown: string; does: string }[] = [
  { shown: 'Click', does: 'select an event' },
  { shown: 'Double click', does: 'zoom to the event; on many events, zoom in' },
  { shown: 'Drag', does: 'select an area of time and lanes; edges snap to events, with Shift or Alt held they do not' },
  { shown: 'Alt drag', does: 'select a second area, and compare the two' },
  { shown: 'Shift drag', does: 'pan' },
  { shown: 'Drag on the ruler', does: 'zoom to the span' },
  { shown: 'Click a mark', does: 'go to it' },
  { shown: 'Wheel', does: 'scroll the lanes; with Ctrl zoom, with Shift pan' },
];

/** The entry that a key event is for. */
export function keyOf(event: KeyboardEvent, where: Where): Key | undefined {
  const ctrl = event.ctrlKey || event.metaKey;
  if (event.altKey) return undefined;
  return KEYS.find((key) => {
    if (key.where !== where || (key.ctrl ?? false) !== ctrl) return false;
    if (key.code !== undefined) return key.code === event.code && !event.shiftKey;
    return key.key === event.key || (key.ctrl === true && key.key === event.key.toLowerCase());
  });
}

/** Whether typing goes to a field rather than to the page. */
export const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.closest('input:not([type=checkbox]), textarea, select, [contenteditable]') !== null;
