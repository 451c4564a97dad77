// What shows a finding: each piece leads to the table that it quotes.
import { titled } from '../data/table.ts';
import { hrefTo } from '../state/app.ts';
import { pageOf } from '../words/pages.ts';
import type { Proof } from './model.ts';

export function Proofs({ proofs }: { proofs: Proof[] }) {
  return (
    <>
      {proofs.map((proof, i) => {
        const page = pageOf(proof.analysis);
        return (
          <span key={i}>
            {i > 0 && '; '}
            {page === undefined
              ? `${proof.analysis === '' ? '' : `${titled(proof.analysis).toLowerCase()}: `}`
              : <><a href={hrefTo(page.id, { tab: proof.analysis })}>{titled(proof.analysis).toLowerCase()}</a>: </>}
            {proof.what}
          </span>
        );
      })}
    </>
  );
}
