// The page as text in a frame, as a notebook holds it: its links stay in the page, and the notebook's address and history are left alone.
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { startBrowser, startSite } from './browser.ts';

const site = await startSite();
const part = (name: string) => readFileSync(new URL(`../bundle/${name}`, import.meta.url), 'utf8');
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
const file = `<!doctype html><html lang="en"><head><meta name="stepscope-view" content="#/kernels"><style>${part('app.css')}</style></head>
  <body><div id="page"></div><script type="module">${part('app.js')}</script></body></html>`;
const notebook = `<iframe sandbox="allow-scripts" width="1200" height="700" srcdoc="${escaped(file)}"></iframe>`;

/** The notebook; it passes on what the frame, which has no origin, asks. */
const server = createServer((request, response) => {
  const send = (type: string, body: string | Uint8Array) =>
    response.writeHead(200, { 'Content-Type': type, 'Access-Control-Allow-Origin': '*' }).end(body);
  if (request.url === '/') return void send('text/html; charset=utf-8', notebook);
  void fetch(site.origin + request.url!.slice(1), { headers: { Authorization: `Bearer ${site.fragment.replace('token=', '')}` } })
    .then(async (answer) => send(answer.headers.get('Content-Type') ?? '', new Uint8Array(await answer.arrayBuffer())));
});

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
});
afterAll(async () => {
  await browser.close();
  server.close();
  site.stop();
});

test('the file names the view, and links stay in the frame', async () => {
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const errors: string[] = [];
  page.on('console', (message) => { if (message.type() === 'error' && !message.location().url.endsWith('favicon.ico')) errors.push(message.text()); });
  page.on('pageerror', (error) => errors.push(String(error.stack)));
  await page.goto(address);
  const frame = page.frames()[1]!;
  await frame.locator('main.page-kernels h1').waitFor();
  const entries = await page.evaluate(() => history.length);
  await frame.locator('nav a', { hasText: 'Timeline' }).click();
  await frame.locator('main.page-timeline canvas').first().waitFor();
  await page.waitForLoadState('networkidle'); // a page that is busy takes the two keys as too far apart
  await page.waitForTimeout(500);
  await page.keyboard.press('g');
  await page.keyboard.press('v');
  await frame.locator('main.page-verdict h1').waitFor();
  expect(frame.url()).toBe('about:srcdoc');
  expect(page.url()).toBe(address);
  expect(await page.evaluate(() => history.length)).toBe(entries);
  expect(errors).toEqual([]);
  await page.close();
});
