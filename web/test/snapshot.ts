// The Memory page of a memory snapshot, from a server and in a report file: the picture, the instants A and B, the flame graph, by keys alone.
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { number, rowsWith } from '../src/data/table.ts';
import type { Report } from '../src/data/types.ts';
import { formatValue } from '../src/words/units.ts';
import { openFile, openPage, settled, siteAt, startBrowser, violationsInModes, type Watched } from './browser.ts';
import { PROGRAM, removeFiles, SAMPLES, serve, writeReport } from './program.ts';

const LEAK = `${SAMPLES}generated_leak_oom.pickle.gz`;
const PLACE = '/workspace/quill/callbacks.py(28): collect';
const server = await serve(LEAK);
const site = siteAt(server.address, server.stop);
const file = writeReport('leak', LEAK);

let browser: Browser;
beforeAll(async () => { browser = await startBrowser(); });
afterAll(async () => {
  await browser.close();
  site.stop();
  removeFiles();
});

const printed = (...words: string[]) => JSON.parse(execFileSync(PROGRAM, ['show', ...words, LEAK, '--format', 'json'], { maxBuffer: 1 << 26 }).toString()) as Report;
const bytes = (value: number | null) => formatValue(value, 'bytes');

const [peak, failed] = rowsWith(printed('memory_curve'), { instant: '', event: '', requested: 'bytes', asked: 'bytes' });
const heldAtPeak = rowsWith(printed('memory_peak'), { place: '', bytes: 'bytes', share: 'share' });

const chart = (page: Page) => page.locator('.chart[role=application]');
const kept = (page: Page) => page.locator('section.table').first();
/** "place: kept" of the first rows of the list below the picture. */
const keptRows = (page: Page) => kept(page).locator('.grid-window [role=row]').evaluateAll((rows) => rows.map((row) => {
  const cells = [...row.querySelectorAll('[role=gridcell]')];
  return `${cells[0]!.getAttribute('title')}: ${cells[2]!.textContent}`;
}));
const expectedKept = (since: number, until: number) => rowsWith(printed('memory_diff', '--since', String(since), '--until', String(until)), { place: '', kept: 'bytes', kept_count: 'count' })
  .filter((row) => Number(row.kept) > 0).sort((a, b) => Number(b.kept) - Number(a.kept)).map((row) => `${row.place}: ${formatValue(number(row.kept_count), 'count')}`);

const OPENED: [where: string, open: (address: string) => Promise<Watched>][] = [
  ['a server', (address) => openPage(browser, site, address)],
  ['a report file', (address) => openFile(browser, file, address)],
];

describe.each(OPENED)('a snapshot from %s', (where, open) => {
  test('opens with what held the peak: in words, in the picture, in the list', async () => {
    const { page, errors, foreign } = await open('/memory');
    const share = formatValue(number(heldAtPeak[0]!.share), 'share');
    expect(await page.locator('#page main h1').innerText()).toBe(`Peak ${bytes(number(peak!.requested))}; ${PLACE} holds most of it, ${share}. An allocation of ${bytes(number(failed!.asked))} failed.`);
    expect(await page.locator('#page main [role=tab][aria-selected=true]').innerText()).toBe('Memory curve');
    expect(await page.locator('.flame-words').innerText()).toContain(`the peak: ${bytes(number(peak!.requested))} requested, ${bytes(number(peak!.reserved))} reserved`);
    const legend = await page.locator('#page main .figure .legend li').allInnerTexts();
    expect(legend.length).toBe(9);
    for (const { place, bytes: size } of heldAtPeak.slice(0, 4)) {
      expect(legend.some((words) => words.includes(String(place).replace(/^.*\//, '')) && words.includes(bytes(number(size)))), String(place)).toBe(true);
    }
    expect(await inkIn(page)).toBeGreaterThan(4);
    expect(await keptRows(page)).toEqual(expectedKept(-1, Number(peak!.event)).slice(0, 14));
    expect(await violationsInModes(page, `snapshot_${where.replaceAll(' ', '_')}`)).toEqual([]);
    expect([errors, foreign]).toEqual([[], []]);
    await page.close();
  });

  test('the flame graph of live bytes is walked by keys', async () => {
    const { page, errors } = await open('/memory?tab=memory_peak');
    const words = page.locator('.flame-words').first();
    expect(await words.innerText()).toBe(`All: ${bytes(number(peak!.requested))}, 100 % of all`);
    await page.locator('.frames-box').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await words.innerText()).toMatch(/: [\d.]+ (MiB|GiB), [\d.]+ % of all$/);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('button', { name: 'Show all' }).count()).toBe(1);
    expect(await violationsInModes(page, `snapshot_flame_${where.replaceAll(' ', '_')}`)).toEqual([]);
    expect(errors).toEqual([]);
    await page.close();
  });
});

test('the address map has every range of every segment', async () => {
  const { page, errors } = await openPage(browser, site, '/memory?tab=memory_state');
  const ranges = rowsWith(printed('memory_state'), { segment: '', offset: 'bytes', size: 'bytes', state: '' });
  const sum = (name: string) => ranges.reduce((all, row) => all + Number(row[name]), 0);
  expect(await page.locator('#page main h1').innerText()).toContain(`${bytes(sum('free'))} of ${bytes(sum('size'))} in segments is free`);
  expect(await page.locator('.map svg').count()).toBe(new Set(ranges.map((row) => row.segment)).size);
  expect(await page.locator('.map rect').count()).toBe(ranges.filter((row) => row.state !== 'free').length);
  expect(await page.locator('.map rect title').first().textContent()).toMatch(/, (used|mixed|pending): [\d.]+ [KMG]iB of [\d.]+ [KMG]iB$/);
  expect(await violationsInModes(page, 'snapshot_map')).toEqual([]);
  expect(errors).toEqual([]);
  await page.close();
});

/** How many colours the chart has, in a coarse raster. */
const inkIn = (page: Page) => chart(page).locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
  const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Set<string>();
  for (let i = 0; i < data.length; i += 4 * 7) if (data[i + 3] === 255) seen.add([0, 1, 2].map((c) => data[i + c]! >> 5).join());
  return seen.size;
});

