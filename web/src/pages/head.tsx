// What heads a page: its question, the answer in one sentence, and what the answer covers.
import { useMemo } from 'preact/hooks';
import type { Report, Run } from '../data/types.ts';
import { param } from '../state/app.ts';
import { load } from '../state/load.ts';
import { leadOf } from './lead.ts';

interface Props { run: Run; question: string; of: string; ask: () => Promise<Report> }

export function Head({ run, question, of, ask }: Props) {
  const answer = useMemo(() => load(of, ask), [of]).value;
  const lead = useMemo(() => (answer.state === 'ok' ? leadOf(answer.value) : null), [answer]);
  return (
    <header class="page-head">
      <Scope run={run} question={question} />
      <h1 class={lead?.known === false ? 'absent' : undefined}>{lead?.sentence ?? question}</h1>
      {lead !== null && lead.remedy !== '' && <p>{lead.remedy}</p>}
    </header>
  );
}

/** A page's question, and what all its numbers cover. */
export const Scope = ({ run, question }: { run: Run; question: string }) => <p class="scope"><span>{question}</span><span>{scopeWords(run)}</span></p>;

function scopeWords(run: Run): string {
  const steps = param('steps');
  const which = steps === undefined ? 'all steps' : steps.includes('-') ? `steps ${steps.replace('-', '–')}` : `step ${steps}`;
  return [run.name, run.files > 1 ? `all ${run.files} ranks` : '', which].filter(Boolean).join(' · ');
}
