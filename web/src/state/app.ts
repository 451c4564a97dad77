// The state of the page. The address holds all that a view shows; the rest is what was read.
import { computed, effect, signal, untracked } from '@preact/signals';
import { blockIn } from '../data/blocks.ts';
import { EmbeddedSource } from '../data/embedded.ts';
import { HttpSource } from '../data/http.ts';
import type { DataSource, FileFacts } from '../data/source.ts';
import type { Options, Run, Runs, Table } from '../data/types.ts';
import { FIRST_PAGE, PAGES } from '../words/pages.ts';
import { formatAddress, onPage, parseAddress, type Address, type Param } from './link.ts';
import { retryPassing } from './load.ts';
import { keep, kept } from './storage.ts';

const SAID_MS = 4000;
const TOKEN = 'stepscope.token';
const pageIds = PAGES.map((page) => page.id);

export const address = signal<Address>({ page: FIRST_PAGE, params: {} });
export const runs = signal<Runs | null>(null);
/** With which status the program answered the last question; 0 if it did not. */
export const status = signal(200);
export const reachable = computed(() => status.value !== 0 && status.value !== 401);
/** Parts of the address that could not be used, to be said once. */
export const ignored = signal<string[]>([]);
/** An action's result for screen readers and, for a moment, on screen. */
export const said = signal('');
/** `done` says that it is. */
export function copyText(words: string, done: string) {
  navigator.clipboard.writeText(words).then(() => { said.value = done; }, () => { said.value = 'The browser did not allow copying.'; });
}
export const helpOpen = signal(false);
export const paletteOpen = signal(false);
/** The names and answers of all analyses. */
export const analyses = signal<Table | null>(null);

export const param = (name: Param): string | undefined => address.value.params[name];

export const run = computed<Run | null>(() => {
  const all = runs.value?.runs ?? [];
  return runNamed(all, param('run')) ?? all.find((one) => one.state !== 'unreadable') ?? all[0] ?? null;
});
export const baseRun = computed<Run | null>(() => runNamed(runs.value?.runs ?? [], param('base')) ?? null);

export const runKey = (one: Run) => one.hash ?? String(one.run);
function runNamed(all: Run[], key: string | undefined) {
  return key === undefined ? undefined : all.find((one) => one.hash === key || String(one.run) === key);
}

/** Options that restrict every question to the scope of the page. */
export const scope = computed((): Record<string, string> => {
  const steps = param('steps');
  return steps === undefined ? {} : { step: steps };
});

/** A question of a run, as a panel asks it: its name, and how. */
export const questionOf = (of: Run, name: string, options: Options = scope.value) => (
  { of: `show/${of.run}/${of.hash}/${name}/${new URLSearchParams(options)}`, ask: () => source.show(of.run, name, options) });
export const reportOf = (of: Run) => ({ of: `report/${of.run}/${of.hash}/${scope.value.step ?? ''}`, ask: () => source.report(of.run, scope.peek()) });

const ownBlock = blockIn(document);

/** Whether the answers are in the page's own document. */
export const isFile = EmbeddedSource.isIn(ownBlock);
/** What the report file says about itself; null where a program answers. */
export const facts = signal<FileFacts | null>(null);

export const source: DataSource = isFile ? new EmbeddedSource(ownBlock) : new HttpSource({
  get token() { return kept(TOKEN); },
  hashOf: (number) => runs.value?.runs.find((one) => one.run === number)?.hash,
  reached: (now) => { status.value = now; },
});

/** A notebook holds the page as text in a frame (docs/serve.md, "In a notebook"): no address is its own, so none is changed. */
export const inText = location.protocol === 'about:';
/** The view that a file begins with. */
const namedView = () => document.querySelector('meta[name="stepscope-view"]')?.getAttribute('content') ?? '';

function readAddress() {
  const parsed = parseAddress(location.hash || namedView(), pageIds, FIRST_PAGE);
  if (parsed.token !== null) {
    keep(TOKEN, parsed.token);
    history.replaceState(null, '', formatAddress(parsed.address));
  }
  ignored.value = parsed.unknown;
  address.value = parsed.address;
}

/** Goes to an address: a new entry of the history, or in place of this one. */
export function go(to: Address, how: 'push' | 'replace' = 'push') {
  const text = formatAddress(to);
  if (text === formatAddress(address.peek())) return;
  if (inText) { /* the frame's history is the notebook's */ }
  else if (how === 'push') history.pushState(null, '', text);
  else history.replaceState(null, '', text);
  address.value = to;
}

