// One bar divided into the parts of a whole, with a legend that gives each part's name, amount and share.
import { PAINTS } from '../words/palette.ts';
import { formatValue } from '../words/units.ts';
import { familyOfPart, spoken, type Whole } from './parts.ts';
import { Some } from './some.tsx';
import { fillOf, Swatch } from './swatch.tsx';

export interface Part { name: string; amount: number | null; share: number }

const LEAST_SHOWN = 0.0005; // smaller parts have no place in the bar

const NAMED = 22; // percent of the bar that hold a name

function Name({ family, x, words }: { family: number; x: number; words: string }) {
  const { name } = PAINTS[family]!;
  return (
    <text x={`${x}%`} dx="8" y="20" class="part-name" style={{ fill: `var(--on-family-${name})`, stroke: `var(--family-${name})` }}>
      {spoken(words)}
    </text>
  );
}

/** A bar per whole; `of` names the only one. */
export const PartBars = ({ wholes, of }: { wholes: Whole[]; of?: string }) => (
  <Some of={wholes} what={wholes[0]!.of.startsWith('rank ') ? 'ranks' : 'bars'}>
    {(whole) => <PartBar key={whole.of} parts={whole.parts} of={wholes.length > 1 || of === undefined ? whole.of : of} titled={wholes.length > 1} />}
  </Some>
);

function PartBar({ parts, of, titled }: { parts: Part[]; of: string; titled: boolean }) {
  const shown = parts.filter((part) => part.share >= LEAST_SHOWN);
  const sum = shown.reduce((all, part) => all + part.share, 0);
  let at = 0;
  return (
    <figure class="partbar">
      {titled && <h3>{of.charAt(0).toUpperCase() + of.slice(1)}</h3>}
      <svg width="100%" height="30" role="img" aria-label={`Where ${of} goes: ${shown.map((part) => `${part.name} ${formatValue(part.share, 'share')}`).join(', ')}`}>
        {shown.map((part) => {
          const x = at;
          at += (part.share / Math.max(1, sum)) * 100;
          return (
            <g key={part.name}>
              <rect x={`${x}%`} y="0" width={`${at - x}%`} height="30" fill={fillOf(familyOfPart(part.name))} class="part">
                <title>{`${part.name}: ${formatValue(part.amount, 'ns')}, ${formatValue(part.share, 'share')} of ${of}`}</title>
              </rect>
              {at - x >= NAMED && <Name family={familyOfPart(part.name)} x={x} words={part.name} />}
            </g>
          );
        })}
      </svg>
      <figcaption>
        <ul class="legend">
          {shown.map((part) => (
            <li key={part.name}>
              <Swatch family={familyOfPart(part.name)} /> {spoken(part.name)}{' '}
              <b>{formatValue(part.share, 'share')}</b> <span class="faint">{formatValue(part.amount, 'ns')}</span>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}
