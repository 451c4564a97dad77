import { expect, test } from 'vitest';
import { KEYS, keyOf, type Where } from './keys.ts';
import { PAGES } from './pages.ts';

const press = (where: Where, init: Partial<KeyboardEvent>) =>
  keyOf({ key: '', code: '', ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...init } as KeyboardEvent, where)?.action;

test('W, A, S and D are places on the keyboard, letters are letters', () => {
  expect(press('timeline', { key: 'z', code: 'KeyW' })).toBe('zoomIn'); // AZERTY
  expect(press('timeline', { key: 'w', code: 'KeyZ' })).toBeUndefined();
  expect(press('timeline', { key: 'm', code: 'Semicolon' })).toBe('mark');
  expect(press('timeline', { key: 'M', code: 'KeyM', shiftKey: true })).toBe('keepMark');
});

test('keys of the browser stay with it', () => {
  for (const key of ['f', 'r', 'w', 's', 'p', 'l', 'n', 't', '0']) {
    expect(press('timeline', { key, code: `Key${key.toUpperCase()}`, ctrlKey: true }), key).toBeUndefined();
    expect(press('everywhere', { key, ctrlKey: true }), key).toBeUndefined();
  }
  expect(press('timeline', { key: 'ArrowLeft', altKey: true })).toBeUndefined();
  expect(press('timeline', { key: 'a', code: 'KeyA', ctrlKey: true })).toBe('selectAll');
});

test('no key means two things', () => {
  const seen = new Set<string>();
  for (const key of KEYS) {
    const name = `${key.ctrl ? 'Ctrl ' : ''}${key.code ?? key.key}`;
    expect(seen.has(name), name).toBe(false);
    seen.add(name);
  }
  expect(new Set(PAGES.map((page) => page.key)).size).toBe(PAGES.length);
});
