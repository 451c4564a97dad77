// Answers that are in the page's own document: a report file (docs/serve.md).
import { Blocks, type ReadText } from './blocks.ts';
import { decodeEvents, firstFrom, tileOf, type Events, type Row } from './events.ts';
import { search } from './find.ts';
import { Absent, Refusal, type DataSource, type FileFacts, type HitQuery } from './source.ts';
import { reportNamed } from './table.ts';
import { BUCKETS, decodeCounters, decodeTile, type CounterTile, type Tile } from './tile.ts';
import { joined, tilesOfLevel } from './levels.ts';
import type { DrawnPath, EventDetails, Idle, Lane, Options, Report, Reports, Runs, Timeline } from './types.ts';

interface Answers { file: FileFacts; answers: Record<string, unknown> }
interface Span { from: number; to: number; events: Events }

const RUN = 'runs/0';
const NAMES = 4096;
const query = (options: Options) => {
  const text = new URLSearchParams(options).toString();
  return text === '' ? '' : `?${text}`;
};

export class EmbeddedSource implements DataSource {
  private readonly blocks: Blocks;
  private spans: Promise<Span[]> | undefined;
  private readonly levels = new Map<string, Promise<ArrayBuffer[][] | null>>();
  private allNames: Promise<string[]> | undefined;

  constructor(read: ReadText) { this.blocks = new Blocks(read); }

  static isIn(read: ReadText) { return read('answers') !== null; }

  async file() { return (await this.answers()).file; }
  async runs() { return this.answer<Runs>('runs', 'list of runs'); }
  async analyses() { return this.answer<Report>('analyses', 'list of analyses'); }
  async report(_run: number, options: Options) {
    return this.answer<Reports>(`${RUN}/report${await this.asked(options, ['step', 'top'])}`, 'report');
  }
  /** What the report holds in the same words is in the file once. */
  async show(run: number, analysis: string, options: Options) {
    if (options.since !== undefined) throw await this.lacks('answer for these two instants');
    const address = `${RUN}/show/${analysis}${await this.asked(options, ['step', 'top'])}`;
    if (Object.hasOwn((await this.answers()).answers, address)) return this.answer<Report>(address, '');
    return reportNamed(await this.report(run, options), analysis) ?? this.answer<Report>(address, `answer of ${analysis}`);
  }
  async explain(_run: number, finding: string, options: Options) {
    return this.answer<Report>(`${RUN}/explain/${finding}${await this.asked(options, ['step'])}`, 'inputs of this rule');
  }
  async diff(): Promise<Reports> {
    throw new Refusal('This file holds one run.', 404, '`stepscope diff BASE RUN -o diff.html` compares two.');
  }
  async timeline() {
    const own = await this.blocks.json<Record<string, unknown>>('timeline');
    if (own === null) throw await this.lacks('timeline');
    return own[`${RUN}/timeline`] as Timeline;
  }
  async names(_run: number, block: number) {
    const own = await this.blocks.json<Record<string, unknown>>('timeline');
    const names = own?.[`${RUN}/names/${block}`];
    if (names === undefined) throw await this.lacks('names');
    return names as string[];
  }

  async tile(_run: number, level: number, tile: number, lanes: number[]): Promise<Tile> {
    const timeline = await this.timeline();
    const begin = tile * BUCKETS * 2 ** level;
    const [from, to] = [begin, Math.min(begin + BUCKETS * 2 ** level, timeline.end)];
    const span = (await this.exact()).find((one) => one.from <= from && (to <= one.to || to <= from));
    if (span !== undefined) return tileOf(span.events, level, tile, lanes);
    const stored = await this.level('tiles', level, (await this.file()).coarse, timeline.end);
    if (stored === null) throw await this.absent();
    const wanted = new Set(lanes);
    return joined((stored[tile] ?? []).map(decodeTile), wanted);
  }
  async counters(_run: number, level: number, tile: number, counters: number[]): Promise<CounterTile> {
    if (counters.length === 0) return { counters: [] };
    const { end } = await this.timeline();
    const stored = await this.level('counters', level, (await this.file()).counters, end);
    if (stored === null) throw await this.absent();
    const wanted = new Set(counters);
    return { counters: (stored[tile] ?? []).flatMap((part) => decodeCounters(part).counters).filter((one) => wanted.has(one.counter)) };
  }

  async search(_run: number, text: string, hit?: HitQuery) {
    const [{ end, lanes, names: count }, spans, facts] = await Promise.all([this.timeline(), this.exact(), this.file()]);
    this.allNames ??= Promise.all(Array.from({ length: Math.ceil(count / NAMES) }, (_, block) => this.names(0, block))).then((all) => all.flat());
    return search({
      blocks: spans.map(({ events }, i) => ({ events, behind: spans[i - 1]?.to ?? 0 })), names: await this.allNames,
      kinds: (facts.kinds ?? []).map(([kind]) => kind), known: facts.kind_names ?? [], rankOf: (lane) => lanes[lane]!.rank, end,
    }, text, hit);
  }

