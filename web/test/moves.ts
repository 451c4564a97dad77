// Moves in the timeline: values under the mouse, times, marks, the longest event of a name, lanes that are hidden, edges that snap.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import type { EventDetails, Search } from '../src/data/types.ts';
import { axeViolations, gone, listRuns, openPage, settled, startBrowser, startSite, violationsInModes, type Site } from './browser.ts';

const site = await startSite();
const runs = await listRuns(site);
const sample = (name: string) => runs.find((one) => one.name.startsWith(name))!.run;
const [RANKS, SLOW, HEALTHY, NO_GPU] = [sample('generated_exposed_comm'), sample('generated_slow_input'), sample('generated_healthy'), sample('cnn')];

let browser: Browser;
beforeAll(async () => { browser = await startBrowser(); });
afterAll(async () => {
  await browser.close();
  site.stop();
});

const asked = async <T>(run: number, address: string): Promise<T> =>
  (await fetch(`${site.origin}api/runs/${run}/${address}`, { headers: { Authorization: `Bearer ${site.fragment.replace('token=', '')}` } })).json() as Promise<T>;
const spoken = (page: Page) => page.locator('#timeline-selection').innerText();
/** The span in view, from the address. */
const spanOf = (page: Page) => /[?&]t=(-?\d+),(-?\d+)/.exec(page.url())!.slice(1).map(Number) as [number, number];
const lanes = async (page: Page) => (await page.locator('.canvas-box canvas').boundingBox())!;

test('a counter says its value under the mouse, and in the table of what is in view', async () => {
  const { page, errors } = await openPage(browser, site, `/timeline?run=${RANKS}&t=1000000,6000000`);
  const label = page.locator('.label.counter').first();
  const { y, height } = (await label.boundingBox())!;
  const { x } = await lanes(page);
  await page.mouse.move(x + 400, y + height / 2);
  expect(await page.locator('.tooltip b').innerText()).toMatch(/^GPU 0 busy: [\d.]+ %$/);
  expect(await page.locator('.tooltip').innerText()).toContain('at 3.');
  expect(await violationsInModes(page, 'timeline_counter')).toEqual([]);
  await page.getByRole('button', { name: 'As table' }).click();
  await page.getByText('Counters in view').waitFor();
  expect(await page.locator('.drawer').innerText()).toMatch(/GPU 0 busy\s+0\s+[\d.]+ %( to [\d.]+ %)?/);
  expect(await page.locator('.drawer').innerText()).toContain('folded');
  expect(errors).toEqual([]);
  await page.close();
});

test('a time typed into the search is gone to', async () => {
  const { page, errors } = await openPage(browser, site, `/timeline?run=${SLOW}`);
  await page.keyboard.press('/');
  await page.keyboard.type('12.5 ms');
  await page.getByText('Enter: go there').waitFor();
  expect(await page.locator('.drawer').count()).toBe(0);
  await page.keyboard.press('Enter');
  await settled(page);
  const [from, to] = spanOf(page);
  expect((from + to) / 2).toBeCloseTo(12_500_000, -2);
  expect(await spoken(page)).toBe('Mark at 12.5 ms');
  expect(await axeViolations(page)).toEqual([]);
  await page.locator('input[type=search]').fill('999 s');
  await page.keyboard.press('Enter');
  await page.getByText('The run ends at').waitFor();
  await page.goBack();
  await settled(page);
  expect(spanOf(page)).toEqual([from, to]);
  expect(errors).toEqual([]);
  await page.close();
});

test('a time is a command on every page, and the help says so', async () => {
  const { page, errors } = await openPage(browser, site, `/operators?run=${SLOW}`);
  for (const [words, time] of [['20 ms', 20_000_000], ['.03s', 30_000_000]] as const) {
    await page.keyboard.press('Control+Shift+P');
    await page.locator('.palette input:focus').waitFor();
    await page.keyboard.type(words);
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/timeline\?.*t=/);
    await settled(page);
    const [from, to] = spanOf(page);
    expect((from + to) / 2).toBeCloseTo(time, -2);
  }
  await page.keyboard.press('Control+Shift+P');
  await page.locator('.palette input:focus').waitFor();
  await page.keyboard.type('go to step 2');
  await page.keyboard.press('Enter');
  await page.waitForURL(/step=2/);
  await settled(page);
  expect(await page.locator('.shown').innerText()).not.toContain('from 29');
  await page.locator('body').press('?');
  expect(await page.locator('dialog[open]').innerText()).toContain('12.5 ms');
  expect(errors).toEqual([]);
  await page.close();
});

