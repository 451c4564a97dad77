// What is under the mouse, in words.
import type { IdlePart } from '../data/types.ts';
import { PAINTS } from '../words/palette.ts';
import { formatValue } from '../words/units.ts';
import { readingWords, type Reading } from './counters.ts';
import type { Model } from './model.ts';
import type { Box } from './scene.ts';

export function Tooltip({ model }: { model: Model }) {
  const hover = model.hover.value;
  if (hover === null) return null;
  const { box, x, y } = hover;
  const { width, height } = model.size.value;
  const side = x > width / 2 ? { right: `${width - x + 12}px` } : { left: `${x + 12}px` };
  const below = y > height / 2 ? { bottom: `${height - y + 12}px` } : { top: `${y + 14}px` };
  return (
    <div class="tooltip" role="tooltip" style={{ ...side, ...below }}>
      {'counter' in box ? <Value of={box} /> : 'cause' in box ? <Cause of={box} model={model} /> : <Event of={box} model={model} />}
    </div>
  );
}

function Value({ of }: { of: Reading }) {
  return (
    <>
      <b>{of.counter.name}: {readingWords(of)}</b>
      <span>at {formatValue(Math.max(0, of.start), 'ns')}</span>
      <span class="faint">highest: {formatValue(of.counter.max, of.counter.unit)}</span>
    </>
  );
}

function Cause({ of, model }: { of: IdlePart; model: Model }) {
  const known = model.idle.value?.causes[of.cause];
  return (
    <>
      <b>idle: {known?.cause}</b>
      <span>{known?.meaning}</span>
      <span>{formatValue(of.end - of.start, 'ns')} at {formatValue(of.start, 'ns')}</span>
      <span class="faint">{of.name !== null && `click: ${model.store.name(of.name) ?? '…'}`}</span>
    </>
  );
}

function Event({ of, model }: { of: Box; model: Model }) {
  const length = formatValue(of.end - of.start, 'ns');
  return (
    <>
      <b>{model.store.name(of.name) ?? '…'}</b>
      <span>{of.count > 1 ? `the longest of ${formatValue(of.count, 'count')} events that fill ${formatValue(of.busy / 255, 'share')} of ${length}` : `≈ ${length} at ${formatValue(Math.max(0, of.start), 'ns')}`}</span>
      <span class="faint">{PAINTS[of.family]?.label} · {of.lane.title}</span>
    </>
  );
}
