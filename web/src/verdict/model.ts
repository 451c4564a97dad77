// The verdict of a report: its tables "Verdict", "Findings" and "Health" as the page shows them.
import { number, records, reportNamed, tableNamed, text, type Row } from '../data/table.ts';
import type { Reports } from '../data/types.ts';
import type { Moment } from '../state/link.ts';
import { formatRange } from '../words/units.ts';
import { grouped, wordsOf, type Group } from './ranks.ts';

export interface Proof { analysis: string; what: string }
/** Ranks that say the same have one row: the words of the first, and whose they are: "Ranks 0–2 (rank 1 shown)", "" in a job of one. */
export interface Finding {
  whose: string;
  id: string;
  title: string;
  per: string;
  saving: string;
  when: string;
  aside: string;
  confidence: string;
  because: string;
  evidence: Proof[];
  /** Where the timeline shows it. */
  at: Moment | null;
  remedy: string;
  verify: string;
}
export interface RankVerdict {
  whose: string;
  bound: string;
  outcome: string;
  headline: string;
  step: number | null;
  steps: number | null;
  evidence: Proof[];
}
export interface Health { whose: string; grade: string; what: string; suffers: string; remedy: string }
export interface Verdict { ranks: RankVerdict[]; findings: Finding[]; health: Health[]; notes: string[]; together: string }

/** "idle: by cause; input_wait: per step" → the analyses, and what each shows. */
export function proofsOf(evidence: string): Proof[] {
  return evidence.split('; ').filter(Boolean).map((one) => {
    const match = /^([a-z_]+): (.*)$/s.exec(one);
    return match === null ? { analysis: '', what: one } : { analysis: match[1]!, what: match[2]! };
  });
}

function momentOf(row: Row): Moment | null {
  const [start, length] = [number(row.at_start), number(row.at_length)];
  return start === null || length === null ? null : { rank: text(row.of_rank) === '' ? null : Number(row.of_rank), start, length };
}

/** From the smallest low end to the largest high end of any rank; "" if neither is known. */
function rangeOf(rows: Row[], low: string, high: string): string {
  const ends = (name: string) => rows.flatMap((row) => number(row[name]) ?? []);
  const most = ends(high);
  return most.length === 0 ? '' : formatRange(Math.min(...ends(low), ...most), Math.max(...most), 'ns');
}

function findingOf({ rows, whose }: Group): Finding {
  const row = rows[0]!;
  return {
    whose, id: text(row.id), title: text(row.title), per: text(row.per), saving: number(row.saving_high) === null ? '' : rangeOf(rows, 'saving_low', 'saving_high'),
    when: text(row.when), aside: text(row.aside), confidence: text(row.confidence), because: text(row.because),
    evidence: proofsOf(text(row.evidence)), at: momentOf(row), remedy: text(row.remedy), verify: text(row.verify),
  };
}

export function verdictOf(reports: Reports): Verdict {
  const report = reportNamed(reports, 'verdict');
  const ranks = records(tableNamed(report, 'Verdict'));
  return {
    ranks: grouped(ranks, 'rank', 'headline', (row) => wordsOf(text(row.headline))).map(({ rows, whose }) => ({
      whose, bound: text(rows[0]!.bound), outcome: text(rows[0]!.outcome), headline: text(rows[0]!.headline),
      step: number(rows[0]!.step), steps: number(rows[0]!.steps), evidence: proofsOf(text(rows[0]!.evidence)),
    })),
    findings: grouped(records(tableNamed(report, 'Findings')), 'of_rank', 'title', (row) => text(row.id)).map(findingOf),
    health: grouped(records(tableNamed(report, 'Health')), 'of_rank', 'what', (row) => text(row.id)).map(({ rows, whose }) => ({
      whose, grade: text(rows[0]!.class), what: text(rows[0]!.what), suffers: text(rows[0]!.suffers), remedy: text(rows[0]!.remedy) })),
    notes: report?.notes ?? [], 
    together: ranks.some((row) => row.together_low === 0) ? '' : rangeOf(ranks, 'together_low', 'together_high'), // a sum of hopes tells nothing
  };
}

/** What heads the findings of each kind, in the order of the report. */
export const WHEN: Record<string, string> = {
  now: 'What to change', next: 'Limits once the above is done', covered: 'Saves alone, but nothing after the above', fact: 'Costs without a known saving',
};
export const whenWords = (when: string) => WHEN[when] ?? 'Facts without a known saving';

/** The lacks that stop conclusions or lower confidence. */
export const lacksOf = (verdict: Verdict): Health[] => verdict.health.filter((one) => one.grade === 'A' || one.grade === 'B');
