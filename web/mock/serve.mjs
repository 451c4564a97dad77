// Serves the page without the program's own server: the same addresses, answered by running the program and by
// reading Kineto JSON here. For tests and for work on the page. `node mock/serve.mjs [--vite] [--port N] DIR`.
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { areaOf, countersOf, eventOf, searchIn, tileOf } from './answers.mjs';
import { drawnIn } from './drawn.mjs';
import { filesOf, readRun } from './kineto.mjs';

const PROGRAM = process.env.STEPSCOPE ?? 'stepscope';
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
  + "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
const TYPES = { html: 'text/html; charset=utf-8', js: 'text/javascript', css: 'text/css' };
const here = fileURLToPath(new URL('..', import.meta.url));

class Refused extends Error {
  constructor(status, message, remedy = '') { super(message); Object.assign(this, { status, remedy }); }
}

function findRuns(folder) {
  return readdirSync(folder).sort().map((name) => join(folder, name))
    .filter((path) => statSync(path).isDirectory() || /(?<!truth)\.json(\.gz)?$/.test(path))
    .filter((path) => filesOf(path).length > 0)
    .map((path, run) => ({
      run, path, name: basename(path).replace(/(\.pt\.trace)?\.json(\.gz)?$/, ''), state: 'ok',
      bytes: filesOf(path).reduce((sum, file) => sum + statSync(file).size, 0),
      modified: Math.floor(statSync(path).mtimeMs / 1000), files: filesOf(path).length, hash: (0xa0000000 + run * 4097).toString(16),
    }));
}

function program(...args) {
  return new Promise((resolve, reject) => {
    execFile(PROGRAM, [...args, '--format', 'json'], { maxBuffer: 1 << 28 }, (error, out, err) => {
      if (error === null) resolve(out);
      else reject(new Refused(400, err.replace(/^stepscope: /, '').trim() || String(error)));
    });
  });
}

function optionsOf(params) {
  return [...params].filter(([name]) => name !== 'hash').flatMap(([name, value]) => (value === '' ? [`--${name}`] : [`--${name}`, value]));
}

const numbers = (text) => (text ?? '').split(',').filter(Boolean).map(Number);

export function makeServer(folder, token, extra = {}) {
  const runs = findRuns(folder);
  const read = new Map();
  const answers = new Map();
  const kept = (key, make) => answers.get(key) ?? (answers.set(key, make()), answers.get(key));
  const pathOf = (number) => runs[number]?.path ?? (() => { throw new Refused(404, `There is no run ${number}.`); })();
  const dataOf = (number) => read.get(number) ?? (read.set(number, readRun(pathOf(number))), read.get(number));

  async function answer(url) {
    const [api, list, number, what, name] = url.pathname.split('/').filter(Boolean);
    const params = url.searchParams;
    if (api !== 'api') throw new Refused(404, 'There is no such address.');
    if (list === 'source') throw new Refused(404, 'No source is served.', 'Start with --source-root DIR.');
    if (list === 'analyses') return kept('list', () => program('list'));
    if (list !== 'runs') throw new Refused(404, 'There is no such address.');
    if (number === undefined) return JSON.stringify({ version: '0.1.0', runs: runs.map(({ path, ...run }) => run) });
    const run = Number(number);
    const path = pathOf(run);
    const options = optionsOf(params);
    switch (what) {
      case 'report': return kept(url.href, () => program('report', ...options, path));
      case 'show': return kept(url.href, () => program('show', name, ...options, path));
      case 'explain': return kept(url.href, () => program('explain', name, ...options, path));
      case 'diff': return kept(url.href, () => program('diff', pathOf(Number(params.get('base'))), path));
    }
    const data = dataOf(run);
    switch (what) {
      case 'timeline': return JSON.stringify({
        end: data.end, names: data.names.length, clock: { aligned: true, error_ns: 900, own: [] },
        ranks: [...new Set(data.lanes.map((lane) => lane.rank))].map((rank) => ({ rank, begin: 0, rate: 1 })), steps: data.steps, more_steps: 0, more_lanes: 0,
        lanes: data.lanes.map(({ list, ...lane }) => ({ ...lane, hidden: 0 })), counters: data.counters.map(({ lanes, ...counter }) => counter),
      });
      case 'names': return JSON.stringify(data.names.slice(Number(name) * 4096, (Number(name) + 1) * 4096));
      case 'tiles': return tileOf(data, Number(params.get('level')), Number(params.get('tile')), numbers(params.get('lanes')));
      case 'counters': return countersOf(data, Number(params.get('level')), Number(params.get('tile')), numbers(params.get('counters')));
      case 'search': return JSON.stringify(searchIn(data, params));
      case 'event': return JSON.stringify(eventOf(data, Number(params.get('rank')), Number(params.get('id'))) ?? (() => { throw new Refused(404, 'No event has this id.'); })());
      case 'path': case 'idle': return JSON.stringify(await drawnIn(data, PROGRAM, path, what, params));
      case 'area': return JSON.stringify(areaOf(data, Number(params.get('from')), Number(params.get('to')), numbers(params.get('lanes'))));
      default: throw new Refused(404, 'There is no such address.');
    }
  }

  async function api(url, request, response) {
    try {
      if (request.headers.authorization !== `Bearer ${token}`) throw new Refused(401, 'The token is missing.');
      const body = await (extra.answer?.(url) ?? answer(url));
      response.writeHead(200, { 'Content-Type': typeof body === 'string' ? 'application/json' : 'application/octet-stream' }).end(body);
    } catch (error) {
      response.writeHead(error.status ?? 500, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ error: error.message, remedy: error.remedy ?? '' }));
    }
  }

  function asset(url, response) {
    const name = url.pathname === '/' ? 'index.html' : /^\/assets\/(app\.(?:js|css))$/.exec(url.pathname)?.[1];
    if (name === undefined) return response.writeHead(404).end();
    response.writeHead(200, { 'Content-Type': TYPES[name.split('.')[1]], 'Content-Security-Policy': CSP, 'Cache-Control': 'no-cache' })
      .end(readFileSync(join(extra.bundle ?? join(here, 'bundle'), name)));
  }

  return createServer((request, response) => {
    const url = new URL(request.url, 'http://localhost');
    if (url.pathname.startsWith('/api/')) api(url, request, response);
    else if (extra.middleware) extra.middleware(request, response);
    else asset(url, response);
  });
}

async function main(args) {
  const port = args.includes('--port') ? Number(args[args.indexOf('--port') + 1]) : 8700;
  const folder = args.at(-1);
  let extra = {};
  if (args.includes('--vite')) {
    const { createServer: createVite } = await import('vite');
    const vite = await createVite({ root: here, server: { middlewareMode: true } });
    extra = { middleware: vite.middlewares };
  }
  makeServer(folder, 'mock', extra).listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/#token=mock`));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
