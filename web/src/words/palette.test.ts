import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { colourOf, familyOf, PAINTS, SURFACES, textOn, type Mode } from './palette.ts';

function luminance(colour: string): number {
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
  const [r, g, b] = parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const modes: Mode[] = ['light', 'dark'];

test('the families are those of the program', () => {
  const source = readFileSync(new URL('../../../src/report/palette.cpp', import.meta.url), 'utf8');
  const rows = [...source.matchAll(/\{"([\w-]+)", "(#\w+)", "(#\w+)", "(#\w+)", "(#\w+)", "[^"]+",\s*"([^"]*)", \d+\}/g)];
  expect(rows.map((row) => row.slice(1))).toEqual(
    PAINTS.map((p) => [p.name, p.light, p.lightText, p.dark, p.darkText, p.hatch]));
  const words = [...source.matchAll(/\{"([^"]+)", Family::(\w+)\}/g)];
  expect(words.length).toBeGreaterThan(30);
  for (const [, word, family] of words) expect(PAINTS[familyOf(word!)]!.name).toBe(family!.replace('_', '-'));
});

test('text on a colour can be read', () => {
  for (const mode of modes) {
    for (const paint of PAINTS) expect(contrast(colourOf(paint, mode), textOn(paint, mode)), paint.name).toBeGreaterThan(4.5);
  }
});

test('texts and lines of the page can be read', () => {
  for (const mode of modes) {
    const surface = SURFACES[mode];
    for (const back of [surface.page, surface.panel, surface.raised, surface['accent-soft'], surface.bar]) {
      for (const front of [surface.text, surface.faint]) expect(contrast(front, back), `${mode} ${front} on ${back}`).toBeGreaterThan(4.5);
    }
    for (const back of [surface.page, surface.panel, surface.raised]) {
      for (const front of [surface.accent, surface.better, surface.worse]) expect(contrast(front, back), `${mode} ${front} on ${back}`).toBeGreaterThan(4.5);
      expect(contrast(surface.strong, back)).toBeGreaterThan(3);
    }
    expect(contrast(surface['notice-text'], surface.notice)).toBeGreaterThan(4.5);
    expect(contrast(surface['on-accent'], surface.accent)).toBeGreaterThan(4.5);
  }
});

test('every colour except the plain grey stands out from the page', () => {
  for (const mode of modes) {
    for (const paint of PAINTS.filter((p) => p.name !== 'other' && !(mode === 'dark' && p.name === 'fill'))) {
      expect(contrast(colourOf(paint, mode), SURFACES[mode].page), `${mode} ${paint.name}`).toBeGreaterThan(2.4);
    }
  }
});
