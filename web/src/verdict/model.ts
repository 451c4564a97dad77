// The verdict of a report: its tables "Verdict", "Findings" and "Health" as the page shows them.
import { number, records, reportNamed, tableNamed, text, type Row } from '../data/table.ts';
import type { Reports } from '../data/types.ts';
import type { Moment } from '../state/link.ts';
import { formatRange } from '../words/units.ts';

export interface Proof { analysis: string; what: string }
export interface Finding {
  rank: string;
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
  rank: string;
  bound: string;
  outcome: string;
  headline: string;
  step: number | null;
  steps: number | null;
  together: string;
  evidence: Proof[];
}
export interface Health { rank: string; grade: string; what: string; suffers: string; remedy: string }
export interface Verdict { ranks: RankVerdict[]; findings: Finding[]; health: Health[]; notes: string[] }

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

function findingOf(row: Row): Finding {
  return {
    rank: text(row.of_rank), id: text(row.id), title: text(row.title), per: text(row.per),
    saving: formatRange(number(row.saving_low), number(row.saving_high), 'ns'),
    when: text(row.when), aside: text(row.aside), confidence: text(row.confidence), because: text(row.because),
    evidence: proofsOf(text(row.evidence)), at: momentOf(row), remedy: text(row.remedy), verify: text(row.verify),
  };
}

/** Equal findings about the recordings of several ranks are said once, with all their ranks. */
function merged(all: Health[]): Health[] {
  const kept = new Map<string, Health>();
  for (const one of all) {
    const key = JSON.stringify([one.grade, one.suffers, one.remedy]);
    const known = kept.get(key);
    if (known === undefined) kept.set(key, { ...one });
    else known.rank += `, ${one.rank}`;
  }
  return [...kept.values()];
}

export function verdictOf(reports: Reports): Verdict {
  const report = reportNamed(reports, 'verdict');
  return {
    ranks: records(tableNamed(report, 'Verdict')).map((row) => ({
      rank: text(row.rank), bound: text(row.bound), outcome: text(row.outcome), headline: text(row.headline),
      step: number(row.step), steps: number(row.steps), evidence: proofsOf(text(row.evidence)),
      together: formatRange(number(row.together_low), number(row.together_high), 'ns'),
    })),
    findings: records(tableNamed(report, 'Findings')).map(findingOf),
    health: merged(records(tableNamed(report, 'Health')).map((row) => ({
      rank: text(row.of_rank), grade: text(row.class), what: text(row.what), suffers: text(row.suffers), remedy: text(row.remedy) }))),
    notes: report?.notes ?? [],
  };
}

/** What heads the findings of each kind, in the order of the report. */
export const WHEN: Record<string, string> = {
  now: 'What to change', next: 'Limits once the above is done', covered: 'Saves alone, but nothing after the above', fact: 'Costs without a known saving',
};
export const whenWords = (when: string) => WHEN[when] ?? 'Facts without a known saving';

/** The lacks that stop conclusions or lower confidence. */
export const lacksOf = (verdict: Verdict): Health[] => verdict.health.filter((one) => one.grade === 'A' || one.grade === 'B');
