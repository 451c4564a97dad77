// What a person chose on a page is in its address, and a link shows it again.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { listRuns, openPage, settled, startBrowser, startSite } from './browser.ts';

const site = await startSite();
const runs = await listRuns(site);
const sample = (name: string) => runs.find((one) => one.name.startsWith(name))!.run;
const [RANKS, STACKS, DEVICE] = [sample('generated_exposed_comm'), sample('transformer_stacks_memory'), sample('generated_healthy')];

let browser: Browser;
beforeAll(async () => { browser = await startBrowser(); });
afterAll(async () => {
  await browser.close();
  site.stop();
});

/** What is chosen on the page, in words. */
const chosen = (page: Page) => page.evaluate(() => [
  ...[...document.querySelectorAll('main [aria-pressed=true], main [aria-selected=true]')].map((one) => one.textContent),
  ...[...document.querySelectorAll<HTMLSelectElement>('main select')].map((one) => one.value),
  document.querySelector('.row-details')?.textContent,
]);

type Act = (page: Page) => Promise<void>;
const VIEWS: [what: string, address: string, act: Act, part: string][] = [
  ['the quantity of the map', `/distributed?run=${RANKS}`, async (page) => { await page.locator('.figure select').selectOption('communication'); }, 'heat=communication'],
  ['the order of the map', `/distributed?run=${RANKS}`, async (page) => { await page.getByText('Largest first').click(); }, '~largest'],
  ['the width of a flame graph', `/modules?run=${DEVICE}`, async (page) => { await page.locator('.flame select').selectOption({ index: 0 }); }, 'flame='],
  ['a name of a flame graph', `/source?run=${STACKS}&tab=python_stacks`, async (page) => {
    await page.getByText('Callers and callees').click();
    await page.locator('.sandwich select').selectOption({ index: 2 });
  }, '~names~'],
  ['an opened row', `/operators?run=${RANKS}&sort=0:host_self`, async (page) => { await page.locator('.grid-window [role=row]').nth(2).click(); }, 'row=0:'],
];

test.each(VIEWS)('%s survives its link', async (_, address, act, part) => {
  const { page, errors } = await openPage(browser, site, address);
  const before = await chosen(page);
  await act(page);
  await settled(page);
  const after = await chosen(page);
  expect(after).not.toEqual(before);
  const link = page.url();
  expect(decodeURIComponent(link)).toContain(part);
  await page.reload();
  await settled(page);
  expect(page.url()).toBe(link);
  expect(await chosen(page)).toEqual(after);
  expect(errors).toEqual([]);
  await page.close();
});
