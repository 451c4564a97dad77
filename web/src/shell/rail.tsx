import { address, hrefBack } from '../state/app.ts';
import { PAGES } from '../words/pages.ts';
import { Icon } from './answer.tsx';

export function Rail() {
  return (
    <nav class="rail" aria-label="Pages">
      {PAGES.map((page) => (
        <a key={page.id} href={hrefBack(page.id)} title={`${page.question} (g ${page.key})`}
          {...(address.value.page === page.id && { 'aria-current': 'page' as const })}>
          <Icon path={page.icon} />
          <span>{page.name}</span>
          <kbd aria-hidden="true">{page.key}</kbd>
        </a>
      ))}
    </nav>
  );
}
