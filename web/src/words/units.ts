// Numbers for people: the same texts as `src/report/units.cpp` gives, by the same golden cases.

export type Unit =
  | '' | 'count' | 'ns' | 'bytes' | 'share' | 'flop' | 'flop_per_s' | 'bytes_per_s' | 'flop_per_byte';

/** `factor`: raw units in one of these. `before`: values below this many of the previous unit stay in it. */
interface Scale { factor: number; suffix: string; before: number }

function ladder(suffixes: string, step: number): Scale[] {
  return suffixes.split(' ').map((suffix, i) => ({ factor: step ** i, suffix, before: 999.5 }));
}

const SCALES: Record<Unit, Scale[]> = {
  '': [{ factor: 1, suffix: '', before: 0 }],
  count: [
    { factor: 1, suffix: '', before: 0 },
    { factor: 1e6, suffix: 'M', before: 1e7 },
    { factor: 1e9, suffix: 'G', before: 999.5 },
    { factor: 1e12, suffix: 'T', before: 999.5 },
  ],
  ns: [
    ...ladder('ns µs ms s', 1000),
    { factor: 60e9, suffix: 'min', before: 999.5 },
    { factor: 3600e9, suffix: 'h', before: 119.5 },
  ],
  bytes: ladder('B KiB MiB GiB TiB PiB', 1024),
  share: [{ factor: 0.01, suffix: '%', before: 0 }],
  flop: ladder('FLOP kFLOP MFLOP GFLOP TFLOP PFLOP EFLOP', 1000),
  flop_per_s: ladder('FLOP/s kFLOP/s MFLOP/s GFLOP/s TFLOP/s PFLOP/s EFLOP/s', 1000),
  bytes_per_s: ladder('B/s kB/s MB/s GB/s TB/s PB/s', 1000),
  flop_per_byte: [{ factor: 1, suffix: 'FLOP/B', before: 0 }],
};

/** "12.5 ms", "1.2s" → ns, rounded down; without a unit, ns. null if the text is no time. */
export function parseTime(words: string): number | null {
  const [, number, unit] = /^\s*(\d+\.?\d*|\.\d+)\s*(|ns|us|[µμ]s|ms|s)\s*$/.exec(words) ?? [];
  return number === undefined ? null : Math.floor(Number(number) * ({ ms: 1e6, s: 1e9, ns: 1, '': 1 }[unit!] ?? 1e3));
}
/** A time that names its unit: a number alone is a name. */
export const parseMarkedTime = (words: string) => (/s\s*$/.test(words) ? parseTime(words) : null);

const MAX = 1e15; // numbers this large are written with an exponent
const WHOLE: Unit[] = ['ns', 'bytes', 'flop', 'count'];

function scaleFor(size: number, unit: Unit): Scale {
  const scales = SCALES[unit] ?? SCALES['']; // a later program may know more units
  let best = 0;
  while (best + 1 < scales.length && size / scales[best]!.factor >= scales[best + 1]!.before) ++best;
  return scales[best]!;
}

function decimalsOf(scaled: number): number {
  if (scaled >= 99.95) return 0;
  if (scaled >= 9.995) return 1;
  if (scaled >= 0.9995 || scaled === 0) return 2;
  return Math.min(2 - Math.floor(Math.log10(scaled)), 9);
}

function grouped(digits: string): string {
  const [whole, rest] = digits.split('.') as [string, string?];
  const parted = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return rest === undefined ? parted : `${parted}.${rest}`;
}

function exponent(value: number): string {
  return value.toExponential(2).replace(/e([+-])(\d)$/, 'e$10$2');
}

/** As `toFixed`, but an exact half goes to the even digit, as the program rounds. */
function fixed(value: number, decimals: number): string {
  const scaled = value * 10 ** decimals;
  const half = Math.abs(scaled % 1) === 0.5 && decimals <= 1;
  return (half ? (2 * Math.round(scaled / 2)) / 10 ** decimals : value).toFixed(decimals);
}

const join = (digits: string, suffix: string) => (suffix === '' ? digits : `${digits} ${suffix}`);

function formatShare(value: number): string {
  const percent = Math.abs(value) * 100;
  const sign = value < 0 ? '-' : '';
  if (percent < 0.005) return value < 0 ? '>-0.01 %' : '<0.01 %';
  if (percent >= MAX) return `${sign}${exponent(percent)} %`;
  return `${sign}${fixed(percent, Math.min(decimalsOf(percent), 2))} %`;
}