test('a row leads to the longest event of its name, by mouse and by a key', async () => {
  const { page, errors } = await openPage(browser, site, `/operators?run=${HEALTHY}`);
  const isLongest = async (name: string) => {
    await page.waitForURL((url) => /#\/timeline\?.*sel=r0\.\d+/.test(url.hash) && !url.hash.includes('longest='));
    await settled(page);
    expect(await page.locator('.event-head h2').innerText()).toBe(name);
    const event = await asked<EventDetails>(HEALTHY, `event?rank=0&id=${/sel=r0\.(\d+)/.exec(page.url())![1]}`);
    const own = async (limit: string) => (await asked<Search>(HEALTHY, `search?q=${encodeURIComponent(name + limit)}`)).names.find((one) => one.name === name);
    expect(await own(` dur>${event.end - event.start}ns`)).toBeUndefined();
    const [from, to] = spanOf(page);
    expect((event.end - event.start) / (to - from)).toBeGreaterThan(0.3);
  };
  const row = page.locator('.grid-body [role=row]').nth(1);
  expect(await row.locator('.words').first().innerText()).toBe('aten::addmm');
  await row.hover();
  await row.locator('.jump').click();
  await isLongest('aten::addmm');
  await page.goBack();
  await page.locator('main.page-operators [role=grid]').first().press('ArrowDown');
  await page.keyboard.press('t');
  await isLongest('aten::mm');
  await page.goBack();
  await page.locator('main.page-operators .grid-body [role=row]').first().click();
  expect(await axeViolations(page)).toEqual([]);
  await page.getByText('its longest event').first().click();
  await isLongest('aten::mm');
  expect(errors).toEqual([]);
  await page.close();
});

test('a name that no event has is said, and searched', async () => {
  const { page } = await openPage(browser, site, `/timeline?run=${HEALTHY}&longest=aten::m`);
  await page.getByText('No event has exactly this name: aten::m').waitFor();
  expect(await page.locator('input[type=search]').inputValue()).toBe('aten::m');
  await page.close();
});

test('lanes are hidden and shown again, and the link keeps it', async () => {
  const { page, errors } = await openPage(browser, site, `/timeline?run=${RANKS}`);
  const names = () => page.locator('.label:not(.group) .words').allInnerTexts();
  const all = await names();
  const { x } = await lanes(page);
  const { y } = (await page.locator('.label.lane').first().boundingBox())!;
  await page.mouse.move(x + 200, y + 8);
  await page.keyboard.press('h');
  await page.waitForURL(/hide=r0\/d0s/);
  await page.locator('.label', { hasText: 'main thread' }).first().getByRole('button', { name: 'Hide main thread' }).press('Enter');
  await page.waitForURL(/hide=r0\/d0s\d+,r0\/t\d+/);
  const left = all.filter((_, i) => i !== all.findIndex((name) => name.startsWith('stream')) && i !== all.findIndex((name) => name.startsWith('main')));
  await expect.poll(async () => (await names()).slice(0, left.length)).toEqual(left);
  expect(await violationsInModes(page, 'timeline_hidden')).toEqual([]);
  const link = page.url();
  await page.reload();
  await settled(page);
  expect(page.url()).toBe(link);
  const show = page.getByRole('button', { name: 'Show 2 hidden lanes of rank 0' });
  await show.waitFor();
  await page.keyboard.press('Shift+H');
  await page.waitForURL((url) => !url.hash.includes('hide='));
  await expect.poll(names).toEqual(all);
  await page.goto(link);
  await settled(page);
  await show.click();
  await expect.poll(names).toEqual(all);
  expect(errors).toEqual([]);
  await page.close();
});

test('a hidden lane is shown when its event is selected', async () => {
  const { page } = await openPage(browser, site, `/timeline?run=${SLOW}&sel=r0.5`);
  const lane = (await asked<{ lanes: { key: string }[] }>(SLOW, 'timeline')).lanes[(await asked<EventDetails>(SLOW, 'event?rank=0&id=5')).lane!]!.key;
  await page.goto(`${site.origin}#/timeline?run=${SLOW}&hide=${lane}&sel=r0.5`);
  await settled(page);
  await page.locator('canvas[role=application]').press('f');
  await page.waitForURL((url) => !url.hash.includes('hide='));
  await page.close();
});

test('marks stand on the ruler: the mouse and keys go there, Delete removes one', async () => {
  const { page, errors } = await openPage(browser, site, `/timeline?run=${SLOW}&marks=5000000,6000000;40000000,41000000&t=0,10000000`);
  const marks = page.locator('.mark');
  expect(await marks.allInnerTexts()).toEqual(['▾', '▸']);
  expect(await marks.first().getAttribute('aria-label')).toContain('Mark at 5.00 ms, 1.00 ms long');
  expect(await violationsInModes(page, 'timeline_marks')).toEqual([]);
  const shows = async (middle: number) => {
    await expect.poll(() => { const [from, to] = spanOf(page); return Math.abs((from + to) / 2 - middle) < 1000 && to - from < 3_000_000; }).toBe(true);
    await settled(page);
  };
  await marks.nth(1).click();
  await shows(40_500_000);
  expect(await marks.allInnerTexts()).toEqual(['◂', '▾']);
  await page.keyboard.press('j');
  await shows(5_500_000);
  await page.keyboard.press('j');
  await shows(40_500_000);
  await marks.first().press('Delete');
  await expect.poll(() => marks.count()).toBe(1);
  await page.waitForURL((url) => url.hash.includes('marks=40000000,41000000'));
  await page.locator('canvas[role=application]').press('Delete');
  await gone(page, '.mark');
  expect(errors).toEqual([]);
  await page.close();
});

test('the name of a tall lane stays in view', async () => {
  const { page } = await openPage(browser, site, `/timeline?run=${RANKS}`);
  const name = page.locator('.label.lane', { hasText: 'main thread' }).first().locator('.words');
  const before = (await name.boundingBox())!;
  const box = await lanes(page);
  await page.mouse.move(box.x + 300, box.y + 300);
  await page.mouse.wheel(0, before.y - box.y + 60);
  await expect.poll(async () => Math.round((await name.boundingBox())!.y - box.y)).toBe(0);
  await page.close();
});

test('what a recording lacks is said without moving the lanes', async () => {
  const { page } = await openPage(browser, site, `/timeline?run=${NO_GPU}`);
  const before = await lanes(page);
  await page.locator('.strip').waitFor();
  expect(await lanes(page)).toEqual(before);
  await page.locator('.strip summary').click();
  expect(await page.locator('.strip').innerText()).toContain('ProfilerActivity.CUDA');
  expect(await lanes(page)).toEqual(before);
  expect(await violationsInModes(page, 'timeline_lacks')).toEqual([]);
  await page.close();
});

const [START, END, RUN_END] = [300_123, 600_457, 1_000_000];

/** A tile that holds one event. */
function tileOf(level: number, tile: number): Uint8Array {
  const at = (time: number) => Math.max(0, Math.min(512, (time - tile * 512 * 2 ** level) / 2 ** level));
  const [begin, end] = [Math.floor(at(START)), Math.ceil(at(END))];
  const boxes = begin < end ? 1 : 0;
  const column = (bytes: number, value: number) => {
    const cell = Buffer.alloc(boxes * 8);
    if (boxes > 0) cell.writeUIntLE(value, 0, bytes);
    return cell;
  };
  return Buffer.concat([Buffer.from(new Uint32Array([0x454c4954, 1, boxes, boxes]).buffer), column(4, 0), column(4, 0), column(4, boxes),
    column(4, 7), column(4, 0), column(4, 1), column(2, begin), column(2, end), column(1, 255), column(1, 6), column(1, 0)]);
}

const oneEvent = (): Promise<Site> => startSite((url) => {
  if (url.pathname.endsWith('/timeline')) {
    return JSON.stringify({ end: RUN_END, names: 1, clock: { aligned: true, error_ns: 0 }, ranks: [{ rank: 0, begin: 0, rate: 1 }], steps: [], counters: [],
      lanes: [{ lane: 0, key: 'r0/t1', rank: 0, side: 'host', role: 'main', name: 'main', title: 'main', rows: 1, events: 1 }] });
  }
  if (url.pathname.endsWith('/tiles')) return tileOf(Number(url.searchParams.get('level')), Number(url.searchParams.get('tile')));
  if (url.pathname.endsWith('/names/0')) return JSON.stringify(['one']);
  if (url.pathname.endsWith('/area')) return JSON.stringify({ report: 'area', tables: [], notes: [] });
  if (url.pathname.endsWith('/event')) {
    return JSON.stringify({ rank: 0, id: 7, lane: 0, row: 0, name: 'one', kind: 'op', category: 'cpu_op', start: START, end: END, step: null, parent: null, next: null, previous: null, args: [], stack: [], links: [] });
  }
  return undefined;
});

test('edges of an area snap to the exact times of events; Shift or Alt switches it off', async () => {
  const alone = await oneEvent();
  const { page, errors } = await openPage(browser, alone, '/timeline?run=0');
  const { x, y, width } = await lanes(page);
  const at = (time: number) => x + (time / RUN_END) * width;
  const drag = async (from: number, to: number, key?: 'Shift' | 'Alt') => {
    await page.mouse.move(from, y + 30);
    await page.mouse.down();
    if (key !== undefined) await page.keyboard.down(key);
    await page.mouse.move((from + to) / 2, y + 34);
    await page.mouse.move(to, y + 34);
    await page.mouse.up();
    if (key !== undefined) await page.keyboard.up(key);
    await settled(page);
    return /area=(\d+),(\d+)/.exec(page.url())!.slice(1).map(Number);
  };
  expect(await drag(at(START) - 4, at(END) + 4)).toEqual([START, END]);
  for (const key of ['Shift', 'Alt'] as const) {
    const begin = key === 'Shift' ? 100_000 : 150_000;
    const [from, to] = await drag(at(begin), at(END) + 4, key);
    expect(Math.abs(from! - begin)).toBeLessThan(2000);
    expect(to! - END).toBeGreaterThan(2000);
  }
  await drag(at(200_000), at(800_000));
  expect(await drag(at(800_000), at(END) + 4)).toEqual([expect.any(Number), END]); // by its edge
  expect(errors).toEqual([]);
  alone.stop();
  await page.close();
});
