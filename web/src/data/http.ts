// Asks the program that served the page. All addresses are relative, so a proxy may put the page below any path.
import { parsed } from './blocks.ts';
import { decodeCounters, decodeTile } from './tile.ts';
import { Refusal, type DataSource, type HitQuery } from './source.ts';
import type { Options } from './types.ts';

const query = (options: Record<string, string | number>) => new URLSearchParams(
  Object.entries(options).map(([name, value]) => [name, String(value)])).toString();

export interface Connection {
  token: string | null;
  /** The hash of a run's contents, so that the browser may keep the answers. */
  hashOf(run: number): string | undefined;
  /** Told after each question with which status the program answered; 0 if it did not. */
  reached(status: number): void;
}

export class HttpSource implements DataSource {
  constructor(private readonly connection: Connection) {}

  runs() { return this.json<never>('api/runs'); }
  analyses() { return this.json<never>('api/analyses'); }
  report(run: number, options: Options) { return this.ofRun<never>(run, 'report', options); }
  show(run: number, analysis: string, options: Options) { return this.ofRun<never>(run, `show/${analysis}`, options); }
  explain(run: number, finding: string, options: Options) {
    return this.ofRun<never>(run, `explain/${finding}`, options);
  }
  diff(run: number, base: number) { return this.json<never>(`api/runs/${run}/diff?${query({ base })}`); }
  timeline(run: number) { return this.ofRun<never>(run, 'timeline', {}); }
  names(run: number, block: number) { return this.ofRun<never>(run, `names/${block}`, {}); }

  async tile(run: number, level: number, tile: number, lanes: number[], signal?: AbortSignal) {
    return decodeTile(await this.bytes(run, 'tiles', { level, tile, lanes: lanes.join(',') }, signal));
  }
  async counters(run: number, level: number, tile: number, counters: number[], signal?: AbortSignal) {
    return decodeCounters(await this.bytes(run, 'counters', { level, tile, counters: counters.join(',') }, signal));
  }
  search(run: number, q: string, hit?: HitQuery, signal?: AbortSignal) {
    return this.ofRun<never>(run, 'search', { q, ...hit }, signal);
  }
  event(run: number, rank: number, id: number, signal?: AbortSignal) {
    return this.ofRun<never>(run, 'event', { rank, id }, signal);
  }
  area(run: number, from: number, to: number, lanes: number[], signal?: AbortSignal) {
    return this.ofRun<never>(run, 'area', { from, to, lanes: lanes.join(',') }, signal);
  }
  path(run: number, options: Options) { return this.ofRun<never>(run, 'path', options); }
  idle(run: number, options: Options) { return this.ofRun<never>(run, 'idle', options); }
  async source(file: string, line: number, around: number) {
    return (await this.ask(`api/source?${query({ file, line, around })}`)).text();
  }

  file() { return Promise.resolve(null); }

  private address(run: number, what: string, options: Record<string, string | number>) {
    const hash = this.connection.hashOf(run);
    const text = query(hash === undefined ? options : { ...options, hash });
    return `api/runs/${run}/${what}${text === '' ? '' : `?${text}`}`;
  }
  private ofRun<T>(run: number, what: string, options: Record<string, string | number>, signal?: AbortSignal) {
    return this.json<T>(this.address(run, what, options), signal);
  }
  private async json<T>(address: string, signal?: AbortSignal): Promise<T> {
    return parsed<T>(await (await this.ask(address, signal)).text());
  }
  private async bytes(run: number, what: string, options: Record<string, string | number>, signal?: AbortSignal) {
    return (await this.ask(this.address(run, what, options), signal)).arrayBuffer();
  }

  private async ask(address: string, signal?: AbortSignal): Promise<Response> {
    const { token } = this.connection;
    const headers: HeadersInit = token === null ? {} : { Authorization: `Bearer ${token}` };
    const answer = await fetch(address, { headers, ...(signal && { signal }) }).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      this.connection.reached(0);
      throw new Refusal('The program does not answer.', 0, 'Check that `stepscope serve` still runs, then try again.');
    });
    this.connection.reached(answer.status);
    if (answer.ok) return answer;
    throw await refusal(answer);
  }
}

async function refusal(answer: Response): Promise<Refusal> {
  const told = await answer.json().catch(() => ({})) as { error?: string; remedy?: string };
  if (answer.status === 401) {
    return new Refusal('The address lacks the token, or its token is of an earlier start.', 401,
      'Open the address that `stepscope serve` printed, with all that stands behind #; after that, links work in this browser.');
  }
  return new Refusal(told.error ?? `The program answered with status ${answer.status}.`, answer.status, told.remedy);
}
