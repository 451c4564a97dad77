// Colours with hatches, for canvases.
import { colourOf, PAINTS, textOn, type Mode } from '../words/palette.ts';

const kept = new Map<string, CanvasPattern | string>();

/** A family's colour and hatch as a canvas fill. */
export function patternOf(family: number, mode: Mode): CanvasPattern | string {
  const key = `${mode}/${family}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const paint = PAINTS[family]!;
  const tile = Object.assign(document.createElement('canvas'), { width: 8, height: 8 });
  const context = tile.getContext('2d')!;
  context.fillStyle = colourOf(paint, mode);
  context.fillRect(0, 0, 8, 8);
  context.globalAlpha = 0.45;
  context.strokeStyle = textOn(paint, mode);
  context.lineWidth = 1.2;
  context.stroke(new Path2D(paint.hatch));
  const pattern = context.createPattern(tile, 'repeat') ?? colourOf(paint, mode);
  kept.set(key, pattern);
  return pattern;
}
