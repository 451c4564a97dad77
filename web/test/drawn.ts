// What analyses found, drawn into the timeline: in a browser, with the program's answers.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import type { DrawnPath, Idle, Timeline } from '../src/data/types.ts';
import { SURFACES } from '../src/words/palette.ts';
import { formatValue } from '../src/words/units.ts';
import { axeViolations, gone, listRuns, openPage, settled, startBrowser, startSite } from './browser.ts';

const site = await startSite();
const run = (await listRuns(site)).find((one) => one.name.startsWith('generated_slow_input'))!.run;
let browser: Browser;
beforeAll(async () => { browser = await startBrowser(); });
afterAll(async () => {
  await browser.close();
  site.stop();
});

/** Pixels of the lanes that have a colour, "#RRGGBB". */
const pixels = (page: Page, colour: string) => page.evaluate((wanted) => {
  const canvas = document.querySelector<HTMLCanvasElement>('.canvas-box canvas')!;
  const copy = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height }).getContext('2d', { willReadFrequently: true })!;
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) if (((data[i]! << 16) | (data[i + 1]! << 8) | data[i + 2]!) === wanted) ++count;
  return count;
}, parseInt(colour.slice(1), 16));

test('the critical path and the causes of idle time are drawn in by keys', async () => {
  const { page, errors } = await openPage(browser, site, `/timeline?run=${run}&t=22000000,45000000`);
  const asked = async <T>(address: string): Promise<T> =>
    (await fetch(`${site.origin}api/runs/${run}/${address}`, { headers: { Authorization: `Bearer ${site.fragment.replace('token=', '')}` } })).json() as Promise<T>;
  const words = page.locator('.drawn');
  const line = SURFACES.light.select;
  expect(await words.innerText()).toBe('');
  expect(await pixels(page, line)).toBe(0);
  await page.keyboard.press('x');
  await page.waitForURL(/path=r0\.\d+/);
  await words.locator('p').waitFor();
  await settled(page);
  const step = Number(/path=r0\.(\d+)/.exec(page.url())![1]);
  const path = await asked<DrawnPath>(`path?rank=0&step=${step}`);
  expect(path.time).toBeGreaterThan(1_000_000);
  expect(await words.innerText()).toContain(`Critical path of rank 0, step ${step}: ${formatValue(path.time, 'ns')}`);
  for (const { share, meaning } of path.bound_by) expect(await words.innerText()).toContain(`${formatValue(share, 'share')} ${meaning}`);
  expect(await pixels(page, line)).toBeGreaterThan(100);
  expect(await axeViolations(page)).toEqual([]);
  await page.keyboard.press('x');
  await gone(page, '.drawn p');
  expect(page.url()).not.toContain('path=');
  expect(await pixels(page, line)).toBe(0);
  await page.keyboard.press('i');
  await page.waitForURL(/idle=causes/);
  await words.locator('p').waitFor();
  const idle = await asked<Idle>('idle');
  expect(await words.innerText()).toContain(`Devices idle: ${formatValue(idle.time, 'ns')}`);
  const [from, to] = [22_000_000, 45_000_000];
  const part = idle.stretches.filter((one) => one.start > from && one.end < to && one.host !== null).sort((a, b) => b.end - b.start - a.end + a.start)[0]!;
  const box = (await page.locator('.canvas-box canvas').boundingBox())!;
  const lane = (await asked<Timeline>('timeline')).lanes[idle.devices[part.device]!.lanes[0]!]!;
  const top = Number(await page.locator('.label.lane', { hasText: lane.name }).first().evaluate((label) => label.style.top.replace('px', '')));
  const [x, y] = [box.x + (((part.start + part.end) / 2 - from) / (to - from)) * box.width, box.y + top + 9];
  await page.mouse.move(x, y);
  expect(await page.locator('.tooltip').innerText()).toContain(idle.causes[part.cause]!.meaning);
  await page.mouse.click(x, y);
  await page.waitForURL(new RegExp(`sel=r0\\.${part.host}(&|$)`));
  expect(errors).toEqual([]);
  await page.close();
});

test('what is drawn in stands in the address, and in the table of what is in view', async () => {
  const { page, errors } = await openPage(browser, site, `/timeline?run=${run}&path=r0.2&idle=causes`);
  await page.locator('.drawn p').nth(1).waitFor();
  expect(await page.locator('.drawn').innerText()).toMatch(/^Critical path of rank 0, step 2: [\d.]+ ms · .*\s+Devices idle: [\d.]+ ms · [\d.]+ % input/);
  for (const name of ['Critical path', 'Idle causes']) expect(await page.getByRole('button', { name, exact: true }).getAttribute('aria-pressed')).toBe('true');
  await page.getByRole('button', { name: 'As table' }).click();
  await page.getByRole('columnheader', { name: 'critical path' }).waitFor();
  expect(await axeViolations(page)).toEqual([]);
  expect(errors).toEqual([]);
  await page.close();
});

test('a path that is not there is said', async () => {
  const { page } = await openPage(browser, site, `/timeline?run=${run}&path=r0.999`);
  await page.getByText('Rank 0 has no step 999.').waitFor();
  expect(await page.locator('.drawn').innerText()).toBe('');
  await page.close();
});
