// Opens every page in a browser. `npm run pages`; STEPSCOPE names the program that the stand-in server runs.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { PAGES } from '../src/words/pages.ts';
import { axeViolations, openPage, settled, SHOTS, startBrowser, startSite, type Site } from './browser.ts';

const RANKS = 1; // the sample of two ranks
const STACKS = 8; // the sample with stacks and memory, of a CPU
const HEALTHY = 2;
const SLOW = 4;

let browser: Browser;
let site: Site;
beforeAll(async () => { [browser, site] = await Promise.all([startBrowser(), startSite()]); });
afterAll(async () => {
  await browser.close();
  site.stop();
});

const VIEWS: [name: string, address: string][] = [
  ...PAGES.map((page): [string, string] => [page.id, `/${page.id}?run=${RANKS}`]),
  ['verdict_stacks', `/verdict?run=${STACKS}`], ['verdict_healthy', `/verdict?run=${HEALTHY}`], ['verdict_cannot_tell', '/verdict?run=0'],
  ['timeline_selected', `/timeline?run=${SLOW}&t=22000000,45000000&sel=r0.5`], ['timeline_search', `/timeline?run=${RANKS}&q=nccl`],
  ['timeline_area', `/timeline?run=${RANKS}&area=2000000,6000000&pin=r0/d0s7`],
  ['memory_stacks', `/memory?run=${STACKS}`], ['source_stacks', `/source?run=${STACKS}`], ['data_slow', `/data?run=${SLOW}`],
  ['steps', `/verdict?run=${RANKS}&tab=steps`], ['diff_two', `/diff?run=${HEALTHY}&base=${SLOW}`],
];

for (const mode of ['light', 'dark'] as const) {
  test.each(VIEWS)(`%s is sound in ${mode}`, async (name, address) => {
    const { page, errors, foreign } = await openPage(browser, site, address, mode);
    await page.screenshot({ path: `${SHOTS}/${name}_${mode}.png` });
    expect(errors).toEqual([]);
    expect(foreign).toEqual([]);
    expect(await axeViolations(page)).toEqual([]);
    expect(await page.locator('.failure').count()).toBe(0);
    expect(page.url()).not.toContain('token');
    await page.close();
  });
}

