// Critical paths and causes of idle time: the program's own answers, at the places that the stand-in gives to events and lanes.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const servers = new Map();

/** Asks a server of the program about the run at `path`. */
async function ask(program, path, address) {
  if (!servers.has(path)) {
    const child = spawn(program, ['serve', '--embed', path], { stdio: ['pipe', 'pipe', 'ignore'] }); // ends with its input: with this program
    for (const one of [child, child.stdin, child.stdout]) one.unref();
    servers.set(path, new Promise((done) => { createInterface(child.stdout).once('line', (line) => done(new URL(line))); }));
  }
  const url = await servers.get(path);
  const answer = await fetch(new URL(`api/runs/0/${address}`, url), { headers: { Authorization: `Bearer ${url.hash.replace('#token=', '')}` } });
  const body = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(body.error), { status: answer.status, remedy: body.remedy });
  return body;
}

export async function drawnIn(run, program, path, what, params) {
  const query = new URLSearchParams([...params].filter(([name]) => name !== 'hash'));
  const answer = await ask(program, path, `${what}?${query}`);
  const event = (rank, id) => run.byRank.get(rank)?.events.get(id);
  if (what === 'path') {
    return { ...answer, parts: answer.parts.map((part) => {
      const { lane = null, row = null } = event(answer.rank, part.id) ?? {};
      return { ...part, lane, row };
    }) };
  }
  const { lanes } = await ask(program, path, 'timeline');
  const laneOf = new Map(run.lanes.map((lane) => [lane.key, lane.lane]));
  return {
    ...answer,
    devices: answer.devices.map((device) => ({ ...device, lanes: device.lanes.flatMap((lane) => laneOf.get(lanes[lane].key) ?? []) })),
    stretches: answer.stretches.map((part) => ({ ...part, name: event(answer.devices[part.device].rank, part.host)?.nameId ?? null })),
  };
}
