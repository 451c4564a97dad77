// Measures the served page on one recording: node bench/budgets.mjs PROGRAM TRACE. Prints a table in Markdown.
// "Ready" is when the server has answered the timeline for the first time: the recording is read and its tiles are made.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const [program, trace] = process.argv.slice(2);
if (trace === undefined) {
  console.error('usage: node bench/budgets.mjs PROGRAM TRACE');
  process.exit(2);
}
const BUCKETS = 512;
const LANES = 40;
const TILES = 400;
const FRAMES = 120;
const WARM_EVENTS = 1_750_000; // up to here tables have a budget
const TABLES = ['operators', 'kernels', 'modules', 'idle', 'launches', 'steps', 'copies'];

const quantile = (times, q) => times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * q))];
const ms = (time) => `${time < 10 ? time.toFixed(1) : Math.round(time)} ms`;

const server = spawn(program, ['serve', trace], { stdio: ['ignore', 'pipe', 'inherit'] });
const url = await new Promise((done) => { createInterface(server.stdout).once('line', (line) => done(new URL(line))); });
const headers = { Authorization: `Bearer ${url.hash.replace('#token=', '')}` };
const ask = async (path) => {
  const begin = performance.now();
  const answer = await fetch(new URL(`api/runs/0/${path}`, url), { headers });
  const body = await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${Buffer.from(body)}`);
  return { time: performance.now() - begin, body };
};
const gibOf = (what) => Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 2 ** 20;

const rows = [];
const opened = await ask('timeline');
const timeline = JSON.parse(Buffer.from(opened.body));
const events = timeline.lanes.reduce((sum, lane) => sum + lane.events, 0);
rows.push(['ready after', `${(opened.time / 1000).toFixed(1)} s`, '']);

const tileTimes = [];
let seed = 1;
const random = () => (seed = (seed * 48271) % 0x7fffffff) / 0x7fffffff;
const whole = Math.ceil(Math.log2(timeline.end / BUCKETS));
for (let i = 0; i < TILES; ++i) {
  const level = Math.max(0, whole - Math.floor(random() * 16));
  const tile = Math.floor((random() * timeline.end) / (BUCKETS * 2 ** level));
  const first = Math.floor(random() * Math.max(1, timeline.lanes.length - LANES));
  const lanes = timeline.lanes.slice(first, first + LANES).map((lane) => lane.lane);
  tileTimes.push((await ask(`tiles?level=${level}&tile=${tile}&lanes=${lanes.join(',')}`)).time);
}
rows.push([`a tile of ${Math.min(LANES, timeline.lanes.length)} lanes, ${TILES} at all zooms, 95th percentile`, ms(quantile(tileTimes, 0.95)), '< 50 ms']);
const { names } = JSON.parse(Buffer.from((await ask('search?q=gemm')).body));
rows.push([`a search (${names.length} names), second time`, ms((await ask('search?q=gemm')).time), '']);

const warm = [];
for (const analysis of TABLES) {
  await ask(`show/${analysis}`);
  await ask(`table/${analysis}/0?count=200`);
  for (let i = 0; i < 5; ++i) warm.push((await ask(`table/${analysis}/0?count=200&from=${i}`)).time, (await ask(`show/${analysis}?top=20`)).time);
}
await ask('report');
warm.push((await ask('report')).time);
rows.push([`a table or page when warm, 95th percentile of ${warm.length}`, ms(quantile(warm, 0.95)), events <= WARM_EVENTS ? '< 100 ms' : '']);

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--disable-gpu', '--no-sandbox'] });
const address = `${url.origin}${url.pathname}#/timeline?run=0&${url.hash.slice(1)}`;
const pixels = [];
for (let i = 0; i < 5; ++i) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(() => {
    const look = () => {
      const canvas = document.querySelector('.canvas-box canvas');
      if (canvas?.width > 0) {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, Math.min(canvas.height, 400));
        const colours = new Set(new Uint32Array(data.buffer));
        if (colours.size > 8) { window.firstPixels = performance.now(); return; }
      }
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.goto(address);
  pixels.push(await (await page.waitForFunction(() => window.firstPixels, undefined, { timeout: 120_000 })).jsonValue());
  await page.close();
}
rows.push(['first timeline pixels after navigation, median of 5', ms(quantile(pixels, 0.5)), '< 1,000 ms']);

const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
await page.goto(address);
await page.waitForTimeout(3000);
for (const [key, what] of [['w', 'zooming in'], ['d', 'panning'], ['s', 'zooming out']]) {
  await page.keyboard.down(key);
  const gaps = await page.evaluate((frames) => new Promise((done) => {
    const times = [];
    const tick = (now) => {
      times.push(now);
      if (times.length <= frames) requestAnimationFrame(tick);
      else done(times.slice(1).map((time, at) => time - times[at]));
    };
    requestAnimationFrame(tick);
  }), FRAMES);
  await page.keyboard.up(key);
  rows.push([`frame interval while ${what}, ${FRAMES} frames, median and 95th percentile`,
    `${quantile(gaps, 0.5).toFixed(1)} and ${quantile(gaps, 0.95).toFixed(1)} ms`, '< 17 ms']);
  await page.waitForTimeout(700);
}
await browser.close();
rows.push(['memory of the server, most and now', `${gibOf('VmHWM').toFixed(1)} and ${gibOf('VmRSS').toFixed(1)} GiB`, '']);
server.kill();

console.log(`${events.toLocaleString('en')} events on ${timeline.lanes.length} lanes, ${timeline.names.toLocaleString('en')} names:\n`);
console.log('| what | measured | budget |\n|---|--:|--:|');
for (const row of rows) console.log(`| ${row.join(' | ')} |`);
