// Opens an address that shows the page in a frame, as TensorBoard and notebooks do: node embedded.mjs ADDRESS PICTURE [light|dark].
// Prints as JSON what the frame shows, before and after its link to another page was followed, and what went wrong.
import { chromium } from 'playwright-core';

const [address, picture, colorScheme = 'light'] = process.argv.slice(2);
const LINKS = '#page nav a';
const PATIENCE = 60_000; // ms; only a failure takes so long
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--disable-gpu', '--no-sandbox'] });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme });
  page.setDefaultTimeout(PATIENCE);
  const said = [];
  const requests = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) said.push({ text: message.text(), from: message.location().url });
  });
  page.on('pageerror', (error) => said.push({ text: String(error.stack), from: 'script' }));
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(address);
  const frame = await frameOfPage(page);
  const shown = [await seen(frame)];
  await page.screenshot({ path: `${picture}_first_${colorScheme}.png` });
  if (await frame.locator(LINKS).count() > 0) {
    const [name, drawn] = shown[0].view === 'page-timeline' ? ['Verdict', 'main.page-verdict h1'] : ['Timeline', 'main.page-timeline canvas'];
    await frame.locator(LINKS, { hasText: name }).click();
    await frame.locator(drawn).first().waitFor();
    shown.push(await seen(frame));
    await page.screenshot({ path: `${picture}_next_${colorScheme}.png` });
  }
  console.log(JSON.stringify({ frame: frame.url(), top: page.url(), shown, said, requests }));
} finally {
  await browser.close();
}

/** The frame in which stepscope's page, or a report without scripts, is. */
async function frameOfPage(page) {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await page.waitForTimeout(100)) {
    for (const frame of page.frames()) {
      if (frame !== page.mainFrame() && await frame.locator(`${LINKS}, #static, body:not(:has(#page)) main`).count().catch(() => 0)) return frame;
    }
  }
  throw new Error(`no frame shows the page; there are ${page.frames().map((frame) => frame.url().slice(0, 100)).join(', ')}`);
}

async function seen(frame) {
  const main = frame.locator(await frame.locator(LINKS).count() > 0 ? '#page main' : 'main');
  await frame.waitForFunction(() => document.querySelector('p.waiting') === null);
  await frame.page().waitForTimeout(500);
  return { view: await main.getAttribute('class'), text: await main.innerText(),
    failures: await frame.locator('.failure').count() };
}
