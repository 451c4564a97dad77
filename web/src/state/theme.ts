// Light or dark, and the variables that CSS reads. Both the canvas and CSS take colours from words/palette.
import { computed, effect, signal } from '@preact/signals';
import { colourOf, PAINTS, SURFACES, textOn, type Mode } from '../words/palette.ts';
import { keep, kept } from './storage.ts';

export type Choice = 'auto' | Mode;
export const CHOICES: readonly Choice[] = ['auto', 'light', 'dark'];
const KEY = 'stepscope.theme';

export const choice = signal<Choice>(CHOICES.find((one) => one === kept(KEY)) ?? 'auto');
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const system = signal<Mode>(prefersDark.matches ? 'dark' : 'light');
prefersDark.addEventListener('change', () => { system.value = prefersDark.matches ? 'dark' : 'light'; });

const paper = matchMedia('print');
const printing = signal(paper.matches);
paper.addEventListener('change', () => { printing.value = paper.matches; });

export const mode = computed<Mode>(() => printing.value ? 'light' : choice.value === 'auto' ? system.value : choice.value);

export const stillMotion = matchMedia('(prefers-reduced-motion: reduce)');

export function choose(next: Choice) {
  choice.value = next;
  keep(KEY, next);
}

export function paintPage() {
  effect(() => {
    const { style } = document.documentElement;
    const now = mode.value;
    style.colorScheme = now;
    for (const [name, colour] of Object.entries(SURFACES[now])) style.setProperty(`--${name}`, colour);
    for (const paint of PAINTS) {
      style.setProperty(`--family-${paint.name}`, colourOf(paint, now));
      style.setProperty(`--on-family-${paint.name}`, textOn(paint, now));
    }
  });
}
