// Text in boxes: measured once, cut to the room that there is.
import { shortName } from '../words/names.ts';

const MAX_KEPT = 20000;
const widths = new Map<string, number>();
const shorts = new Map<string, string>();

export const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

function kept<V>(map: Map<string, V>, key: string, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  if (map.size > MAX_KEPT) map.clear();
  const value = make();
  map.set(key, value);
  return value;
}

function widthOf(context: CanvasRenderingContext2D, words: string): number {
  return kept(widths, words, () => context.measureText(words).width);
}

/** The short form of `name`, its last part, or as much of that as fits; "" if that is less than two letters. */
export function fitted(context: CanvasRenderingContext2D, name: string, room: number): string {
  const words = kept(shorts, name, () => shortName(name));
  if (widthOf(context, words) <= room) return words;
  const last = words.slice(words.lastIndexOf('::') < 0 ? 0 : words.lastIndexOf('::') + 2);
  const width = widthOf(context, last);
  if (width <= room) return last;
  const letters = Math.floor((room / width) * last.length) - 1;
  return letters < 2 ? '' : `${last.slice(0, letters)}…`;
}
