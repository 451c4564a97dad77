// Opens every page in a browser. `npm run pages`; STEPSCOPE names the program that the stand-in server runs.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { PAGES } from '../src/words/pages.ts';
import { axeViolations, gone, listRuns, openPage, settled, SHOTS, startBrowser, startSite, violationsInModes } from './browser.ts';

const site = await startSite();
const runs = await listRuns(site);
/** The number of the sample of that name. */
const sample = (name: string, among = runs): number => among.find((one) => one.name.startsWith(name))!.run;
const RANKS = sample('generated_exposed_comm');
const STACKS = sample('transformer_stacks_memory');
const HEALTHY = sample('generated_healthy');
const SLOW = sample('generated_slow_input');
const NO_GPU = sample('cnn');

let browser: Browser;
beforeAll(async () => { browser = await startBrowser(); });
afterAll(async () => {
  await browser.close();
  site.stop();
});

const VIEWS: [name: string, address: string][] = [
  ...PAGES.map((page): [string, string] => [page.id, `/${page.id}?run=${RANKS}`]),
  ['verdict_stacks', `/verdict?run=${STACKS}`], ['verdict_healthy', `/verdict?run=${HEALTHY}`], ['verdict_cannot_tell', `/verdict?run=${NO_GPU}`],
  ['timeline_selected', `/timeline?run=${SLOW}&t=22000000,45000000&sel=r0.5`], ['timeline_search', `/timeline?run=${RANKS}&q=nccl`],
  ['timeline_path', `/timeline?run=${SLOW}&t=22000000,45000000&path=r0.2`], ['timeline_idle', `/timeline?run=${SLOW}&idle=causes`],
  ['timeline_area', `/timeline?run=${RANKS}&area=2000000,6000000&pin=r0/d0s7`],
  ['memory_stacks', `/memory?run=${STACKS}`], ['source_stacks', `/source?run=${STACKS}`], ['data_slow', `/data?run=${SLOW}`],
  ['roofline', `/operators?run=${HEALTHY}`], ['call_tree', `/modules?run=${STACKS}&tab=call_tree`], ['python_stacks', `/source?run=${STACKS}&tab=python_stacks`],
  ['whatif', `/verdict?run=${RANKS}&tab=whatif&scale=comm=0.5`], ['some_steps', `/kernels?run=${RANKS}&steps=2-3`], ['no_gpu', `/kernels?run=${NO_GPU}`],
  ['steps', `/verdict?run=${RANKS}&tab=steps`], ['diff_two', `/diff?run=${HEALTHY}&base=${SLOW}`],
];

test.concurrent.each(VIEWS)('%s is sound in light and in dark', async (name, address) => {
  const { page, errors, foreign } = await openPage(browser, site, address);
  expect(await violationsInModes(page, name)).toEqual([]);
  expect(errors).toEqual([]);
  expect(foreign).toEqual([]);
  expect(await page.locator('.failure').count()).toBe(0);
  expect(page.url()).not.toContain('token');
  await page.close();
});

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
  await gone(page, 'dialog[open]');
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
  await page.mouse.move(box.x + 200, box.y + 190);
  await page.mouse.down();
  await page.mouse.move(box.x + 420, box.y + 260, { steps: 5 });
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

test('a link opens in another tab of the browser', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${site.origin}#/kernels?run=${SLOW}&${site.fragment}`);
  await settled(page);
  const tab = await context.newPage();
  await tab.goto(page.url());
  await settled(tab);
  expect(tab.url()).not.toContain('token');
  expect(await tab.locator('main h1').innerText()).toBe(await page.locator('main h1').innerText());
  await context.close();
});