test('keys set A and B, and the list is what the program says of them', async () => {
  const { page, errors } = await openPage(browser, site, '/memory');
  await chart(page).focus();
  await page.keyboard.press('Home');
  for (let i = 0; i < 3; ++i) await page.keyboard.press('PageDown');
  await page.keyboard.press('a');
  const a = Number(/After event ([\d,]+)/.exec(await page.locator('.flame-words').innerText())![1]!.replaceAll(',', ''));
  await page.keyboard.press('PageDown');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('b');
  await settled(page);
  const b = Number(/After event ([\d,]+)/.exec(await page.locator('.flame-words').innerText())![1]!.replaceAll(',', ''));
  expect(a).toBeGreaterThan(0);
  expect(b).toBeGreaterThan(a);
  expect(page.url()).toContain(`marks=${a},${b}`);
  expect(await kept(page).locator('h2').innerText()).toBe(`Allocated after event ${formatValue(a, 'count')} (A) and not freed at event ${formatValue(b, 'count')} (B), by place`);
  const rows = expectedKept(a, b);
  expect(rows.length).toBeGreaterThan(0);
  expect(await keptRows(page)).toEqual(rows.slice(0, 14));
  await page.reload();
  await settled(page);
  expect(await keptRows(page)).toEqual(rows.slice(0, 14));
  await chart(page).focus();
  await page.keyboard.press('p');
  expect(await page.locator('.flame-words').innerText()).toContain(', the peak:');
  expect(errors).toEqual([]);
  await page.close();
});

test('a click sets A, one with Shift sets B, on either axis', async () => {
  const { page, errors } = await openPage(browser, site, '/memory');
  const box = (await chart(page).locator('.u-over').boundingBox())!;
  await page.mouse.click(box.x + box.width * 0.7, box.y + 100);
  await page.keyboard.down('Shift');
  await page.mouse.click(box.x + box.width * 0.3, box.y + 100);
  await page.keyboard.up('Shift');
  await settled(page);
  const [a, b] = /marks=(\d+),(\d+)/.exec(page.url())!.slice(1).map(Number) as [number, number];
  expect(b).toBeLessThan(a); // the earlier instant is drawn as A, whichever was set first
  expect(await keptRows(page)).toEqual(expectedKept(b, a).slice(0, 14));
  await page.getByRole('button', { name: 'Time', exact: true }).click();
  await settled(page);
  expect(page.url()).toContain('axis=time');
  expect(await inkIn(page)).toBeGreaterThan(4);
  expect(errors).toEqual([]);
  await page.close();
});

test('a report file has the list of its own two instants, and says where others are', async () => {
  const { page, errors, foreign } = await openFile(browser, file, '/memory');
  await chart(page).focus();
  for (const key of ['Home', 'PageDown', 'a']) await page.keyboard.press(key);
  await settled(page);
  expect(await page.locator('.failure').innerText()).toMatch(/This file holds no answer for these two instants\.\s+`stepscope serve .*` shows all\./);
  expect([errors, foreign]).toEqual([[], []]);
  await page.close();
});

test('zooming in shows more instants, and all can be shown again', async () => {
  const { page, errors } = await openPage(browser, site, '/memory');
  const words = () => page.locator('.flame-words').innerText();
  const eventIn = async () => Number(/After event ([\d,]+)/.exec(await words())![1]!.replaceAll(',', ''));
  await chart(page).focus();
  for (const key of ['Home', 'PageDown', 'PageDown', 'PageDown', 'PageDown']) await page.keyboard.press(key);
  const at = await eventIn();
  await page.keyboard.press('+');
  await settled(page);
  const [from, to] = /[?&]t=(-?\d+),(\d+)/.exec(page.url())!.slice(1).map(Number) as [number, number];
  const whole = rowsWith(printed('memory_curve'), { event: '', requested: 'bytes', pending: 'bytes' }).filter(({ event }) => Number(event) >= from && Number(event) <= to);
  const part = rowsWith(printed('memory_curve', '--since', String(from), '--until', String(to)), { event: '', requested: 'bytes', pending: 'bytes' });
  expect(part.length).toBeGreaterThan(2 * whole.length);
  const stays = part.filter(({ event }) => Number(event) <= at).at(-1)!;
  expect(await eventIn()).toBe(stays.event);
  expect(at - Number(stays.event)).toBeLessThan((to - from) / 100);
  await page.keyboard.press('Home');
  expect(await eventIn()).toBe(from);
  for (let i = 1; i < 4; ++i) {
    await page.keyboard.press('ArrowRight');
    expect(await eventIn()).toBe(part[i]!.event);
    expect(await words()).toContain(`${bytes(number(part[i]!.requested))} requested`);
  }
  await page.getByRole('button', { name: 'Show all' }).click();
  await settled(page);
  expect(page.url()).not.toContain('t=');
  await chart(page).focus();
  await page.keyboard.press('End');
  expect(await eventIn()).toBe(6329);
  expect(errors).toEqual([]);
  await page.close();
});
