import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

// A room may import those before it.
const ROOMS = ['words', 'data', 'state', 'figures', 'shell', 'table', 'pages', 'verdict', 'timeline'];
const here = new URL('.', import.meta.url);
const files = ROOMS.flatMap((room) => readdirSync(new URL(`${room}/`, here)).map((name) => ({ room, name })));

test('no room imports one behind it', () => {
  expect(files.length).toBeGreaterThan(50);
  const wrong = files.flatMap(({ room, name }) => {
    const imports = [...readFileSync(new URL(`${room}/${name}`, here), 'utf8').matchAll(/from '\.\.\/(\w+)\//g)].map((match) => match[1]!);
    return imports.filter((other) => ROOMS.includes(other) && ROOMS.indexOf(other) > ROOMS.indexOf(room)).map((other) => `${room}/${name} imports ${other}`);
  });
  expect(wrong).toEqual([]);
});

test('files stay short, and no HTML is made of text', () => {
  for (const { room, name } of files) {
    const text = readFileSync(new URL(`${room}/${name}`, here), 'utf8');
    expect(text.split('\n').length, name).toBeLessThan(400);
    expect(text, name).not.toMatch(/innerHTML|dangerouslySetInnerHTML|outerHTML|insertAdjacentHTML|document\.write/);
  }
});
