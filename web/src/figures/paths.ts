// The shapes of the charts' series, as uPlot asks for them.
import type uPlot from 'uplot';

type Builder = uPlot.Series.PathBuilder;

const MAX_BAR = 60; // pixels
const BAR = 0.72; // of the room from one bar to the next

const placesIn = (u: uPlot) => (value: number, scale: 'x' | 'y') => Math.round(u.valToPos(value, scale, true));

/** Each value until the next one; nothing where a value is absent. */
export const stepped: Builder = (u, of, first, last) => {
  const [stroke, fill, at] = [new Path2D(), new Path2D(), placesIn(u)];
  const floor = at(0, 'y');
  let [from, before]: [number, number | null] = [0, null];
  for (let i = first; i <= last; ++i) {
    const x = at(u.data[0][i]!, 'x');
    const value = u.data[of]![i] ?? null;
    const y = value === null ? null : at(value, 'y');
    if (before !== null) {
      stroke.lineTo(x, before);
      fill.rect(from, before, x - from, floor - before);
    }
    if (y !== null) stroke[before === null ? 'moveTo' : 'lineTo'](x, y);
    [from, before] = [x, y];
  }
  return { stroke, fill };
};

/** A bar at each place; places are whole numbers. */
export const bars: Builder = (u, of, first, last) => {
  const [fill, at] = [new Path2D(), placesIn(u)];
  const width = Math.max(1, Math.round(Math.min((at(1, 'x') - at(0, 'x')) * BAR - 1, MAX_BAR * devicePixelRatio)));
  for (let i = first; i <= last; ++i) {
    const y = at(u.data[of]![i] ?? 0, 'y');
    fill.rect(at(u.data[0][i]!, 'x') - Math.round(width / 2), y, width, at(0, 'y') - y);
  }
  return { fill };
};
