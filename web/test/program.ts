// The real program: files that it writes, and answers that it serves.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ReadText } from '../src/data/blocks.ts';
import { HttpSource } from '../src/data/http.ts';
import type { DataSource } from '../src/data/source.ts';

export const PROGRAM = process.env.STEPSCOPE ?? new URL('../../build/dev/stepscope', import.meta.url).pathname;
export const SAMPLES = new URL('../../examples/samples/', import.meta.url).pathname;

const folder = mkdtempSync(join(tmpdir(), 'report-'));
export const removeFiles = () => rmSync(folder, { recursive: true });

/** The path of a report file. */
export function writeReport(name: string, trace: string, ...options: string[]): string {
  const path = join(folder, `${name}.html`);
  execFileSync(PROGRAM, ['report', trace, '-o', path, ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
  return path;
}

export function blocksOf(path: string): ReadText {
  const html = readFileSync(path, 'utf8');
  const blocks = new Map([...html.matchAll(/<script type="application\/octet-stream" id="([\w-]+)">([^<]*)<\/script>/g)].map((match) => [match[1]!, match[2]!]));
  return (id) => blocks.get(id) ?? null;
}

/** A server of the program: the address that it prints. */
export async function serve(...paths: string[]): Promise<{ address: URL; stop: () => void }> {
  const server = spawn(PROGRAM, ['serve', ...paths], { stdio: ['ignore', 'pipe', 'ignore'] });
  const address = await new Promise<URL>((done) => {
    createInterface(server.stdout).once('line', (line) => done(new URL(line)));
  });
  return { address, stop: () => server.kill() };
}

/** Asks a server of the program. */
export async function served(trace: string): Promise<{ source: DataSource; stop: () => void }> {
  const { address, stop } = await serve(trace);
  const ask = globalThis.fetch;
  globalThis.fetch = (where, how) => ask(new URL(String(where), address), how);
  const token = address.hash.replace('#token=', '');
  const source = new HttpSource({ token, hashOf: () => undefined, reached: () => {} });
  return { source, stop: () => { globalThis.fetch = ask; stop(); } };
}