/** Three significant digits and a unit: "59.3 ms", "1.50 GiB", "12.3 %". An absent value gives "". */
export function formatValue(value: number | string | null | undefined, unit: Unit): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (!Number.isFinite(value)) return '';
  const scales = SCALES[unit] ?? SCALES[''];
  if (unit === '' && Number.isInteger(value) && Math.abs(value) < MAX) return String(value);
  if (value === 0) return join('0', scales[0]!.suffix);
  if (unit === 'share') return formatShare(value);
  const scale = scaleFor(Math.abs(value), unit);
  if (WHOLE.includes(unit) && scale === scales[0] && Number.isInteger(value)) {
    return join(unit === 'count' ? grouped(String(value)) : String(value), scale.suffix);
  }
  const scaled = value / scale.factor;
  const size = Math.abs(scaled);
  if (size >= MAX || size < 1e-9) return join(exponent(scaled), scale.suffix);
  const digits = fixed(scaled, decimalsOf(size));
  return join(unit === 'count' ? grouped(digits) : digits, scale.suffix);
}

/** Two significant digits without trailing zeros, for estimates: "59 ms", "8.7 ms". */
export function formatRough(value: number | null, unit: Unit): string {
  if (value === null || !Number.isFinite(value) || value === 0) return formatValue(value, unit);
  const step = 10 ** (Math.floor(Math.log10(Math.abs(value))) - 1);
  const [digits, ...rest] = formatValue(Math.round(value / step) * step, unit).split(' ') as [string, ...string[]];
  const short = digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits;
  return [short, ...rest].join(' ');
}

/** An estimate's range: "9.1–16 ms", "0 – 40 ms". */
export function formatRange(low: number | null, high: number | null, unit: Unit): string {
  const to = formatRough(high, unit);
  if (low === null || low === high) return to;
  const from = formatRough(low, unit);
  const [number, suffix] = from.split(' ') as [string, string?];
  return low === 0 ? `0–${to}` : to.endsWith(` ${suffix}`) ? `${number}–${to}` : `${from} – ${to}`;
}

/** Exact, for details and copies: "15,651,804 ns". */
export function formatExact(value: number | string | null, unit: Unit): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (unit === 'share') return formatValue(value, unit);
  return join(Number.isInteger(value) ? grouped(String(value)) : String(value), (SCALES[unit] ?? SCALES[''])[0]!.suffix);
}

function commonDecimals(most: number, least: number): number {
  const forLeast = least >= 9.95 ? 0 : least >= 0.995 ? 1 : least >= 0.095 ? 2 : 3;
  const room = most >= 99.95 ? 1 : most >= 9.995 ? 2 : 3;
  return Math.min(room, Math.max(forLeast, Math.min(decimalsOf(most), 2)));
}

function shareCell(value: number): string {
  if (value === 0) return '0.0 %';
  if (Math.abs(value) < 0.0005) return value < 0 ? '>-0.1 %' : '<0.1 %';
  return `${fixed(value * 100, 1)} %`;
}

/** A function that prints any value of a column: one unit and one number of decimals for the whole column. */
export function columnFormat(values: (number | null)[], unit: Unit): (value: number | null) => string {
  let most = 0;
  let least = Infinity;
  let whole = true;
  for (const value of values) {
    if (value === null) continue;
    const size = Math.abs(value);
    if (size > most) most = size;
    if (size > 0 && size < least) least = size;
    whole &&= Number.isInteger(value);
  }
  if (whole && unit === 'count') return (value) => (value === null ? '' : grouped(String(value)));
  if (unit === '') return (value) => formatValue(value, unit); // numbers without a unit may be of different things
  if (unit === 'share') return (value) => (value === null ? '' : shareCell(value));
  const scale = scaleFor(most, unit);
  const plain = most === 0 || (scale.factor === 1 && whole);
  const decimals = plain ? 0 : commonDecimals(most / scale.factor, least / scale.factor);
  const smallest = 10 ** -decimals;
  return (value) => {
    if (value === null) return '';
    const scaled = value / scale.factor;
    const size = Math.abs(scaled);
    if (size >= MAX) return join(exponent(scaled), scale.suffix);
    const vanishes = value !== 0 && size < smallest / 2;
    const bound = !vanishes ? '' : value < 0 ? '>' : '<';
    return join(`${bound}${value < 0 ? '-' : ''}${fixed(vanishes ? smallest : size, decimals)}`, scale.suffix);
  };
}
