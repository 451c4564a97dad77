import { expect, test } from 'vitest';
import { formatAddress, formatMoment, formatSpan, onPage, parseAddress, parseMoment, parseSpan } from './link.ts';

const parse = (fragment: string) => parseAddress(fragment, ['verdict', 'timeline'], 'verdict');

test('an address survives a round trip', () => {
  const address = { page: 'timeline', params: { run: 'a3f91c02', t: '12,99', sel: 'r0.18', q: 'a&b=c #é+ 50%', pin: 'r0/t1,r0/d0s7' } };
  const text = formatAddress(address);
  expect(text).toContain('pin=r0/t1,r0/d0s7');
  expect(parse(text)).toEqual({ address, token: null, unknown: [] });
});

test('the token is taken out', () => {
  expect(parse('#token=abc')).toEqual({ address: { page: 'verdict', params: {} }, token: 'abc', unknown: [] });
  const both = parse('#/timeline?run=1&token=abc');
  expect(both.token).toBe('abc');
  expect(formatAddress(both.address)).toBe('#/timeline?run=1');
});

test('unknown parts are named and left out', () => {
  expect(parse('#/nowhere?x=1&run=2&toString=3')).toEqual(
    { address: { page: 'verdict', params: { run: '2' } }, token: null, unknown: ['nowhere', 'x', 'toString'] });
});

test('another page keeps the scope only', () => {
  const here = { page: 'timeline', params: { run: '1', steps: '2-3', t: '0,5' } };
  expect(onPage(here, 'verdict', { tab: 'x' })).toEqual({ page: 'verdict', params: { run: '1', steps: '2-3', tab: 'x' } });
});

test('spans are whole, and in order', () => {
  expect(parseSpan(formatSpan(1.5, 9.2))).toEqual({ from: 1, to: 10 });
  for (const bad of [undefined, '', '5', '5,5', '9,5', 'a,b', '1,2,3']) expect(parseSpan(bad)).toBeNull();
});

test('a moment is read as it was written', () => {
  for (const rank of [null, 0, 12]) expect(parseMoment(formatMoment({ rank, start: 5, length: 0 }))).toEqual({ rank, start: 5, length: 0 });
  for (const bad of [undefined, '', 'r1', 'r1,2', 'r1,2,-3', 'r1,2,3,4', '1,2,3']) expect(parseMoment(bad)).toBeNull();
});
