// Report files: the same answers as from the server, and the same page without one. `npm run pages`; STEPSCOPE names the program.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { EmbeddedSource } from '../src/data/embedded.ts';
import { records, reportNamed, tableNamed } from '../src/data/table.ts';
import type { EventDetails, Timeline } from '../src/data/types.ts';
import { BUCKETS } from '../src/data/tile.ts';
import { wholeLevel } from '../src/timeline/view.ts';
import { PAGES } from '../src/words/pages.ts';
import { axeViolations, settled, SHOTS, startBrowser } from './browser.ts';
import { blocksOf, removeFiles, SAMPLES, served, writeReport } from './program.ts';

const SLOW = `${SAMPLES}generated_slow_input.json.gz`;
const RANKS = `${SAMPLES}generated_exposed_comm`;
const STACKS = `${SAMPLES}transformer_stacks_memory.pt.trace.json.gz`;

afterAll(removeFiles);

const source = (path: string) => new EmbeddedSource(blocksOf(path));

/** Some tiles of every level: the first, the last and one between. */
function tilesOf({ end }: Timeline): [level: number, tile: number][] {
  const out: [number, number][] = [];
  for (let level = 0; level <= wholeLevel(end) + 1; ++level) {
    const last = Math.ceil(end / (BUCKETS * 2 ** level)) - 1;
    for (const tile of new Set([0, Math.floor(last * 0.4), last])) out.push([level, tile]);
  }
  return out;
}

describe.each([['slow', SLOW], ['ranks', RANKS], ['stacks', STACKS]])('a report file of %s', (name, trace) => {
  const file = source(writeReport(name, trace));
  let server: Awaited<ReturnType<typeof served>>;
  let timeline: Timeline;
  beforeAll(async () => {
    server = await served(trace);
    timeline = await server.source.timeline(0);
  });
  afterAll(() => server.stop());

  test('has the reports of the server', async () => {
    const report = await server.source.report(0, {});
    expect(await file.report(0, {})).toEqual(report);
    expect(await file.analyses()).toEqual(await server.source.analyses());
    for (const analysis of new Set(['findings', ...PAGES.flatMap((page) => page.analyses)])) {
      expect(await file.show(0, analysis, {}), analysis).toEqual(await server.source.show(0, analysis, {}));
    }
    const rules = new Set(records(tableNamed(reportNamed(report, 'verdict'), 'Findings')).map((row) => String(row.id)));
    expect(rules.size).toBeGreaterThan(0);
    for (const rule of rules) expect(await file.explain(0, rule, {})).toEqual(await server.source.explain(0, rule, {}));
    const [own, its] = [(await file.runs()).runs[0]!, (await server.source.runs()).runs[0]!];
    expect({ ...own, hash: '' }).toEqual({ ...its, hash: '' });
  });

  test('has the timeline of the server, and its tiles of every level', async () => {
    expect(await file.timeline()).toEqual(timeline);
    for (let block = 0; block * 4096 < timeline.names; ++block) expect(await file.names(0, block)).toEqual(await server.source.names(0, block));
    const lanes = timeline.lanes.map((lane) => lane.lane).filter((lane) => lane % 3 !== 1 || timeline.lanes.length < 3);
    let boxes = 0;
    for (const [level, tile] of tilesOf(timeline)) {
      const expected = await server.source.tile(0, level, tile, lanes);
      boxes += expected.boxes;
      expect(await file.tile(0, level, tile, lanes), `level ${level}, tile ${tile}`).toEqual(expected);
    }
    expect(boxes).toBeGreaterThan(1000);
    const whole = wholeLevel(timeline.end);
    const counters = timeline.counters.map((one) => one.counter);
    for (const level of [whole, whole - 1]) expect(await file.counters(0, level, 0, counters)).toEqual(await server.source.counters(0, level, 0, counters));
  });

  test('finds what the server finds', async () => {
    const middle = Math.floor(timeline.end / 2);
    for (const text of ['', 'a', 'aten::', 'GEMM', 'kind:kernel', 'kind:kernel kind:op dur>5us', 'dur<2.5us', 'rank:1 nccl', 'no such name']) {
      for (const hit of [undefined, { after: middle, lane: 0, row: 0 }, { before: middle, lane: 1, row: 0 }]) {
        const expected = await server.source.search(0, text, hit);
        expect(await file.search(0, text, hit), `${text} ${JSON.stringify(hit)}`).toEqual(expected);
      }
    }
    await expect(file.search(0, 'kind:nonsense')).rejects.toThrow('No event is of that kind');
  });

  test('knows the events as the server does', async () => {
    const { names } = await server.source.search(0, '');
    const whole = await server.source.tile(0, wholeLevel(timeline.end) - 3, 1, timeline.lanes.map((lane) => lane.lane));
    expect(names.length).toBeGreaterThan(0);
    const counted = { whole: 0, brief: 0 };
    for (let box = 0; box < whole.boxes; box += Math.ceil(whole.boxes / 150)) {
      const row = Array.from(whole.first).findIndex((first) => first > box) - 1;
      const { rank } = timeline.lanes[whole.lane[row]!]!;
      const expected = await server.source.event(0, rank, whole.id[box]!);
      const { lacks, ...own } = await file.event(0, rank, whole.id[box]!);
      ++counted[lacks === undefined ? 'whole' : 'brief'];
      expect(own).toEqual(lacks === undefined ? expected : withoutArgs(expected));
    }
    expect(counted.whole).toBeGreaterThan(0);
  });
});

function withoutArgs({ more_links: _, ...details }: EventDetails): EventDetails {
  return { ...details, args: [], stack: [], links: [] };
}
