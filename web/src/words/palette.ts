// The colours of `src/report/palette.h`, in its order: tiles name a family by its number.

export interface Paint {
  name: string;
  label: string;
  light: string;
  lightText: string;
  dark: string;
  darkText: string;
  /** Lines of the hatch in a tile of 8 x 8, as an SVG path; "" for plain. */
  hatch: string;
}

const paint = (
  name: string, label: string, light: string, lightText: string, dark: string, darkText: string, hatch = '',
): Paint => ({ name, label, light, lightText, dark, darkText, hatch });

const WHITE = '#FFFFFF';
const BLACK = '#101418';

export const PAINTS: readonly Paint[] = [
  paint('compute', 'compute kernel', '#A25D4D', WHITE, '#E35142', BLACK),
  paint('elementwise', 'elementwise kernel', '#7B480B', WHITE, '#F28B00', BLACK, 'M1 2h2M5 6h2'),
  paint('attention', 'attention kernel', '#660E12', WHITE, '#AF3C67', WHITE,
    'M-1 9L9 -1M-1 1L1 -1M7 9L9 7M-1 -1L9 9M-1 7L1 9M7 -1L9 1'),
  paint('communication', 'communication', '#C477D5', BLACK, '#B1789B', BLACK, 'M0 2h4M4 6h4'),
  paint('copy', 'copy', '#12A789', BLACK, '#60FEBA', BLACK, 'M2 0v4M6 4v4'),
  paint('fill', 'memory set', '#141014', WHITE, '#7F4F08', WHITE, 'M-1 9L9 -1M-1 1L1 -1M7 9L9 7'),
  paint('host', 'host operator', '#184D97', WHITE, '#4F8AFB', BLACK, 'M0 4h8'),
  paint('host-backward', 'backward operator', '#177D9B', WHITE, '#48BEFE', BLACK, 'M4 0v8'),
  paint('python', 'Python', '#4E464F', WHITE, '#BBAFAD', BLACK, 'M0 4h8M4 0v8'),
  paint('data', 'data loading', '#8C953A', BLACK, '#DDE62B', BLACK, 'M0 6l6 -6M2 8l6 -6'),
  paint('runtime', 'runtime call', '#221D7F', WHITE, '#7456B4', WHITE, 'M-1 -1L9 9M-1 7L1 9M7 -1L9 1'),
  paint('waiting', 'waiting', '#6B7280', WHITE, '#9CA3AF', BLACK, 'M-1 9L9 -1'),
  paint('other', 'other', '#B8BEC7', BLACK, '#47474C', WHITE, 'M3 4h2'),
];

export const WAITING = PAINTS.findIndex((paint) => paint.name === 'waiting');

// The first word of this list that a name contains decides.
const WORDS: readonly (readonly [string, string])[] = [
  ['comm', 'communication'], ['collective', 'communication'], ['transfer', 'communication'], ['nccl', 'communication'],
  ['data', 'data'], ['loader', 'data'], ['input', 'data'], ['i/o', 'data'],
  ['copy', 'copy'], ['copies', 'copy'], ['memcpy', 'copy'], ['memset', 'fill'],
  ['attention', 'attention'],
  ['elementwise', 'elementwise'], ['pointwise', 'elementwise'], ['softmax', 'elementwise'],
  ['concat', 'elementwise'], ['reduc', 'elementwise'], ['norm', 'elementwise'],
  ['idle', 'waiting'], ['wait', 'waiting'], ['pending', 'waiting'], ['sync', 'waiting'],
  ['python', 'python'],
  ['runtime', 'runtime'], ['launch', 'runtime'], ['driver', 'runtime'], ['alloc', 'runtime'],
  ['backward', 'host-backward'], ['cpu', 'host'], ['host', 'host'],
  ['matrix', 'compute'], ['gemm', 'compute'], ['matmul', 'compute'], ['conv', 'compute'], ['kernel', 'compute'],
  ['compute', 'compute'], ['computation', 'compute'],
];

/** The family of a column, class or category name, by the words in it; else "other". */
export function familyOf(name: string): number {
  const lower = name.toLowerCase();
  const word = WORDS.find(([part]) => lower.includes(part));
  return PAINTS.findIndex((paint) => paint.name === (word?.[1] ?? 'other'));
}

/** Colours of the page itself. CSS reads them as variables, the canvas as values. */
export const SURFACES = {
  light: {
    page: '#FFFFFF', panel: '#F6F7F9', raised: '#FFFFFF', line: '#D5DAE1', strong: '#7A838F',
    text: '#111827', faint: '#525C69', accent: '#0B57A4', 'accent-soft': '#E2EEFB', 'on-accent': '#FFFFFF',
    better: '#0B6BCB', worse: '#B42318', notice: '#FFF6DB', 'notice-line': '#D9A400', 'notice-text': '#4A3600',
    bar: '#C9DDF5', select: '#B45309',
  },
  dark: {
    page: '#14181D', panel: '#1B2027', raised: '#20262E', line: '#353D48', strong: '#8A94A2',
    text: '#F3F4F6', faint: '#AAB3BF', accent: '#7DB8FF', 'accent-soft': '#1D3552', 'on-accent': '#101418',
    better: '#5AA9FF', worse: '#FF7A6B', notice: '#3A3110', 'notice-line': '#B58A00', 'notice-text': '#FFE9A8',
    bar: '#22405F', select: '#FFC861',
  },
} as const;

export type Mode = keyof typeof SURFACES;

export const colourOf = (paint: Paint, mode: Mode) => (mode === 'dark' ? paint.dark : paint.light);
export const textOn = (paint: Paint, mode: Mode) => (mode === 'dark' ? paint.darkText : paint.lightText);
