import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { columnFormat, formatExact, formatRange, formatRough, formatValue, parseMarkedTime, parseTime, type Unit } from './units.ts';

const golden = new URL('../../../test/golden/units.json', import.meta.url);

test('times are read as they are written', () => {
  expect(['12.5 ms', '1.2s', ' 3 us', '.5µs', '7μs', '40ns', '12'].map(parseTime)).toEqual([12_500_000, 1_200_000_000, 3000, 500, 7000, 40, 12]);
  expect(['', 'ms', '1 2 ms', '-1ms', '5 min'].map(parseTime)).toEqual([null, null, null, null, null]);
  expect(['12', '12.5 ms', 'aten::ms'].map(parseMarkedTime)).toEqual([null, 12_500_000, null]);
});

test('values read as the program prints them', () => {
  const cases = JSON.parse(readFileSync(golden, 'utf8')) as { value: number; unit: string; text: string }[];
  expect(cases.length).toBeGreaterThan(50);
  for (const { value, unit, text } of cases) {
    expect(formatValue(value, (unit === 'none' ? '' : unit) as Unit), JSON.stringify({ value, unit })).toBe(text);
  }
});

function column(values: (number | null)[], unit: Unit): string[] {
  return values.map(columnFormat(values, unit));
}

test('a column has one unit and one number of decimals', () => {
  expect(column([59300000, 4100000, 812000, null, 0], 'ns')).toEqual(['59.30 ms', '4.10 ms', '0.81 ms', '', '0.00 ms']);
  expect(column([178100000, 167000000, 188000000], 'ns')).toEqual(['178 ms', '167 ms', '188 ms']);
  expect(column([1066000000, 12000000, 177000000], 'ns')).toEqual(['1.066 s', '0.012 s', '0.177 s']);
  expect(column([2500000000, -950, 950, -2500000000], 'ns')).toEqual(['2.500 s', '>-0.001 s', '<0.001 s', '-2.500 s']);
  expect(column([80 * 2 ** 20, 512], 'bytes')).toEqual(['80.00 MiB', '<0.01 MiB']);
  expect(column([950, 7], 'ns')).toEqual(['950 ns', '7 ns']);
  expect(column([12, 12345678, 1], 'count')).toEqual(['12', '12,345,678', '1']);
  expect(column([0.05, 1500000, 0.6, null], '')).toEqual(['0.0500', '1500000', '0.600', '']);
  expect(column([1, 0.123, 0.0001, 0, null], 'share')).toEqual(['100.0 %', '12.3 %', '<0.1 %', '0.0 %', '']);
});

test('estimates have two digits and a range', () => {
  expect(formatRough(59300000, 'ns')).toBe('59 ms');
  expect(formatRough(178100000, 'ns')).toBe('180 ms');
  expect(formatRough(996000, 'ns')).toBe('1 ms');
  expect(formatRange(9113910, 15829078, 'ns')).toBe('9.1–16 ms');
  expect(formatRange(421525, 1865799, 'ns')).toBe('420 µs – 1.9 ms');
  expect(formatRange(0, 1951975, 'ns')).toBe('0–2 ms');
  expect(formatRange(null, null, 'ns')).toBe('');
});

test('exact values keep every digit', () => {
  expect(formatExact(15651804, 'ns')).toBe('15,651,804 ns');
  expect(formatExact(null, 'ns')).toBe('');
});
