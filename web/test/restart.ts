// A program that ends and is started again at the same address: the page says so, and goes on by itself.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { axeViolations, gone, openPage, settled, siteAt, startBrowser } from './browser.ts';
import { SAMPLES } from './program.ts';

const mock = '../mock/serve.mjs';
const { makeServer } = await import(mock) as { makeServer: (folder: string, token: string) => Server };

let browser: Browser;
beforeAll(async () => { browser = await startBrowser(); });
afterAll(async () => { await browser.close(); });

async function start(token: string, port = 0): Promise<{ port: number; stop: () => Promise<void> }> {
  const server = makeServer(SAMPLES, token);
  await new Promise<void>((done) => { server.listen(port, '127.0.0.1', done); });
  const stop = () => new Promise<void>((done) => { server.close(() => done()); server.closeAllConnections(); });
  return { port: (server.address() as AddressInfo).port, stop };
}

test('a restarted program is noticed without a click, and what failed meanwhile is asked again', async () => {
  const first = await start('one');
  const site = siteAt(new URL(`http://127.0.0.1:${first.port}/#token=one`), () => {});
  const { page } = await openPage(browser, site, '/operators');
  await first.stop();
  await page.locator('nav a', { hasText: 'Kernels' }).click();
  await page.locator('.failure').first().waitFor();
  await page.locator('.banner', { hasText: 'The program does not answer.' }).waitFor();
  expect(await axeViolations(page)).toEqual([]);
  const second = await start('one', first.port);
  await gone(page, '.banner[role=alert]');
  await gone(page, '.failure');
  await settled(page);
  expect(await page.locator('main h1').count()).toBe(1);
  await second.stop();
  await page.close();
});

test('after a restart with another token, the page says what to open, and goes on once it is known', async () => {
  const first = await start('one');
  const origin = `http://127.0.0.1:${first.port}/`;
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${origin}#/timeline?token=one`);
  await settled(page);
  await first.stop();
  const second = await start('two', first.port);
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await page.locator('.banner', { hasText: 'started anew, with another token' }).waitFor();
  const tab = await context.newPage();
  await tab.goto(`${origin}#token=two`);
  await gone(page, '.banner[role=alert]');
  await second.stop();
  await context.close();
});
