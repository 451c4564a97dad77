import { facts, helpOpen, hrefTo, paletteOpen, run } from '../state/app.ts';
import { CHOICES, choice, choose } from '../state/theme.ts';
import { StepPicker } from './brush.tsx';
import { BasePicker, RunPicker } from './runs.tsx';

const MARKS = { auto: '◐', light: '☀', dark: '☾' } as const;

export function TopBar() {
  return (
    <header class="topbar">
      <a class="brand" href={hrefTo('verdict')}>stepscope</a>
      <RunPicker />
      {facts.value === null && <BasePicker />}
      {facts.value !== null ? <FileScope steps={facts.value.options.step} />
        : run.value && run.value.state !== 'unreadable' && <StepPicker key={run.value.run} run={run.value} />}
      <span class="grow" />
      <button type="button" class="round" aria-label="Commands" title="Commands ( > )" onClick={() => { paletteOpen.value = true; }}>›</button>
      <ThemeButton />
      <button type="button" class="round" aria-label="Help: keys and mouse" title="Help (?)"
        onClick={() => { helpOpen.value = !helpOpen.value; }}>?</button>
    </header>
  );
}

/** A report file has one scope. */
function FileScope({ steps }: { steps: string | undefined }) {
  return <span class="faint">{steps === undefined ? 'all steps' : `steps ${steps}`} · report file</span>;
}

function ThemeButton() {
  const next = CHOICES[(CHOICES.indexOf(choice.value) + 1) % CHOICES.length]!;
  const words = `Colours: ${choice.value}. Click for ${next}.`;
  return (
    <button type="button" class="round" aria-label={words} title={words} onClick={() => choose(next)}>
      <span aria-hidden="true">{MARKS[choice.value]}</span>
    </button>
  );
}
