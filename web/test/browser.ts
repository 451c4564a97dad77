// A browser on a page that the stand-in server serves, and what every test watches for.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type Page } from 'playwright-core';
import type { Run } from '../src/data/types.ts';

export const SHOTS = process.env.SHOTS ?? '../out/pages';
const TOKEN = 'mock';
const SAMPLES = new URL('../../examples/samples', import.meta.url).pathname;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface Site { origin: string; fragment: string; stop: () => void }

export const siteAt = (address: URL, stop: () => void): Site => ({ origin: address.origin + address.pathname, fragment: address.hash.slice(1), stop });

/** The real program if STEPSCOPE_PAGE holds the address that it printed, else the stand-in. */
export async function startSite(answer?: (url: URL) => unknown): Promise<Site> {
  const printed = process.env.STEPSCOPE_PAGE;
  if (printed !== undefined && answer === undefined) return siteAt(new URL(printed), () => {});
  const mock = '../mock/serve.mjs';
  const { makeServer } = await import(mock) as { makeServer: (folder: string, token: string, extra: object) => Server };
  const server = makeServer(SAMPLES, TOKEN, { answer });
  await new Promise<void>((done) => { server.listen(0, '127.0.0.1', done); });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}/`, fragment: `token=${TOKEN}`, stop: () => { server.close(); server.closeAllConnections(); } };
}

export const listRuns = async (site: Site): Promise<Run[]> => {
  const answer = await fetch(`${site.origin}api/runs`, { headers: { Authorization: `Bearer ${site.fragment.replace('token=', '')}` } });
  return (await answer.json() as { runs: Run[] }).runs;
};

export const startBrowser = (): Promise<Browser> => {
  mkdirSync(SHOTS, { recursive: true });
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--disable-gpu', '--no-sandbox'] });
};

export interface Watched { page: Page; errors: string[]; foreign: string[] }

/** A new page, and what goes wrong in it. `own`: where requests may go. */
async function watchedPage(browser: Browser, colorScheme: 'light' | 'dark', own: string): Promise<Watched> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme });
  const watched: Watched = { page, errors: [], foreign: [] };
  page.on('console', (message) => { if (message.type() === 'error' || message.type() === 'warning') watched.errors.push(message.text()); });
  page.on('pageerror', (error) => watched.errors.push(String(error.stack)));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(own) && !/^(data|blob):/.test(url)) watched.foreign.push(url);
  });
  return watched;
}

export async function openPage(browser: Browser, site: Site, address: string): Promise<Watched> {
  const watched = await watchedPage(browser, 'light', site.origin);
  await watched.page.goto(`${site.origin}#${address}${address.includes('?') ? '&' : '?'}${site.fragment}`);
  await settled(watched.page);
  return watched;
}

/** Another address in the same page, as a link leads there. */
export async function goTo(page: Page, address: string) {
  await page.evaluate((fragment) => new Promise<void>((done) => {
    if (location.hash === `#${fragment}`) return done();
    addEventListener('hashchange', () => setTimeout(() => requestAnimationFrame(() => done())), { once: true });
    location.hash = fragment;
  }), address);
  await answered(page);
}

/** A report file from the disk. */
export async function openFile(browser: Browser, path: string, address = '', colorScheme: 'light' | 'dark' = 'light'): Promise<Watched> {
  const watched = await watchedPage(browser, colorScheme, `file://${path}`);
  await watched.page.goto(`file://${path}${address === '' ? '' : `#${address}`}`);
  await settled(watched.page);
  return watched;
}

/** Until the page stands and nothing is being read any more. A machine under load may run the script long after it came. */
export async function settled(page: Page) {
  await page.waitForLoadState('networkidle');
  await answered(page);
  await page.waitForTimeout(250);
}

const answered = (page: Page) => page.waitForFunction(
  () => document.querySelector('#page main :is(h1, .failure, .empty)') !== null && document.querySelector('#page .waiting') === null, undefined, { timeout: 60_000 });

/** Until nothing matches any more. */
export const gone = (page: Page, selector: string): Promise<void> => page.locator(selector).first().waitFor({ state: 'detached' });

/** Takes a picture in light and in dark, `name_MODE.png`, and returns what axe finds wrong in either. `dark`: whether it looks at contrasts there. */
export async function violationsInModes(page: Page, name: string, dark = true): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(100); // until the canvas is drawn again
    await page.screenshot({ path: `${SHOTS}/${name}_${colorScheme}.png` });
    if (colorScheme === 'dark' && !dark) continue;
    const rules = colorScheme === 'light' ? undefined : ['color-contrast']; // the rest does not depend on colours
    found.push(...(await axeViolations(page, rules)).map((line) => `${colorScheme}: ${line}`));
  }
  return found;
}

/** What axe finds wrong in what shows, as lines. `rules`: all, if undefined. */
export async function axeViolations(page: Page, rules?: string[]): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async (runOnly) => {
    interface Violation { id: string; nodes: { html: string; failureSummary: string }[] }
    const { axe } = window as unknown as { axe: { run(where: Document, how: object): Promise<{ violations: Violation[] }> } };
    // Axe walks what is hidden as well, and a report's static page is large.
    const hidden = [...document.body.children].filter((one) => one.id === 'static' && !one.checkVisibility());
    for (const one of hidden) one.remove();
    const { violations } = await axe.run(document, { resultTypes: ['violations'], ...(runOnly ? { runOnly } : {}) });
    document.body.append(...hidden);
    return violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} — ${node.failureSummary}`).join(' | ')}`);
  }, rules);
}
