// The numbers that the page shows are those that the program prints with `--format json`, in the page's units.
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { number, records, reportNamed, rowsWith, tableNamed } from '../src/data/table.ts';
import type { Report, Reports, Table } from '../src/data/types.ts';
import { PAGES } from '../src/words/pages.ts';
import { columnFormat, formatRange, formatValue } from '../src/words/units.ts';
import { goTo, listRuns, openPage, startBrowser, startSite } from './browser.ts';
import { PROGRAM, SAMPLES } from './program.ts';

const site = await startSite();
const runs = await listRuns(site);
const runOf = (sample: string) => runs.find((one) => one.name.startsWith(sample.split('.')[0]!))!.run;

let browser: Browser;
beforeAll(async () => { browser = await startBrowser(); });
afterAll(async () => {
  await browser.close();
  site.stop();
});

const printed = (...words: string[]): unknown =>
  JSON.parse(execFileSync(PROGRAM, [...words, '--format', 'json'], { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] }).toString());

const ROWS = 6;

interface Seen { title: string; heads: string[]; rows: { words: string; title: string | null }[][] }

/** Titles, heads and the first rows of the tables in view. */
const seenIn = (page: Page, within: string): Promise<Seen[]> => page.locator(`${within} section.table`).evaluateAll((sections, rows) => sections.map((section) => ({
  title: section.querySelector('h2')!.textContent!,
  heads: [...section.querySelectorAll('[role=columnheader] button')].map((head) => head.firstChild!.textContent!),
  rows: [...section.querySelectorAll('.grid-window [role=row]')].slice(0, rows).map((row) => [...row.querySelectorAll('[role=gridcell]')].map((cell) => ({
    words: cell.querySelector('.words')!.textContent!, title: cell.getAttribute('title') }))),
})), ROWS);

/** What a table of the program should look like, in the same columns. Texts are compared whole, as the cell's title has them. */
function expectedOf(table: Table, seen: Seen): Seen['rows'] {
  const columns = seen.heads.map((head) => {
    const index = table.columns.findIndex((column) => column.name.replaceAll('_', ' ') === head);
    expect(index, `${table.title}: ${head}`).toBeGreaterThanOrEqual(0);
    const { unit } = table.columns[index]!;
    return { index, format: columnFormat(table.rows.map((row) => number(row[index])), unit) };
  });
  return table.rows.slice(0, ROWS).map((row) => columns.map(({ index, format }) => {
    const cell = row[index] ?? null;
    return typeof cell === 'string' ? { words: '', title: cell } : { words: format(cell), title: null };
  }));
}

/** A path begins as the server was started. */
const inSamples = (text: string) => text.replace(/^.*examples\/samples\//, '');
/** The title alone of cells that hold a text: the page shortens it. */
const hideTexts = (rows: Seen['rows']) => rows.map((row) => row.map((cell) => (cell.title === null ? cell : { words: '', title: inSamples(cell.title) })));

function expectTables(seen: Seen[], report: Report): number {
  const filled = report.tables.filter((table) => table.rows.length > 0);
  expect(seen.map((one) => one.title).sort()).toEqual(filled.map((table) => table.title).sort());
  let cells = 0;
  for (const table of filled) {
    const one = seen.find(({ title }) => title === table.title)!;
    expect(one.rows.length, table.title).toBe(Math.min(ROWS, table.rows.length));
    expect(hideTexts(one.rows), `${report.report}: ${table.title}`).toEqual(hideTexts(expectedOf(table, one)));
    cells += one.rows.flat().filter((cell) => cell.title === null && cell.words !== '').length;
  }
  return cells;
}

const SOME = ['modules', 'memory', 'source']; // the pages that need stacks and memory
const TABLES: [sample: string, pages: typeof PAGES][] = [
  ['generated_exposed_comm', PAGES], ['transformer_stacks_memory.pt.trace.json.gz', PAGES.filter((page) => SOME.includes(page.id))],
];

test.concurrent.each(TABLES)('%s: each table shows what `stepscope show` prints', async (sample, pages) => {
  const { page } = await openPage(browser, site, `/operators?run=${runOf(sample)}`);
  let cells = 0;
  for (const { id, analyses } of pages) {
    for (const analysis of analyses) {
      await goTo(page, `/${id}?run=${runOf(sample)}&tab=${analysis}`);
      cells += expectTables(await seenIn(page, '#tab-panel'), printed('show', analysis, SAMPLES + sample) as Report);
    }
  }
  expect(cells).toBeGreaterThan(200);
  await page.close();
});

test('the verdict shows what `stepscope report` prints, and a rule what `stepscope explain` prints', async () => {
  const sample = 'generated_slow_input.json.gz';
  const report = reportNamed(printed('report', SAMPLES + sample) as Reports, 'verdict')!;
  const findings = records(tableNamed(report, 'Findings'));
  const [verdict] = rowsWith(report, { headline: '', step: 'ns', steps: 'count' });
  const { page } = await openPage(browser, site, `/verdict?run=${runOf(sample)}`);
  const headline = page.locator('.headline');
  expect((await headline.locator('h1, h1 + p:not(.facts)').allInnerTexts()).join(' ')).toBe(verdict!.headline);
  expect(await headline.locator('.facts').innerText()).toContain(`mean step ${formatValue(number(verdict!.step), 'ns')}`);
  expect(await page.locator('.finding h3').allInnerTexts()).toEqual(findings.map((row) => row.title));
  expect(await page.locator('.finding .saves b').allInnerTexts())
    .toEqual(findings.map((row) => formatRange(number(row.saving_low), number(row.saving_high), 'ns')).filter(Boolean));
  const id = String(findings[0]!.id);
  await page.locator('.finding').first().getByRole('button', { name: 'Show its inputs' }).click();
  await page.locator('.finding section.table').first().waitFor();
  const explained = printed('explain', id, SAMPLES + sample) as Report;
  expect(expectTables(await seenIn(page, '.finding'), { ...explained, tables: explained.tables.filter((table) => table.title !== 'Rule') })).toBeGreaterThan(5);
  await page.close();
});