/** Shows a place in the timeline, which otherwise stays as it is or was left. */
export function showInTimeline(params: Partial<Record<Param, string>>) {
  const isThere = address.peek().page === 'timeline';
  if (!isThere) follow(hrefBack('timeline'));
  change({ t: undefined, sel: undefined, area: undefined, area2: undefined, ...params }, isThere ? 'push' : 'replace');
}

/** Goes where a link within the page leads. */
export const follow = (href: string) => go(parseAddress(href, pageIds, FIRST_PAGE).address);

/** In a frame of text, links are relative to the notebook: the browser would leave the page. */
function followLinks(event: MouseEvent) {
  const href = (event.target as Element).closest('a')?.getAttribute('href');
  if (event.defaultPrevented || !href?.startsWith('#/')) return;
  event.preventDefault();
  follow(href);
}

/** Changes parts of this page's address; undefined or "" removes one. */
export function change(params: Partial<Record<Param, string | undefined>>, how: 'push' | 'replace' = 'replace') {
  const all: Record<string, string> = { ...address.peek().params };
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === '') delete all[name];
    else all[name] = value;
  }
  go({ page: address.peek().page, params: all }, how);
}

/** Where each page was left, so that its entry in the list of pages leads back there. */
const left = new Map<string, Record<string, string>>();

/** The address of a page as it was left, if the run is still the same. */
export function hrefBack(page: string): string {
  const params = left.get(page);
  return params === undefined || params.run !== address.value.params.run || page === address.value.page
    ? hrefTo(page) : formatAddress(onPage(address.value, page, { ...params, ...onPage(address.value, page).params }));
}

export const hrefTo = (page: string, params: Partial<Record<Param, string>> = {}) =>
  formatAddress(onPage(address.value, page, params as Record<string, string>));

export const openPage = (page: string, params: Partial<Record<Param, string>> = {}) =>
  go(onPage(address.peek(), page, params as Record<string, string>));

export async function readRuns() {
  facts.value = await source.file();
  runs.value = await source.runs();
  const wanted = param('run');
  if (wanted !== undefined && runNamed(runs.value.runs, wanted) === undefined) {
    ignored.value = [...ignored.value, `run ${wanted}`];
  }
  analyses.value = await source.analyses().then((report) => report.tables[0] ?? null).catch(() => null);
}

/** The run in view is not any more what was read. */
export const changedOnDisk = signal(false);

const AGAIN_MS = 3000; // between two looks at the runs
let looked = -AGAIN_MS;

/** Looks whether the recording in view changed: the browser comes back to the page, or the program answers again. */
async function lookAgain() {
  const before = run.peek();
  if (before === null || performance.now() - looked < AGAIN_MS) return;
  looked = performance.now();
  const next = await source.runs().catch(() => null);
  const now = next?.runs.find((one) => one.hash !== undefined && one.hash === before.hash) ?? next?.runs.find((one) => one.run === before.run);
  if (now === undefined) return;
  if (now.hash !== before.hash || now.state === 'changed') changedOnDisk.value = true;
  else runs.value = next;
}

/** Reads the changed recording, under its number: its hash is another one now. */
export function readAgain() {
  change({ run: String(run.peek()?.run ?? 0) });
  location.reload();
}

/** A program that went away or was started anew is asked until it answers; then, what failed meanwhile. */
function askUntilReached() {
  effect(() => {
    if (reachable.value) {
      untracked(() => {
        retryPassing();
        void lookAgain();
      });
      return;
    }
    const timer = setInterval(() => { source.runs().catch(() => {}); }, AGAIN_MS);
    return () => clearInterval(timer);
  });
}

export function start() {
  readAddress();
  if (inText) addEventListener('click', followLinks);
  addEventListener('popstate', readAddress);
  addEventListener('hashchange', readAddress);
  addEventListener('focus', () => { void lookAgain(); });
  askUntilReached();
  effect(() => {
    if (said.value === '') return;
    const timer = setTimeout(() => { said.value = ''; }, SAID_MS);
    return () => clearTimeout(timer);
  });
  effect(() => { left.set(address.value.page, address.value.params); });
  effect(() => {
    const page = PAGES.find((one) => one.id === address.value.page)!;
    document.title = `${page.name} · ${run.value?.name ?? 'stepscope'}`;
  });
}