test('every page can be reached by keys alone', async () => {
  const { page, errors } = await openPage(browser, site, `/verdict?run=${RANKS}`);
  for (const one of PAGES) {
    await page.keyboard.press('g');
    await page.keyboard.press(one.key);
    await settled(page);
    expect(page.url()).toContain(`#/${one.id}?run=`);
    expect(await page.locator('nav [aria-current]').innerText()).toContain(one.name);
  }
  await page.keyboard.press('?');
  expect(await page.locator('dialog[open] h2').innerText()).toContain('Keys');
  expect(await axeViolations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  expect(await page.locator('dialog[open]').count()).toBe(0);
  expect(errors).toEqual([]);
  await page.close();
});

const spoken = '#timeline-selection';

test('events can be walked by keys', async () => {
  const { page, errors } = await openPage(browser, site, `/timeline?run=${SLOW}&sel=r0.0`);
  const first = await page.locator(spoken).innerText();
  expect(first).toContain('ProfilerStep#1');
  await page.keyboard.press('ArrowRight');
  await settled(page);
  expect(await page.locator(spoken).innerText()).not.toBe(first);
  await page.keyboard.press('ArrowLeft');
  await settled(page);
  expect(await page.locator(spoken).innerText()).toBe(first);
  await page.keyboard.press('f');
  await settled(page);
  await page.keyboard.press('ArrowDown');
  await settled(page);
  expect(await page.locator(spoken).innerText()).toContain('train_step');
  await page.keyboard.press('ArrowUp');
  await settled(page);
  expect(await page.locator(spoken).innerText()).toBe(first);
  await page.keyboard.press('Escape');
  await settled(page);
  expect(page.url()).not.toContain('sel=');
  expect(errors).toEqual([]);
  await page.close();
});

test('a view survives its link', async () => {
  const { page } = await openPage(browser, site, `/timeline?run=${RANKS}`);
  const box = (await page.locator('.canvas-box canvas').boundingBox())!;
  await page.keyboard.down('w');
  await page.waitForTimeout(400);
  await page.keyboard.up('w');
  await page.mouse.move(box.x + 200, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 420, box.y + 110, { steps: 5 });
  await page.mouse.up();
  await page.waitForTimeout(600);
  await settled(page);
  expect(page.url()).toMatch(/t=\d+,\d+&area=\d+,\d+,r0/);
  const link = page.url();
  await page.reload();
  await settled(page);
  expect(page.url()).toBe(link);
  expect(await page.locator('[role=tab][aria-selected=true]').first().innerText()).toBe('Area');
  await page.close();
});

test('a search shows names and walks its hits', async () => {
  const { page } = await openPage(browser, site, `/timeline?run=${RANKS}`);
  await page.keyboard.press('/');
  await page.keyboard.type('ncclDevKernel_AllReduce');
  await settled(page);
  expect(await page.locator('.search-sum').innerText()).toContain('8');
  await page.keyboard.press('Enter');
  await settled(page);
  expect(await page.locator(spoken).innerText()).toContain('AllReduce');
  await page.close();
});

test('parts of an address that mean nothing are named', async () => {
  const { page } = await openPage(browser, site, '/timeline?run=1&pin=r9/d3s1&colour=red');
  const banner = await page.locator('.banner').innerText();
  expect(banner).toContain('colour');
  expect(banner).toContain('r9/d3s1');
  await page.close();
});

test('a question that fails says so in its panel, and can be asked again', async () => {
  let broken = true;
  const failing = await startSite((url) => {
    if (broken && url.pathname.includes('/show/')) throw Object.assign(new Error('Too much is asked at once.'), { status: 503, remedy: 'Ask again.' });
    return undefined;
  });
  const { page } = await openPage(browser, failing, `/operators?run=${RANKS}`);
  expect(await page.locator('.failure').innerText()).toContain('Too much is asked at once.');
  expect(await axeViolations(page)).toEqual([]);
  broken = false;
  await page.locator('.failure button').click();
  await settled(page);
  expect(await page.locator('.failure').count()).toBe(0);
  expect(await page.locator('[role=grid]').count()).toBeGreaterThan(0);
  failing.stop();
  await page.close();
});

test('without a token the page says what to open', async () => {
  const { page } = await openPage(browser, { ...site, fragment: '' }, '/verdict');
  expect(await page.locator('.failure').innerText()).toContain('token');
  await page.close();
});

test('no recording: the page says how to make one', async () => {
  const empty = await startSite((url) => (url.pathname === '/api/runs' ? JSON.stringify({ version: '0', runs: [] }) : undefined));
  const { page } = await openPage(browser, empty, '/verdict');
  expect(await page.locator('main').innerText()).toContain('stepscope record');
  empty.stop();
  await page.close();
});

const FRAME_MS = 3 * 17; // three times the budget: machines that test are shared

test('frames follow a held key', async () => {
  const { page } = await openPage(browser, site, `/timeline?run=${STACKS}`);
  await page.keyboard.down('w');
  const gaps = await page.evaluate(() => new Promise<number[]>((done) => {
    const times: number[] = [];
    const tick = (now: number) => {
      times.push(now);
      if (times.length < 60) requestAnimationFrame(tick);
      else done(times.slice(1).map((time, i) => time - times[i]!));
    };
    requestAnimationFrame(tick);
  }));
  await page.keyboard.up('w');
  const sorted = gaps.sort((a, b) => a - b);
  console.log(`frame interval: median ${sorted[30]!.toFixed(1)} ms, 95th percentile ${sorted[56]!.toFixed(1)} ms`);
  expect(sorted[56]!).toBeLessThan(FRAME_MS);
  await page.close();
});
