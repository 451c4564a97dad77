import { expect, test } from 'vitest';
import { mixed, packed, Raster } from './raster.ts';

function drawn(draw: (raster: Raster) => void): string[] {
  const raster = new Raster();
  raster.resize(6, 3);
  raster.clear(0);
  draw(raster);
  return Array.from({ length: 3 }, (_, y) => Array.from(raster.pixels.subarray(y * 6, y * 6 + 6)).join(''));
}

test('a rectangle fills its pixels and no more', () => {
  expect(drawn((raster) => raster.fill(1, 1, 3, 2, 7))).toEqual(['000000', '077000', '000000']);
});

test('rectangles are cut to the picture', () => {
  expect(drawn((raster) => raster.fill(-5, -5, 2, 99, 7))).toEqual(['770000', '770000', '770000']);
  expect(drawn((raster) => raster.fill(4, 2, 1e9, 1e9, 7))).toEqual(['000000', '000000', '000077']);
  expect(drawn((raster) => raster.fill(3, 0, 3, 3, 7))).toEqual(['000000', '000000', '000000']);
  expect(drawn((raster) => raster.hatch(7, 0, 9, 3, 7, 8))).toEqual(['000000', '000000', '000000']);
});

test('a hatch runs on into its neighbour', () => {
  const whole = drawn((raster) => raster.hatch(0, 0, 6, 3, 7, 8));
  const halves = drawn((raster) => { raster.hatch(0, 0, 3, 3, 7, 8); raster.hatch(3, 0, 6, 3, 7, 8); });
  expect(halves).toEqual(whole);
  expect(whole[0]).toBe('777888');
  expect(whole[1]).toBe('778888');
});

test('colours are packed as ImageData has them', () => {
  expect(packed('#0102FF')).toBe(0xffff0201);
  expect(mixed(packed('#FF0000'), packed('#0000FF'), 0.5)).toBe(packed('#800080'));
});