  async event(_run: number, rank: number, id: number): Promise<EventDetails> {
    const details = await this.blocks.json<Record<string, EventDetails>>('details');
    const known = details?.[`${RUN}/event?rank=${rank}&id=${id}`];
    if (known !== undefined) return known;
    const { lanes } = await this.timeline();
    for (const { events } of await this.exact()) {
      for (const row of events.rows) {
        if (lanes[row.lane]!.rank !== rank) continue;
        for (let i = row.first; i < row.last; ++i) if (events.id[i] === id) return this.briefly(events, row, i, lanes[row.lane]!);
      }
    }
    throw await this.lacks('details of this event');
  }
  /** An event whose args are not in the file. */
  private async briefly(events: Events, row: Row, i: number, lane: Lane): Promise<EventDetails> {
    const { kinds = [], steps = [], trace } = await this.file();
    const [kind, category] = kinds[events.sort[i]!] ?? ['', ''];
    const [start, end] = [events.start[i]!, events.end[i]!];
    const name = events.name[i]!;
    return {
      rank: lane.rank, id: events.id[i]!, lane: row.lane, row: row.row, name: (await this.names(0, Math.floor(name / NAMES)))[name % NAMES]!,
      kind, category, start, end, step: steps[events.step[i]! - 1] ?? null, parent: lane.side === 'host' ? parentOf(events, row, start, end) : null,
      previous: i > row.first ? events.id[i - 1]! : null, next: i + 1 < row.last ? events.id[i + 1]! : null, args: [], stack: [], links: [],
      lacks: `This file holds no args, stack and links of this event. \`stepscope serve ${trace}\` shows all.`,
    };
  }

  async area(): Promise<Report> { throw await this.lacks('tables about areas of time'); }
  /** As for the whole step, whatever the span of time. */
  async path(_run: number, { rank, step }: Options) {
    return this.drawn<DrawnPath>(`path?rank=${rank}&step=${step}`, 'critical path of this step');
  }
  async idle() { return this.drawn<Idle>('idle', 'causes of idle time'); }
  private async drawn<T>(address: string, what: string): Promise<T> {
    const own = await this.blocks.json<Record<string, unknown>>('drawn');
    const answer = own?.[`${RUN}/${address}`];
    if (answer === undefined) throw await this.lacks(what);
    return answer as T;
  }
  async source(): Promise<string> { throw await this.lacks('source lines'); }

  private async answers(): Promise<Answers> {
    const answers = await this.blocks.json<Answers>('answers');
    if (answers === null) throw new Refusal('This file holds no answers.', 404);
    return answers;
  }
  private async answer<T>(address: string, what: string): Promise<T> {
    const { answers } = await this.answers();
    if (!Object.hasOwn(answers, address)) throw await this.lacks(what);
    return answers[address] as T;
  }
  private async lacks(what: string) {
    return new Refusal(`This file holds no ${what}.`, 404, `\`stepscope serve ${(await this.file()).trace}\` shows all.`);
  }
  private async absent() { return new Absent('This file holds only coarser data here.', 404, `\`stepscope serve ${(await this.file()).trace}\` shows all.`); }

  /** The options of the file's answers, as in an address. Others are refused. */
  private async asked(options: Options, names: readonly string[]) {
    const own = (await this.file()).options;
    if (options.step !== undefined && options.step !== own.step) {
      throw new Refusal(`This file holds the answers for ${own.step === undefined ? 'all steps' : `step ${own.step}`} only.`, 404,
        `\`stepscope report ${(await this.file()).trace} --step ${options.step} -o report.html\` writes one for step ${options.step}.`);
    }
    return query(Object.fromEntries(names.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]]))));
  }

  private exact(): Promise<Span[]> {
    this.spans ??= this.file().then(({ exact = [] }) => Promise.all(exact.map(async ([from, to], i) => {
      const bytes = await this.blocks.bytes(`events-${i}`);
      if (bytes === null) throw await this.lacks('events');
      return { from, to, events: decodeEvents(bytes) };
    })));
    return this.spans;
  }

  /** By tile, its parts; null if the file has no tiles of that level. */
  private level(name: string, level: number, levels: [number, number] | undefined, end: number): Promise<ArrayBuffer[][] | null> {
    if (levels === undefined || level < levels[0] || level > levels[1]) return Promise.resolve(null);
    const key = `${name}-${level}`;
    let known = this.levels.get(key);
    if (known === undefined) {
      known = this.blocks.bytes(key).then((bytes) => (bytes === null ? null : tilesOfLevel(bytes, Math.max(1, Math.ceil(end / (BUCKETS * 2 ** level))))));
      this.levels.set(key, known);
    }
    return known;
  }
}

/** The innermost range of the lane's upper rows that holds an event. */
function parentOf(events: Events, row: Row, start: number, end: number): number | null {
  const above = (events.rowsOf.get(row.lane) ?? []).filter((one) => one.row < row.row).reverse();
  for (const one of above) {
    const at = firstFrom(events, one, start);
    for (const i of [at, at - 1]) {
      if (i >= one.first && i < one.last && events.start[i]! <= start && events.end[i]! >= end) return events.id[i]!;
    }
  }
  return null;
}
