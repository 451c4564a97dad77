// Takes the pictures of docs/screenshots: every page of the given runs, and a contents page.
//   node tools/screenshots.mjs ADDRESS OUT RUN...        ADDRESS: as `stepscope serve` printed it; RUN: how a run's name begins
import { mkdirSync, writeFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [printed, out, ...wanted] = process.argv.slice(2);
const address = new URL(printed);
const token = address.hash.slice(1);
const PAGES = ['verdict', 'timeline', 'operators', 'kernels', 'modules', 'memory', 'distributed', 'data', 'source', 'diff'];

const answer = await fetch(new URL('api/runs', address), { headers: { Authorization: `Bearer ${token.replace('token=', '')}` } });
const { runs } = await answer.json();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--disable-gpu', '--no-sandbox'] });
mkdirSync(out, { recursive: true });
const lines = ['# What the page looks like', '', 'Written by `tools/screenshots.sh`.', ''];
try {
  for (const name of wanted) {
    const run = runs.find((one) => one.name.startsWith(name));
    if (run === undefined) throw new Error(`no run is called ${name}; there are ${runs.map((one) => one.name).join(', ')}`);
    lines.push(`## ${run.name}`, '');
    for (const view of PAGES) {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: view === 'timeline' ? 'dark' : 'light' });
      const base = runs.find((one) => one !== run);
      await page.goto(`${address.origin}${address.pathname}#/${view}?run=${run.run}${view === 'diff' ? `&base=${base.run}` : ''}&${token}`);
      await page.waitForLoadState('networkidle');
      await page.locator('main h1, main canvas').first().waitFor();
      await page.waitForFunction(() => document.querySelector('main .waiting') === null);
      await page.waitForTimeout(800);
      const file = `${name.replace(/[^a-z0-9]+/gi, '_')}_${view}.png`;
      await page.screenshot({ path: `${out}/${file}` });
      await page.close();
      lines.push(`![The page ${view} of ${run.name}](${file})`, '');
    }
  }
} finally {
  await browser.close();
}
writeFileSync(`${out}/README.md`, `${lines.join('\n').trim()}\n`);
