// What the recording lacks, on every page: the numbers of a damaged or partial recording are not taken for whole.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Run } from '../data/types.ts';
import { hrefTo, reportOf } from '../state/app.ts';
import { load } from '../state/load.ts';
import { lacksOf, verdictOf } from './model.ts';

const AFTER_MS = 1200; // the page's own question comes first

let asked = -1; // the run whose report was asked for

/** Shown once the report is known; a report that fails says so on the page Verdict. */
export function PartialStrip({ run }: { run: Run }) {
  const [due, setDue] = useState(asked === run.run);
  useEffect(() => {
    const timer = setTimeout(() => {
      asked = run.run;
      setDue(true);
    }, AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return due ? <Lacks run={run} /> : null;
}

function Lacks({ run }: { run: Run }) {
  const { of, ask } = reportOf(run);
  const answer = useMemo(() => load(of, ask), [of]).value;
  const lacks = useMemo(() => (answer.state === 'ok' ? lacksOf(verdictOf(answer.value)) : []), [answer]);
  const [first, ...others] = lacks;
  if (first === undefined) return null;
  return (
    <details class="banner strip">
      <summary title={first.what}><b>Partial recording.</b> {first.what}{others.length > 0 && ` And ${others.length} more.`}</summary>
      <div>
        <ul>
          {lacks.map((one) => <li key={`${one.whose}${one.what}`}>{one.whose !== '' && `${one.whose}: `}{one.what} Affects {one.suffers}. {one.remedy}</li>)}
        </ul>
        <a href={hrefTo('verdict')}>All that the recording cannot show</a>
      </div>
    </details>
  );
}
