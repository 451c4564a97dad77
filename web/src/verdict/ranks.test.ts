import { expect, test } from 'vitest';
import { grouped, listedRanks, wordsOf } from './ranks.ts';

test('ranks are listed as the program lists them', () => {
  expect([[3], [1, 0], [5, 0, 2], [0, 1, 2, 3, 7], [0, 1, 4, 5, 6, 9], []].map(listedRanks))
    .toEqual(['3', '0 and 1', '0, 2 and 5', '0–3 and 7', '0, 1, 4–6 and 9', '']);
});

test('a sentence of many ranks is one, whatever its numbers', () => {
  expect(wordsOf('idle 20.1 % of each 4.24 ms step')).toBe('idle of each step');
  const rows = [[0, 'idle 20 % of each'], [1, 'idle 21 % of each'], [2, 'busy'], [4, 'busy']].map(([rank, said]) => ({ rank: rank!, said: said! }));
  expect(grouped(rows, 'rank', 'said', (row) => wordsOf(String(row.said))).map((one) => one.whose))
    .toEqual(['Ranks 0 and 1 (rank 0 shown)', 'Ranks 2 and 4']);
  expect(grouped([{ rank: null, said: 'busy' }], 'rank', 'said', () => '')[0]!.whose).toBe('');
});
