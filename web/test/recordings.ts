// Recordings in states that no sample is in.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { PROGRAM, SAMPLES } from './program.ts';

const MAKE_TRACE = process.env.MAKE_TRACE ?? join(dirname(PROGRAM), 'bench/make_trace');
const FEW_KINDS = ['cpu_op', 'cuda_runtime', 'kernel', 'ac2g', 'gpu_memcpy', 'gpu_memset'];
const CUT_AT = 0.6;

interface Recording { traceEvents: { cat?: string }[] }

const textOf = (sample: string) => gunzipSync(readFileSync(`${SAMPLES}${sample}`)).toString();

/** Operators and device work alone: no step, no range of the program, no call of Python, no memory. */
function bare(text: string): string {
  const recording = JSON.parse(text) as Recording;
  const traceEvents = recording.traceEvents.filter((event) => FEW_KINDS.includes(event.cat ?? ''));
  return JSON.stringify({ ...recording, with_stack: 0, profile_memory: 0, traceEvents });
}

/** A folder with one run per state, named after it, and a folder without any. */
export function makeStates(): { folder: string; nothing: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'states-'));
  const nothing = mkdtempSync(join(tmpdir(), 'nothing-'));
  const write = (state: string, text: string) => writeFileSync(join(folder, `${state}.json`), text);
  const text = textOf('generated_slow_input.json.gz');
  copyFileSync(`${SAMPLES}cnn.pt.trace.json.gz`, join(folder, 'cpu_only.json.gz'));
  write('partial', bare(text));
  write('damaged', text.slice(0, text.length * CUT_AT));
  write('one_event', JSON.stringify({ schemaVersion: 1, traceEvents: [{ ph: 'X', cat: 'cpu_op', name: 'aten::add', pid: 1, tid: 1, ts: 1, dur: 2 }] }));
  write('no_event', JSON.stringify({ schemaVersion: 1, traceEvents: [] }));
  execFileSync(MAKE_TRACE, ['--out', join(folder, 'ranks64'), '--ranks', '64', '--ranks-per-host', '8', '--steps', '3', '--layers', '2', '--shapes',
    '--straggler', '17:20:input', '--clock-skew', '300', '--noise', '2'], { stdio: ['ignore', 'ignore', 'pipe'] });
  return { folder, nothing, remove: () => [folder, nothing].forEach((one) => rmSync(one, { recursive: true })) };
}
