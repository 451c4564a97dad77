// A field that narrows a list, and the list: arrow keys move, Enter takes.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { matching, type Choice } from './matching.ts';

const MAX_SHOWN = 100;

interface Props { id: string; label: string; placeholder: string; choices: readonly Choice[]; made?: (query: string) => Choice[]; chosen?: string | undefined; onPick: (choice: Choice) => void; onLeave: () => void }

export function Choices({ id, label, placeholder, choices, made, chosen, onPick, onLeave }: Props) {
  const [query, setQuery] = useState('');
  const found = useMemo(() => [...(made?.(query) ?? []), ...matching(choices, query)], [choices, query]);
  const shown = found.slice(0, MAX_SHOWN);
  const [at, setAt] = useState(() => Math.max(0, shown.findIndex((one) => one.key === chosen)));
  const list = useRef<HTMLUListElement>(null);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  useEffect(() => list.current?.children[at]?.scrollIntoView({ block: 'nearest' }), [at]);
  const onKey = (event: KeyboardEvent) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (to !== undefined) setAt(Math.max(0, Math.min(shown.length - 1, to)));
    else if (event.key === 'Enter' && shown[at] !== undefined) onPick(shown[at]);
    else if (event.key === 'Escape') onLeave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="choices">
      <input ref={field} type="text" role="combobox" aria-label={label} placeholder={placeholder} value={query} spellcheck={false} autocomplete="off"
        aria-expanded={true} aria-controls={`${id}-list`} aria-autocomplete="list" {...(shown[at] && { 'aria-activedescendant': `${id}-${at}` })}
        onInput={(event) => { setQuery(event.currentTarget.value); setAt(0); }} onKeyDown={onKey} />
      <ul id={`${id}-list`} ref={list} role="listbox" aria-label={label} tabIndex={-1}>
        {shown.map((one, i) => (
          <li key={one.key} id={`${id}-${i}`} role="option" aria-selected={i === at} class={one.key === chosen ? 'current' : undefined}
            onMouseMove={() => setAt(i)} onMouseDown={(event) => event.preventDefault()} onClick={() => onPick(one)}>
            <span>{one.words}</span>{one.hint !== '' && <span class="hint">{one.hint}</span>}
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="faint" role="status">Nothing matches.</p>}
      {found.length > shown.length && <p class="faint">{found.length - shown.length} more: type to narrow.</p>}
    </div>
  );
}
