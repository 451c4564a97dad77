// Charts over time and over steps, drawn by uPlot.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { mode } from '../state/theme.ts';
import { SURFACES, colourOf, PAINTS } from '../words/palette.ts';
import { formatValue, type Unit } from '../words/units.ts';
import { familyOfPart, type Curve, type Stack } from './parts.ts';
import { bars, stepped } from './paths.ts';
import { patternOf } from './pattern.ts';

const FONT = '12px system-ui, sans-serif';
const LINES = [0, 6, 9, 3, 1, 7]; // families whose colours stand in for lines
const DASHES: number[][] = [[], [6, 3], [2, 2], [8, 2, 2, 2]];

const POWERS = Array.from({ length: 52 }, (_, i) => 2 ** i); // steps between marks of bytes

export function axis(side: number, format: (value: number) => string, size: number, unit: Unit = ''): uPlot.Axis {
  const surface = SURFACES[mode.value];
  return {
    ...(unit === 'bytes' && { incrs: POWERS }),
    side, size, font: FONT, stroke: surface.faint, ticks: { stroke: surface.line, width: 1 }, grid: { stroke: surface.line, width: 1 },
    values: (_, splits) => splits.map(format), space: side === 3 ? 34 : 80,
  };
}

/** Draws a chart in an element, again when the width or the colours change. */
export function useChart(make: (width: number) => [uPlot.Options, uPlot.AlignedData], inputs: unknown[]) {
  const box = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  const colours = mode.value;
  useEffect(() => {
    const element = box.current!;
    const [options, data] = make(element.clientWidth);
    const plot = drawn.current = new uPlot(options, data, element);
    const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: options.height }));
    watch.observe(element);
    return () => { watch.disconnect(); plot.destroy(); };
  }, [...inputs, colours]);
  return [box, drawn] as const;
}

export function StepChart({ stack, height = 170, onPick }: { stack: Stack; height?: number; onPick?: (row: number) => void }) {
  const [box] = useChart((width) => {
    let sums = stack.labels.map(() => 0);
    const layers = stack.parts.map((part) => {
      sums = sums.map((sum, i) => sum + part.values[i]!);
      return { family: familyOfPart(part.name), sums };
    }).reverse(); // the highest first: each next one covers its lower part
    return [{
      width, height, legend: { show: false }, cursor: { show: false },
      scales: { x: { time: false, range: [-0.5, Math.max(0.5, stack.labels.length - 0.5)] }, y: { range: (_, __, most) => [0, most * 1.05] } },
      axes: [
        { ...axis(2, (at) => stack.labels[at] ?? '', 26), grid: { show: false }, space: 46, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] },
        axis(3, (value) => formatValue(value, 'ns'), 66),
      ],
      series: [{}, ...layers.map((layer): uPlot.Series => ({
        paths: bars, fill: () => patternOf(layer.family, mode.value), width: 0, points: { show: false } }))],
    }, [stack.labels.map((_, i) => i), ...layers.map((layer) => layer.sums)]];
  }, [stack]);
  const pick = (event: MouseEvent) => {
    const over = box.current?.querySelector('.u-over')?.getBoundingClientRect();
    if (over === undefined || onPick === undefined) return;
    const row = Math.floor(((event.clientX - over.left) / over.width) * Math.max(1, stack.labels.length));
    if (row >= 0 && row < stack.labels.length) onPick(row);
  };
  const words = `Step times, stacked: ${stack.parts.map((part) => part.name.replaceAll('_', ' ')).join(', ')}. The table has the numbers.`;
  return <div class={`chart${onPick ? ' picks' : ''}`} ref={box} role="img" aria-label={words} onClick={pick} />;
}

export function CurveChart({ curve, height = 220 }: { curve: Curve; height?: number }) {
  const [box] = useChart((width) => {
    const unit: Unit = curve.lines[0]!.column.unit;
    return [{
      width, height, cursor: { y: false, drag: { x: true, y: false } }, legend: { show: true, markers: { width: 3 } },
      scales: { x: { time: false }, y: { range: (_, least, most) => [Math.min(0, least), most === least ? most + 1 : most * 1.05] } },
      axes: [axis(2, (value) => formatValue(value, curve.xUnit), 30), axis(3, (value) => formatValue(value, unit), 74, unit)],
      series: [
        { label: 'time', value: (_, value) => formatValue(value, curve.xUnit) },
        ...curve.lines.map((line, i): uPlot.Series => ({
          label: line.column.name.replaceAll('_', ' '), width: 1.75, points: { show: false },
          stroke: colourOf(PAINTS[LINES[i % LINES.length]!]!, mode.value), dash: DASHES[i % DASHES.length]!,
          paths: stepped,
          value: (_, value) => formatValue(value, line.column.unit),
        })),
      ],
    }, [curve.x, ...curve.lines.map((line) => line.values)]];
  }, [curve]);
  const words = `${curve.lines.map((line) => line.column.name.replaceAll('_', ' ')).join(' and ')} over time, ${curve.of}. The table has the numbers.`;
  return <div class="chart" ref={box} role="img" aria-label={words} />;
}
