// Report files: the same answers as from the server, and the same page without one. `npm run pages`; STEPSCOPE names the program.
import { statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { EmbeddedSource } from '../src/data/embedded.ts';
import { records, reportNamed, tableNamed } from '../src/data/table.ts';
import type { EventDetails, Timeline } from '../src/data/types.ts';
import { Absent } from '../src/data/source.ts';
import { BUCKETS } from '../src/data/tile.ts';
import { wholeLevel } from '../src/timeline/view.ts';
import { PAGES } from '../src/words/pages.ts';
import { axeViolations, openFile, settled, SHOTS, startBrowser, violationsInModes } from './browser.ts';
import { blocksOf, removeFiles, SAMPLES, served, writeReport } from './program.ts';

const SLOW = `${SAMPLES}generated_slow_input.json.gz`;
const RANKS = `${SAMPLES}generated_exposed_comm`;
const STACKS = `${SAMPLES}transformer_stacks_memory.pt.trace.json.gz`;

afterAll(removeFiles);

const source = (path: string) => new EmbeddedSource(blocksOf(path));

/** Some tiles of every level: the first, the last and one between. */
function tilesOf({ end }: Timeline): [level: number, tile: number][] {
  const out: [number, number][] = [];
  for (let level = 0; level <= wholeLevel(end) + 1; ++level) {
    const last = Math.ceil(end / (BUCKETS * 2 ** level)) - 1;
    for (const tile of new Set([0, Math.floor(last * 0.4), last])) out.push([level, tile]);
  }
  return out;
}

const FILES = new Map([['slow', SLOW], ['ranks', RANKS], ['stacks', STACKS]].map(([name, trace]) => [name!, writeReport(name!, trace!)]));

describe.each([['slow', SLOW], ['ranks', RANKS], ['stacks', STACKS]])('a report file of %s', (name, trace) => {
  const file = source(FILES.get(name)!);
  let server: Awaited<ReturnType<typeof served>>;
  let timeline: Timeline;
  beforeAll(async () => {
    server = await served(trace);
    timeline = await server.source.timeline(0);
  });
  afterAll(() => server.stop());

  test('has the reports of the server', async () => {
    const report = await server.source.report(0, {});
    expect(await file.report(0, {})).toEqual(report);
    expect(await file.analyses()).toEqual(await server.source.analyses());
    for (const analysis of new Set(['findings', ...PAGES.flatMap((page) => page.analyses)])) {
      expect(await file.show(0, analysis, {}), analysis).toEqual(await server.source.show(0, analysis, {}));
    }
    const rules = new Set(records(tableNamed(reportNamed(report, 'verdict'), 'Findings')).map((row) => String(row.id)));
    expect(rules.size).toBeGreaterThan(0);
    for (const rule of rules) expect(await file.explain(0, rule, {})).toEqual(await server.source.explain(0, rule, {}));
    const [own, its] = [(await file.runs()).runs[0]!, (await server.source.runs()).runs[0]!];
    expect({ ...own, hash: '' }).toEqual({ ...its, hash: '' });
  });

  test('has the timeline of the server, and its tiles of every level', async () => {
    expect(await file.timeline()).toEqual(timeline);
    for (let block = 0; block * 4096 < timeline.names; ++block) expect(await file.names(0, block)).toEqual(await server.source.names(0, block));
    const lanes = timeline.lanes.map((lane) => lane.lane).filter((lane) => lane % 3 !== 1 || timeline.lanes.length < 3);
    let boxes = 0;
    for (const [level, tile] of tilesOf(timeline)) {
      const expected = await server.source.tile(0, level, tile, lanes);
      boxes += expected.boxes;
      expect(await file.tile(0, level, tile, lanes), `level ${level}, tile ${tile}`).toEqual(expected);
    }
    expect(boxes).toBeGreaterThan(1000);
    const whole = wholeLevel(timeline.end);
    const counters = timeline.counters.map((one) => one.counter);
    for (const level of [whole, whole - 1]) expect(await file.counters(0, level, 0, counters)).toEqual(await server.source.counters(0, level, 0, counters));
  });

  test('finds what the server finds', async () => {
    const middle = Math.floor(timeline.end / 2);
    for (const text of ['', 'a', 'aten::', 'GEMM', 'kind:kernel', 'kind:kernel kind:op dur>5us', 'dur<2.5us', 'rank:1 nccl', 'no such name']) {
      for (const hit of [undefined, { after: middle, lane: 0, row: 0 }, { before: middle, lane: 1, row: 0 }]) {
        const expected = await server.source.search(0, text, hit);
        expect(await file.search(0, text, hit), `${text} ${JSON.stringify(hit)}`).toEqual(expected);
      }
    }
    await expect(file.search(0, 'kind:nonsense')).rejects.toThrow('No event is of that kind');
  });

  test('holds what analyses found', async () => {
    const idle = await server.source.idle(0, {});
    expect(await file.idle()).toEqual(idle);
    expect(idle.stretches.length).toBe(name === 'stacks' ? 0 : Math.min(2000, idle.causes.reduce((sum, one) => sum + one.pieces, 0)));
    const { rank, number } = timeline.steps[0]!;
    const options = { rank: String(rank), step: String(number) };
    expect(await file.path(0, options)).toEqual(await server.source.path(0, options));
    await expect(file.path(0, { rank: '99' })).rejects.toThrow('This file holds no critical path of this step.');
  });

  test('knows the events as the server does', async () => {
    const { names } = await server.source.search(0, '');
    const whole = await server.source.tile(0, wholeLevel(timeline.end) - 3, 1, timeline.lanes.map((lane) => lane.lane));
    expect(names.length).toBeGreaterThan(0);
    const counted = { whole: 0, brief: 0 };
    for (let box = 0; box < whole.boxes; box += Math.ceil(whole.boxes / 150)) {
      const row = Array.from(whole.first).findIndex((first) => first > box) - 1;
      const { rank } = timeline.lanes[whole.lane[row]!]!;
      const expected = await server.source.event(0, rank, whole.id[box]!);
      const { lacks, ...own } = await file.event(0, rank, whole.id[box]!);
      ++counted[lacks === undefined ? 'whole' : 'brief'];
      expect(own).toEqual(lacks === undefined ? expected : withoutArgs(expected));
    }
    expect(counted.whole).toBeGreaterThan(0);
  });
});

function withoutArgs({ more_links: _, ...details }: EventDetails): EventDetails {
  return { ...details, args: [], stack: [], links: [] };
}

describe('a report file that is too small for all events', () => {
  const MAX = statSync(FILES.get('stacks')!).size - blocksOf(FILES.get('stacks')!)('drawn')!.length - 90_000; // paths make room for events
  const path = writeReport('small', STACKS, '--max-size', `${MAX}`);
  const file = source(path);
  let server: Awaited<ReturnType<typeof served>>;
  beforeAll(async () => { server = await served(STACKS); });
  afterAll(() => server.stop());

  test('keeps its size, says where it is coarse, and answers what it has as the server does', async () => {
    expect(statSync(path).size).toBeLessThanOrEqual(MAX);
    const facts = await file.file();
    const timeline = await file.timeline();
    expect(facts.exact!.length).toBeGreaterThan(0);
    expect(facts.exact!.reduce((sum, [from, to]) => sum + to - from, 0)).toBeLessThan(timeline.end);
    expect(facts.left_out.join()).toContain('coarse tiles');
    const lanes = timeline.lanes.map((lane) => lane.lane);
    let absent = 0;
    let fine = 0;
    for (const [level, tile] of [...tilesOf(timeline), [wholeLevel(timeline.end), 0] as [number, number]]) {
      const expected = await server.source.tile(0, level, tile, lanes);
      const own = await file.tile(0, level, tile, lanes).catch((error: unknown) => error);
      if (own instanceof Absent) ++absent;
      else {
        expect(own, `level ${level}, tile ${tile}`).toEqual(expected);
        if (level < facts.coarse![0]) ++fine;
      }
    }
    expect(absent).toBeGreaterThan(0);
    expect(fine).toBeGreaterThan(0);
    expect(await file.tile(0, wholeLevel(timeline.end), 0, lanes)).toEqual(await server.source.tile(0, wholeLevel(timeline.end), 0, lanes));
  });

  test('draws the coarse tiles where it has no finer ones, and says so', async () => {
    const { end } = await file.timeline();
    const [from] = (await file.file()).exact![0]!;
    const coarse = from > end / 2 ? [0, end / 100] : [end - end / 100, end];
    const { page, errors, foreign } = await openFile(browser, path, `/timeline?t=${coarse.map(Math.round).join(',')}`);
    expect(await page.locator('.left-out').innerText()).toContain('elsewhere, coarse data');
    expect(await page.locator('.failure').count()).toBe(0);
    await page.screenshot({ path: `${SHOTS}/report_coarse.png` });
    expect([errors, foreign]).toEqual([[], []]);
    await page.close();
  });
});

test('what a file does not hold is refused, with the remedy', async () => {
  const file = source(FILES.get('slow')!);
  await expect(file.area()).rejects.toMatchObject({ message: 'This file holds no tables about areas of time.', remedy: expect.stringContaining('stepscope serve') as string });
  await expect(file.report(0, { step: '2' })).rejects.toThrow('for all steps only');
  await expect(file.show(0, 'no_such', {})).rejects.toThrow('holds no answer of no_such');
  await expect(file.diff()).rejects.toThrow('one run');
  const steps = source(writeReport('step', SLOW, '--step', '2-3'));
  expect((await steps.report(0, {})).reports).toEqual((await steps.report(0, { step: '2-3' })).reports);
  await expect(steps.report(0, { step: '2' })).rejects.toThrow('for step 2-3 only');
});

test('what is redacted is in no text of the file', async () => {
  const read = blocksOf(writeReport('redacted', STACKS, '--redact', 'paths,hosts,args'));
  const file = new EmbeddedSource(read);
  const timeline = await file.timeline();
  const names = (await Promise.all(Array.from({ length: Math.ceil(timeline.names / 4096) }, (_, block) => file.names(0, block)))).flat();
  const open = source(FILES.get('stacks')!);
  expect((await open.names(0, 0)).some((name) => name.includes('/'))).toBe(true);
  expect(names.filter((name) => /\w\/\w.*\.py/.test(name))).toEqual([]);
  expect(JSON.stringify([await file.runs(), await file.report(0, {}), await file.file()])).not.toMatch(/\/\w+\/[\w/]*\.(py|json)/);
});

let browser: Browser;
beforeAll(async () => { browser = await startBrowser(); });
afterAll(() => browser.close());

type View = [view: string, file: string, address: string];
const VIEWS: View[] = [
  ...[...FILES.keys()].flatMap((name): View[] => [['verdict', name, ''], ['timeline', name, '/timeline']]),
  ...PAGES.filter((page) => page.id !== 'verdict' && page.id !== 'timeline').map((page): View => [page.id, 'ranks', `/${page.id}`]),
  ['event', 'slow', '/timeline?t=22000000,45000000&sel=r0.5'], ['search', 'ranks', '/timeline?q=nccl'], ['area', 'ranks', '/timeline?area=2000000,6000000'],
  ['areas', 'ranks', '/timeline?area=2000000,6000000&area2=6000000,9000000'],
];

test.concurrent.each(VIEWS)('the page %s of the file of %s is sound in light and in dark', async (view, name, address) => {
  const { page, errors, foreign } = await openFile(browser, FILES.get(name)!, address);
  expect(await violationsInModes(page, `report_${view}_${name}`)).toEqual([]);
  expect(errors).toEqual([]);
  expect(foreign).toEqual([]);
  expect(await page.locator('.failure').count()).toBe(view.startsWith('area') ? 1 : 0);
  expect(await page.locator('.failure button').count()).toBe(0);
  expect(await page.locator('#static').isVisible()).toBe(false);
  await page.close();
});

test('evidence of the verdict leads to its table, in the file', async () => {
  const { page, foreign } = await openFile(browser, FILES.get('slow')!);
  await page.locator('.proofs a', { hasText: 'idle' }).first().click();
  await settled(page);
  expect(page.url()).toMatch(/slow\.html#\/kernels\?tab=idle$/);
  expect(await page.locator('[role=grid]').count()).toBeGreaterThan(0);
  expect(foreign).toEqual([]);
  await page.close();
});

test('a link into a file restores the view', async () => {
  const { page } = await openFile(browser, FILES.get('ranks')!, '/timeline?sel=r0.5');
  for (let times = 0; times < 3; ++times) await page.getByRole('button', { name: 'Zoom in (W)' }).click();
  await page.waitForURL(/[?&]t=-?\d+,\d+/, { timeout: 10_000 });
  await page.waitForTimeout(600); // the view is still, and its link is written
  await settled(page);
  const link = page.url();
  expect(link).toMatch(/[?&]sel=r0\.5(&|$)/);
  expect(link).toMatch(/[?&]t=-?\d+,\d+(&|$)/);
  const words = await page.locator('.drawer').innerText();
  const again = await openFile(browser, FILES.get('ranks')!, link.slice(link.indexOf('#') + 1));
  expect(again.page.url()).toBe(link);
  expect(await again.page.locator('.drawer').innerText()).toBe(words);
  await again.page.close();
  await page.close();
});

test('the static page is what paper shows, and what shows without scripts', async () => {
  const { page } = await openFile(browser, FILES.get('slow')!, '/timeline', 'dark');
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  expect(await page.locator('#static h1').isVisible()).toBe(true);
  expect(await page.locator('.topbar').isVisible()).toBe(false);
  await page.screenshot({ path: `${SHOTS}/report_paper.png` });
  expect(await shades(page)).toEqual(['rgb(255, 255, 255)', 'rgb(22, 25, 29)']);
  expect(await axeViolations(page)).toEqual([]);
  await page.close();
  const context = await browser.newContext({ javaScriptEnabled: false });
  const plain = await context.newPage();
  await plain.goto(`file://${FILES.get('slow')!}`);
  expect(await plain.locator('#static h1').isVisible()).toBe(true);
  expect(await plain.locator('#page').innerText()).toBe('');
  await context.close();
});

const shades = (page: Page) => page.evaluate(() => {
  const style = getComputedStyle(document.body);
  return [style.backgroundColor, style.color];
});