test('marks that turn text are replaced in names', async () => {
  const turning = await startSite((url) => (url.pathname.endsWith('/show/operators') ? JSON.stringify({ name: 'operators', notes: [], description: '', tables: [
    { title: 'Operators', shape: 'table', columns: [{ name: 'name', unit: '', role: 'key' }, { name: 'calls', unit: 'count', role: 'value' }], rows: [['\u202eevil\u2066 op', 1]] }] }) : undefined));
  const { page } = await openPage(browser, turning, `/operators?run=${sample('generated_healthy', await listRuns(turning))}`);
  expect(await page.locator('main').innerText()).toContain('\ufffdevil\ufffd op');
  expect(await page.locator('body').innerText()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  turning.stop();
  await page.close();
});

test('a finding leads to its place in the timeline', async () => {
  const { page, errors } = await openPage(browser, site, `/verdict?run=${SLOW}`);
  await page.locator('.finding a', { hasText: 'in the timeline' }).first().click();
  await settled(page);
  await page.waitForURL(/area=/);
  const [from, to] = /area=(\d+),(\d+)/.exec(page.url())!.slice(1).map(Number);
  expect(to! - from!).toBeGreaterThan(1_000_000);
  expect(await page.locator('[role=tabpanel]').last().innerText()).toContain('enumerate(DataLoader)');
  expect(errors).toEqual([]);
  await page.close();
});

test('a search shows names and walks its hits', async () => {
  const { page } = await openPage(browser, site, `/timeline?run=${RANKS}`);
  await page.keyboard.press('/');
  await page.locator('input[type=search]:focus').waitFor();
  await page.keyboard.type('ncclDevKernel_AllReduce');
  await settled(page);
  expect(await page.locator('.search-sum').innerText()).toContain('8');
  await page.keyboard.press('Enter');
  await settled(page);
  expect(await page.locator(spoken).innerText()).toContain('AllReduce');
  await page.close();
});

test('each analysis heads its page with the sentence that answers it', async () => {
  const { page, errors } = await openPage(browser, site, `/operators?run=${HEALTHY}`);
  expect(await page.locator('main h1').innerText()).toMatch(/^10 of \d+ operators take [\d.]+ % of device time/);
  for (const one of PAGES) {
    for (const name of one.analyses) {
      await page.evaluate((hash) => { location.hash = hash; }, `#/${one.id}?run=${HEALTHY}&tab=${name}`);
      await settled(page);
      expect(await page.locator('main h1').innerText(), name).not.toBe(one.question);
    }
  }
  expect(errors).toEqual([]);
  await page.close();
});

test('a row leads to the timeline with its name searched', async () => {
  const { page } = await openPage(browser, site, `/operators?run=${HEALTHY}`);
  await page.locator('.grid-body [role=row]').first().click();
  const details = page.locator('.row-details');
  expect(await details.locator('.ways b').first().innerText()).toBe('aten::mm');
  expect(await axeViolations(page)).toEqual([]);
  await details.getByText('in the timeline').first().click();
  await settled(page);
  expect(page.url()).toContain('#/timeline?');
  expect(await page.locator('input[type=search]').inputValue()).toBe('aten::mm');
  await page.close();
});

test('steps are brushed, and stay chosen on the next page', async () => {
  const { page, errors } = await openPage(browser, site, `/kernels?run=${RANKS}`);
  const all = await page.locator('main h1').innerText();
  const box = (await page.locator('.brush').boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.3, box.y + 9);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 9, { steps: 3 });
  await page.mouse.up();
  await settled(page);
  expect(page.url()).toContain('steps=2-3');
  expect(await page.locator('main h1').innerText()).not.toBe(all);
  expect(await page.locator('.scope').innerText()).toContain('steps 2–3');
  await page.locator('.steps').press('ArrowUp');
  await settled(page);
  expect(page.url()).toContain('steps=3-4');
  await page.locator('nav').getByText('Operators').click();
  await settled(page);
  expect(page.url()).toMatch(/#\/operators\?.*steps=3-4/);
  expect(errors).toEqual([]);
  await page.close();
});

test('a run is found by a part of its name', async () => {
  const { page, errors } = await openPage(browser, site, `/verdict?run=${RANKS}`);
  await page.locator('#run-button').click();
  await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'combobox');
  await page.keyboard.type('slow_input');
  expect(await axeViolations(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await settled(page);
  expect(await page.title()).toContain('generated_slow_input');
  expect(errors).toEqual([]);
  await page.close();
});

test('commands open a page, an analysis and a step', async () => {
  const { page, errors } = await openPage(browser, site, `/timeline?run=${RANKS}`);
  await page.keyboard.press('/');
  await page.locator('input[type=search]:focus').waitFor();
  await page.keyboard.press('>');
  await page.locator('.palette input:focus').waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await page.keyboard.type('collectives');
  await page.keyboard.press('Enter');
  await settled(page);
  expect(page.url()).toContain('#/distributed?');
  expect(page.url()).toContain('tab=collectives');
  await page.keyboard.press('Control+Shift+P');
  await page.locator('.palette input:focus').waitFor();
  await page.keyboard.type('go to step 3');
  await page.keyboard.press('Enter');
  await settled(page);
  expect(page.url()).toContain('#/timeline?');
  await page.keyboard.press('>');
  await page.locator('.palette input:focus').waitFor();
  await page.keyboard.press('Escape');
  await gone(page, '.palette[open]');
  expect(errors).toEqual([]);
  await page.close();
});

test('a slider asks the replay, and its answer stands in the address', async () => {
  const { page, errors } = await openPage(browser, site, `/verdict?run=${SLOW}&tab=whatif`);
  await page.getByLabel('loading data').focus();
  for (let i = 0; i < 10; ++i) await page.keyboard.press('ArrowLeft');
  await page.locator('.outcome b').waitFor();
  expect(await page.locator('.outcome').innerText()).toMatch(/ms → ≈ [\d.]+ ms per step: saves/);
  expect(decodeURIComponent(page.url())).toContain('scale=data_loading=0.5');
  expect(errors).toEqual([]);
  await page.close();
});

test('a flame graph is walked by keys, and shows the callers of a name', async () => {
  const { page, errors } = await openPage(browser, site, `/source?run=${STACKS}&tab=python_stacks`);
  await page.locator('.frames-box').focus();
  const whole = await page.locator('.flame-words').innerText();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('.flame-words').innerText()).not.toBe(whole);
  await page.getByText('Callers and callees').click();
  await page.locator('.frames-box').first().waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await page.screenshot({ path: `${SHOTS}/callers.png` });
  expect(errors).toEqual([]);
  await page.close();
});

test('what a recording lacks is said on every page', async () => {
  const { page } = await openPage(browser, site, `/operators?run=${NO_GPU}`);
  const strip = page.locator('.strip');
  await strip.waitFor();
  expect(await strip.innerText()).toContain('No device activity is recorded');
  await strip.locator('summary').click();
  expect(await strip.innerText()).toContain('ProfilerActivity.CUDA');
  expect(await axeViolations(page)).toEqual([]);
  await page.close();
});

test('parts of an address that mean nothing are named', async () => {
  const { page } = await openPage(browser, site, `/timeline?run=${RANKS}&pin=r9/d3s1&colour=red`);
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
  const { page } = await openPage(browser, failing, `/operators?run=${sample('generated_exposed_comm', await listRuns(failing))}`);
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

test('a recording that changes on disk is said, and read again', async () => {
  let changed = false;
  const hash = () => (changed ? 'bbbbbbbb' : 'aaaaaaaa');
  const other = { run: 1, name: 'other', state: 'ok', bytes: 1, modified: 1, files: 1, hash: 'cccccccc' };
  const changing = await startSite((url) => (url.pathname === '/api/runs'
    ? JSON.stringify({ version: '0', runs: [other, { ...other, run: 2, name: 'mine', hash: hash() }] }) : undefined));
  const { page } = await openPage(browser, changing, '/operators?run=aaaaaaaa');
  changed = true;
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await page.locator('.banner').waitFor();
  expect(await page.locator('.banner').innerText()).toContain('changed on disk');
  await page.locator('.banner button').click();
  await settled(page);
  expect(await page.locator('.banner').count()).toBe(0);
  expect(await page.title()).toContain('mine');
  changing.stop();
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

const FRAMES = 60;
const FRAME_MS = 3 * 17; // three times the budget, and of the median: machines that test are shared

/** How long frames take while a key is held, ms: the median and the 95th percentile. */
async function heldFrames(page: Page, key: string): Promise<[number, number]> {
  await page.keyboard.down(key);
  const gaps = await page.evaluate((frames) => new Promise<number[]>((done) => {
    const times: number[] = [];
    const tick = (now: number) => {
      times.push(now);
      if (times.length <= frames) requestAnimationFrame(tick);
      else done(times.slice(1).map((time, i) => time - times[i]!));
    };
    requestAnimationFrame(tick);
  }), FRAMES);
  await page.keyboard.up(key);
  gaps.sort((a, b) => a - b);
  return [gaps[FRAMES / 2]!, gaps[Math.floor(FRAMES * 0.95)]!];
}

test('frames follow a held key', async () => {
  const { page } = await openPage(browser, site, `/timeline?run=${STACKS}`);
  const [median, late] = await heldFrames(page, 'w');
  console.log(`frame interval: median ${median.toFixed(1)} ms, 95th percentile ${late.toFixed(1)} ms`);
  expect(median).toBeLessThan(FRAME_MS);
  await page.close();
});

const LANES = 60;

/** Every bucket of every row holds a box: the most that tiles can hold. */
function fullTile(lanes: number[]): Uint8Array {
  const boxes = lanes.length * 512;
  const column = (width: number, values: (i: number) => number, length: number) => {
    const bytes = new Uint8Array(Math.ceil((width * length) / 8) * 8);
    const typed = width === 4 ? new Uint32Array(bytes.buffer) : width === 2 ? new Uint16Array(bytes.buffer) : bytes;
    for (let i = 0; i < length; ++i) typed[i] = values(i);
    return bytes;
  };
  const header = new Uint8Array(new Uint32Array([0x454c4954, 1, lanes.length, boxes]).buffer);
  return Buffer.concat([
    header, column(4, (i) => lanes[i]!, lanes.length), column(4, () => 0, lanes.length), column(4, () => 512, lanes.length),
    column(4, (i) => i, boxes), column(4, (i) => i % 7, boxes), column(4, (i) => 1 + (i % 3), boxes), column(2, (i) => i % 512, boxes),
    column(2, (i) => (i % 512) + 1, boxes), column(1, (i) => (i * 37) % 256, boxes), column(1, (i) => i % 13, boxes), column(1, () => 0, boxes)]);
}

test('frames hold with as many boxes as a screen can show', async () => {
  const lane = (i: number) => ({ lane: i, key: `r0/t${i}`, rank: 0, side: 'host', role: 'thread', name: `thread ${i}`, title: `thread ${i}`, rows: 1, events: 9 });
  const dense = await startSite((url) => {
    if (url.pathname.endsWith('/timeline')) {
      return JSON.stringify({ end: 1e12, names: 7, clock: { aligned: true, error_ns: 0 }, steps: [], counters: [], lanes: Array.from({ length: LANES }, (_, i) => lane(i)) });
    }
    if (url.pathname.endsWith('/tiles')) return fullTile(url.searchParams.get('lanes')!.split(',').map(Number));
    return url.pathname.endsWith('/names/0') ? JSON.stringify(['a', 'b', 'c', 'd', 'e', 'f', 'g']) : undefined;
  });
  const { page, errors } = await openPage(browser, dense, '/timeline?run=0&t=0,900000000000');
  for (const key of ['d', 'w']) {
    const [median, late] = await heldFrames(page, key);
    console.log(`frame interval, full screen, ${key}: median ${median.toFixed(1)} ms, 95th percentile ${late.toFixed(1)} ms`);
    expect(median).toBeLessThan(FRAME_MS);
  }
  expect(errors).toEqual([]);
  dense.stop();
  await page.close();
});
