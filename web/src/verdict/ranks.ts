// What several ranks say alike is said once. `src/report/judgement.cpp` groups in the same way.
import { text, type Row } from '../data/table.ts';

/** Rows that are shown as one, by the words of the first. `whose`: "Rank 3", "Ranks 0–2 (rank 1 shown)", "" in a job of one. */
export interface Group { rows: Row[]; whose: string }

/** "3", "0 and 1", "0, 2 and 5", "0–3 and 7". */
export function listedRanks(ranks: readonly number[]): string {
  const sorted = [...new Set(ranks)].sort((a, b) => a - b);
  const pieces: string[] = [];
  for (let i = 0; i < sorted.length; ++i) {
    let last = i;
    while (sorted[last + 1] === sorted[last]! + 1) ++last;
    pieces.push(last - i < 2 ? String(sorted[i]) : `${sorted[i]}–${sorted[last]}`);
    if (last - i >= 2) i = last;
  }
  return pieces.length < 2 ? pieces.join() : `${pieces.slice(0, -1).join(', ')} and ${pieces.at(-1)}`;
}

/** The words of a sentence, without its numbers and their units. */
export function wordsOf(sentence: string): string {
  let number = false;
  return sentence.split(' ').filter((word) => {
    const isUnit = number && word.length <= 5;
    number = /\d/.test(word);
    return !number && !isUnit;
  }).join(' ');
}

/** `rank` and `said`: the columns of the rank, and of what is shown of it. */
export function grouped(all: readonly Row[], rank: string, said: string, keyOf: (row: Row) => string): Group[] {
  const groups = new Map<string, Row[]>();
  for (const row of all) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return [...groups.values()].map((rows) => {
    const ranks = rows.flatMap((row) => (text(row[rank]) === '' ? [] : [Number(row[rank])]));
    const shown = new Set(rows.map((row) => row[said])).size > 1 ? ` (rank ${ranks[0]} shown)` : '';
    return { rows, whose: ranks.length === 0 ? '' : ranks.length === 1 ? `Rank ${ranks[0]}` : `Ranks ${listedRanks(ranks)}${shown}` };
  });
}
