import { address, baseRun, change, facts, helpOpen, hrefTo, param, run, runKey, runs } from '../state/app.ts';
import { CHOICES, choice, choose } from '../state/theme.ts';

const MARKS = { auto: '◐', light: '☀', dark: '☾' } as const;

export function TopBar() {
  return (
    <header class="topbar">
      <a class="brand" href={hrefTo('verdict')}>stepscope</a>
      <RunPicker />
      {baseRun.value && <BasePicker />}
      {facts.value === null ? <StepField /> : <FileScope steps={facts.value.options.step} />}
      <span class="grow" />
      <ThemeButton />
      <button type="button" class="round" aria-label="Help: keys and mouse" title="Help (?)"
        onClick={() => { helpOpen.value = !helpOpen.value; }}>?</button>
    </header>
  );
}

function RunPicker() {
  const all = runs.value?.runs ?? [];
  const now = run.value;
  if (now === null) return null;
  const pick = (key: string) => change(
    address.value.page === 'timeline'
      ? { run: key, t: undefined, sel: undefined, area: undefined, pin: undefined, closed: undefined, open: undefined, marks: undefined }
      : { run: key, row: undefined }, 'push');
  return (
    <label class="picker">
      <span>Run</span>
      <select value={runKey(now)} onChange={(event) => pick(event.currentTarget.value)}>
        {all.map((one) => (
          <option key={one.run} value={runKey(one)}>
            {one.name}{one.files > 1 ? ` · ${one.files} ranks` : ''}
            {one.state === 'unreadable' ? ' · cannot be read' : ''}
          </option>
        ))}
      </select>
    </label>
  );
}

export function BasePicker() {
  const all = (runs.value?.runs ?? []).filter((one) => one !== run.value);
  return (
    <label class="picker">
      <span>Compare with</span>
      <select value={baseRun.value === null ? '' : runKey(baseRun.value)} onChange={(event) => change({ base: event.currentTarget.value }, 'push')}>
        <option value="">no run</option>
        {all.map((one) => <option key={one.run} value={runKey(one)}>{one.name}</option>)}
      </select>
    </label>
  );
}

/** A report file has one scope. */
function FileScope({ steps }: { steps: string | undefined }) {
  return <span class="faint">{steps === undefined ? 'all steps' : `steps ${steps}`} · report file</span>;
}

function StepField() {
  const leave = (value: string) => change({ steps: /^\d+(-\d+)?$/.test(value.trim()) ? value.trim() : undefined }, 'push');
  return (
    <label class="picker">
      <span>Steps</span>
      <input class="steps" value={param('steps') ?? ''} placeholder="all" inputMode="numeric" pattern="\d+(-\d+)?"
        title="One step (7) or several (7-9), by their numbers in the trace. Empty: all." spellcheck={false}
        onChange={(event) => leave(event.currentTarget.value)} />
    </label>
  );
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
