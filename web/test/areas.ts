// Two areas of the timeline side by side: by mouse, by keys and by a link.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { listRuns, openPage, settled, startBrowser, startSite, violationsInModes } from './browser.ts';

const site = await startSite();
const run = (await listRuns(site)).find((one) => one.name.startsWith('generated_slow_input'))!.run;

let browser: Browser;
beforeAll(async () => { browser = await startBrowser(); });
afterAll(async () => {
  await browser.close();
  site.stop();
});

async function drag(page: Page, from: [number, number], to: [number, number], key?: string) {
  const box = (await page.locator('.canvas-box canvas').boundingBox())!;
  if (key !== undefined) await page.keyboard.down(key);
  await page.mouse.move(box.x + from[0], box.y + from[1]);
  await page.mouse.down();
  await page.mouse.move(box.x + to[0], box.y + to[1], { steps: 4 });
  await page.mouse.up();
  if (key !== undefined) await page.keyboard.up(key);
  await settled(page);
}

const drawer = (page: Page) => page.locator('.drawer');
/** The cells of a column of the first table, as numbers; "" is none. */
async function column(page: Page, name: string): Promise<(number | null)[]> {
  const grid = page.locator('.drawer [role=grid]').first();
  const at = (await grid.locator('[role=columnheader]').allInnerTexts()).findIndex((head) => head.replace(/[▲▼]/, '').trim() === name);
  expect(at, name).toBeGreaterThanOrEqual(0);
  const cells = await grid.locator(`.grid-window [role=row] > :nth-child(${at + 1})`).allInnerTexts();
  return cells.map((words) => (words === '' ? null : Number(/-?[\d.]+/.exec(words.replaceAll(',', ''))![0])));
}

test('a second area by Alt and the mouse: old, new and change of each name, in the link', async () => {
  const { page, errors, foreign } = await openPage(browser, site, `/timeline?run=${run}`);
  await drag(page, [40, 190], [250, 330]);
  expect(await drawer(page).innerText()).not.toContain('B, new');
  await drag(page, [270, 190], [480, 330], 'Alt');
  await page.waitForURL(/area=\d+,\d+.*&area2=\d+,\d+,/);
  expect(await drawer(page).locator('.areas').innerText()).toMatch(/A, old: [\d.]+ ms from [\d.]+ ms on .*\s+B, new: [\d.]+ ms from [\d.]+ ms on .*/);
  expect(await page.locator('#timeline-selection').innerText()).toMatch(/Area A, old: .* Area B, new: /);
  const [old, now, change] = [await column(page, 'total old'), await column(page, 'total new'), await column(page, 'total change')];
  expect(change.length).toBeGreaterThan(3);
  change.forEach((one, i) => expect(one).toBeCloseTo(now[i]! - old[i]!, 0));
  expect(change.map((one) => Math.abs(one!))).toEqual(change.map((one) => Math.abs(one!)).sort((a, b) => b - a));
  expect(await violationsInModes(page, 'timeline_two_areas')).toEqual([]);

  await page.getByRole('button', { name: 'count change' }).first().click();
  const counts = await column(page, 'count change');
  expect(counts).toEqual([...counts].sort((a, b) => b! - a!));

  const words = await drawer(page).locator('.areas').innerText();
  const link = page.url();
  await page.reload();
  await settled(page);
  expect(page.url()).toBe(link);
  expect(await drawer(page).locator('.areas').innerText()).toBe(words);
  await page.getByRole('button', { name: 'Stop comparing' }).click();
  await page.waitForURL((url) => !url.hash.includes('area2'));
  await settled(page);
  expect(await column(page, 'total')).toBeTruthy();
  expect([errors, foreign]).toEqual([[], []]);
  await page.close();
});

test('a second area by keys alone', async () => {
  const { page, errors } = await openPage(browser, site, `/timeline?run=${run}&sel=r0.0`);
  await page.keyboard.press('r');
  await page.waitForURL(/area=/);
  await page.locator('.canvas-box canvas').focus();
  await page.keyboard.press('ArrowRight');
  await settled(page);
  await page.keyboard.press('Shift+R');
  await page.waitForURL(/area2=/);
  await settled(page);
  expect(await drawer(page).locator('.areas').innerText()).toContain('B, new');
  expect(await column(page, 'total change')).not.toEqual([]);
  await page.locator('.canvas-box canvas').focus();
  await page.keyboard.press('Escape');
  await page.waitForURL((url) => !/area|sel/.test(url.hash));
  expect(errors).toEqual([]);
  await page.close();
});

test('a growing area asks nothing until the drag ends', async () => {
  const { page } = await openPage(browser, site, `/timeline?run=${run}`);
  await drag(page, [40, 190], [250, 330]);
  const asked: string[] = [];
  page.on('request', (request) => { if (request.url().includes('/area?')) asked.push(request.url()); });
  await drag(page, [250, 230], [330, 230]);
  expect(asked).toHaveLength(1);
  await page.close();
});

test('a second area without Alt, where the desktop keeps that key', async () => {
  const { page } = await openPage(browser, site, `/timeline?run=${run}`);
  await drag(page, [40, 190], [250, 330]);
  await page.getByRole('button', { name: 'Compare with another area' }).click();
  await drag(page, [270, 190], [480, 330]);
  await page.waitForURL(/area2=/);
  await drag(page, [100, 190], [200, 330]);
  await page.waitForURL((url) => url.hash.includes('area=') && !url.hash.includes('area2='));
  await page.close();
});
