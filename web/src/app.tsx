import { useEffect } from 'preact/hooks';
import { address, changedOnDisk, follow, helpOpen, hrefBack, ignored, paletteOpen, reachable, readAgain, readRuns, run, runs, said, source, status } from './state/app.ts';
import { PAGES, pageNamed } from './words/pages.ts';
import { keyOf, typing } from './words/keys.ts';
import { Hatches } from './figures/swatch.tsx';
import { DiffPage } from './pages/diff.tsx';
import { AnalysisPage } from './pages/analysis.tsx';
import { VerdictPage } from './verdict/page.tsx';
import { PartialStrip } from './verdict/strip.tsx';
import { TimelinePage } from './timeline/page.tsx';
import { Answer, Failure } from './shell/answer.tsx';
import { copyLink } from './shell/commands.ts';
import { Help } from './shell/help.tsx';
import { Palette } from './shell/palette.tsx';
import { Rail } from './shell/rail.tsx';
import { TopBar } from './shell/topbar.tsx';

export function App() {
  useEffect(() => {
    addEventListener('keydown', onKey, true);
    return () => removeEventListener('keydown', onKey, true);
  }, []);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>
        Skip to the page
      </a>
      <Hatches />
      <TopBar />
      <Rail />
      <main id="main" tabIndex={-1} class={`page-${address.value.page}`}>
        <Banners />
        <Answer of="runs" what="the list of runs" ask={readRuns}>{() => <><Strip /><Page /></>}</Answer>
      </main>
      <Help />
      <Palette />
      <p class="said" role="status" aria-live="polite">{said.value}</p>
    </>
  );
}

function Strip() {
  const now = run.value;
  if (now === null || now.state === 'unreadable' || ['verdict', 'timeline'].includes(address.value.page)) return null; // each has a place for it
  return <PartialStrip key={now.run} run={now} />;
}

function Page() {
  const now = run.value;
  if (now === null) return <NoRuns />;
  if (now.state === 'unreadable') return <><h1>{now.name} cannot be read</h1><Failure error={new Error(now.error ?? 'No reason is known.')} /></>;
  switch (address.value.page) {
    case 'verdict': return <VerdictPage run={now} />;
    case 'timeline': return <TimelinePage key={now.run} run={now} />;
    case 'diff': return <DiffPage run={now} />;
    default: return <AnalysisPage key={address.value.page} run={now} page={pageNamed(address.value.page)} />;
  }
}

function NoRuns() {
  return (
    <section class="card">
      <h1>No recording was found.</h1>
      <p>The program looked for recordings in the paths that it was started with. Record one with:</p>
      <pre>stepscope record python train.py</pre>
      <p>Then open this page again.</p>
    </section>
  );
}

function Banners() {
  const parts = ignored.value;
  return (
    <>
      {!reachable.value && runs.value !== null && (
        <p class="banner" role="alert">
          {status.value === 0 ? 'The program does not answer.' : 'The program was started anew, with another token: open the address that it printed, in this browser.'}
          {' What is drawn stays, and goes on by itself.'} <button type="button" onClick={() => { void source.runs(); }}>Try again</button>
        </p>
      )}
      {parts.length > 0 && (
        <p class="banner" role="status">
          Ignored in the address: {parts.join(', ')}. <button type="button" onClick={() => { ignored.value = []; }}>Close</button>
        </p>
      )}
      {changedOnDisk.value && (
        <p class="banner" role="status">
          The recording changed on disk. <button type="button" onClick={readAgain}>Read it again</button>
        </p>
      )}
    </>
  );
}

/** Ctrl+Shift+P anywhere, ">" outside of fields and in an empty search. */
function asksForCommands(event: KeyboardEvent): boolean {
  if (paletteOpen.peek()) return false;
  if ((event.ctrlKey || event.metaKey) && event.shiftKey && event.key.toLowerCase() === 'p') return true;
  const { target } = event;
  const inSearch = target instanceof HTMLInputElement && target.type === 'search' && target.value === '';
  return event.key === '>' && (inSearch || !typing(target));
}

const LEADER_MS = 1500;
let leader = -Infinity;

/** Keys that work on every page. */
function onKey(event: KeyboardEvent) {
  if (asksForCommands(event)) {
    paletteOpen.value = true;
    event.preventDefault();
    event.stopImmediatePropagation();
    return;
  }
  if (typing(event.target) || event.defaultPrevented) return;
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (plain && event.timeStamp - leader < LEADER_MS) {
    leader = -Infinity;
    const page = PAGES.find((one) => one.key === event.key);
    if (page !== undefined) {
      follow(hrefBack(page.id));
      event.preventDefault();
      event.stopImmediatePropagation();
    }
    return;
  }
  const key = keyOf(event, 'everywhere');
  switch (key?.action) {
    case 'help': helpOpen.value = !helpOpen.value; break;
    case 'page': leader = event.timeStamp; break;
    case 'link': copyLink(); break;
    case 'search': {
      const field = document.querySelector<HTMLInputElement>('input[type=search]');
      if (field === null) return;
      field.focus();
      field.select();
      break;
    }
    default: return;
  }
  event.preventDefault();
}
