// Every page of recordings that lack something, and of a job of many ranks: sound, and never silent about what is missing.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { PAGES } from '../src/words/pages.ts';
import { goTo, listRuns, openPage, settled, siteAt, startBrowser, violationsInModes } from './browser.ts';
import { serve } from './program.ts';
import { makeStates } from './recordings.ts';

const states = makeStates();
const server = await serve(states.folder);
const site = siteAt(server.address, server.stop);
const runs = await listRuns(site);

let browser: Browser;
beforeAll(async () => { browser = await startBrowser(); });
afterAll(async () => {
  await browser.close();
  site.stop();
  states.remove();
});

const numberOf = (state: string) => runs.find((one) => one.name.startsWith(state))!.run;

/** What every page says of a recording in this state. */
const SAID: [state: string, words: RegExp][] = [
  ['cpu_only', /No device activity is recorded/],
  ['partial', /In 57.7 % of the window nothing at all is recorded/i],
  ['damaged', /the file was cut|53 of 255 launches have no device event/],
  ['one_event', /No device activity is recorded/],
  ['no_event', /no event could be read: the document holds none/],
  ['ranks64', /64 ranks|Rank 1\b/],
];

/** Where axe looks at dark colours, too: the others have no figure or text that neither these nor pages.ts have. */
const IN_DARK = ['cpu_only', 'partial', 'damaged', 'no_event'];
/** All pages of a recording that cannot be read show the same; these stand for them. */
const ALIKE = ['verdict', 'timeline'];
const PATIENCE_MS = 300_000; // many pages in one test

test.concurrent.each(SAID)('%s: every page is sound in light and in dark, and says what is missing', { timeout: PATIENCE_MS }, async (state, words) => {
  const isUnreadable = state === 'no_event';
  const run = numberOf(state);
  const base = numberOf(state === 'cpu_only' ? 'partial' : 'cpu_only');
  const { page, errors, foreign } = await openPage(browser, site, `/verdict?run=${run}`);
  for (const { id } of PAGES) {
    await goTo(page, `/${id}?run=${run}${id === 'diff' ? `&base=${base}` : ''}`);
    if (id === 'timeline' && !isUnreadable && state !== 'ranks64') await page.locator('.strip').waitFor();
    if (!isUnreadable || ALIKE.includes(id)) expect(await violationsInModes(page, `${state}_${id}`, IN_DARK.includes(state)), id).toEqual([]);
    const main = page.locator('main');
    expect(await main.innerText(), id).toMatch(words);
    expect(await main.locator('.failure').count(), id).toBe(isUnreadable ? 1 : 0);
    const shows = await main.locator('[role=grid], canvas, [aria-label="Findings"], h1.absent, .failure').count();
    expect(shows, `${id} is not empty`).toBeGreaterThan(0);
    expect(await main.locator('[role=grid][aria-rowcount="1"]').count(), `${id} has no table without rows`).toBe(0);
  }
  const refused = /the server responded with a status of 422/; // the browser's own line about each question
  expect([errors.filter((line) => !isUnreadable || !refused.test(line)), foreign]).toEqual([[], []]);
  await page.close();
});

test.concurrent.each(SAID.filter(([state]) => state !== 'no_event'))('%s: every analysis answers, or says why it does not', { timeout: PATIENCE_MS }, async (state) => {
  const run = numberOf(state);
  const { page, errors } = await openPage(browser, site, `/operators?run=${run}`);
  for (const { id, analyses } of PAGES) {
    for (const analysis of analyses) {
      await goTo(page, `/${id}?run=${run}&tab=${analysis}`);
      const main = page.locator('main');
      expect(await main.locator('.failure').count(), analysis).toBe(0);
      expect(await main.locator('[role=grid], h1.absent').count(), `${analysis} is not empty`).toBeGreaterThan(0);
      expect(await main.locator('h1').innerText(), analysis).not.toMatch(/undefined|NaN|null|\b0 of 0\b/);
    }
  }
  expect(errors).toEqual([]);
  await page.close();
});

test('a folder without recordings: every page says how to make one', async () => {
  const empty = await serve(states.nothing);
  const { page, errors } = await openPage(browser, siteAt(empty.address, empty.stop), '/verdict');
  expect(await violationsInModes(page, 'nothing')).toEqual([]);
  for (const { id } of PAGES) {
    await goTo(page, `/${id}`);
    expect(await page.locator('main').innerText(), id).toContain('stepscope record');
  }
  await settled(page);
  expect(errors).toEqual([]);
  await page.close();
  empty.stop();
});
