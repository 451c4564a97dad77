// Colours with their hatches. One set of patterns serves every figure of the page.
import { PAINTS } from '../words/palette.ts';

/** The patterns that `fill=url(#pattern-…)` refers to; once on the page. */
export function Hatches() {
  return (
    <svg class="hatches" width="0" height="0" aria-hidden="true">
      <defs>
        {PAINTS.map((paint) => (
          <pattern key={paint.name} id={`pattern-${paint.name}`} width="8" height="8" patternUnits="userSpaceOnUse">
            <rect width="8" height="8" class={`fill-${paint.name}`} style={{ fill: `var(--family-${paint.name})` }} />
            <path d={paint.hatch} fill="none" stroke-width="1.2" style={{ stroke: `var(--on-family-${paint.name})`, strokeOpacity: 0.45 }} />
          </pattern>
        ))}
      </defs>
    </svg>
  );
}

export const fillOf = (family: number) => `url(#pattern-${PAINTS[family]!.name})`;

export function Swatch({ family }: { family: number }) {
  return (
    <svg class="swatch" width="16" height="12" aria-hidden="true">
      <rect width="16" height="12" rx="2" fill={fillOf(family)} />
    </svg>
  );
}
