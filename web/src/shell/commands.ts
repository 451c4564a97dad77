// What the command palette offers.
import { change, copyText, follow, helpOpen, hrefBack, hrefTo, inText, run, runs, said, showInTimeline } from '../state/app.ts';
import { CHOICES, choose } from '../state/theme.ts';
import { titled } from '../data/table.ts';
import { PAGES } from '../words/pages.ts';
import { formatValue, parseMarkedTime } from '../words/units.ts';
import type { Choice } from './matching.ts';
import { openRun, runChoices } from './runs.tsx';
import type { StepTime } from './steps.ts';

export interface Command extends Choice { does: () => void }

const MAX_STEPS = 2000;

export function copyLink() {
  if (inText) {
    said.value = 'A page in a notebook has no link.';
    return;
  }
  copyText(location.href, 'The link is copied.');
}

/** What a typed time offers. */
export function timeCommand(words: string): Command[] {
  const time = parseMarkedTime(words);
  return time === null ? [] : [{ key: 'time', words: `Go to ${formatValue(time, 'ns')}`, hint: 'timeline', does: () => showInTimeline({ go: String(time) }) }];
}

const open = (href: string) => () => follow(href);

/** Pages, analyses, what else can be done, steps and runs. */
export function commandsFor(steps: readonly StepTime[]): Command[] {
  const command = (key: string, words: string, hint: string, does: () => void): Command => ({ key, words, hint, does });
  return [
    ...PAGES.map((page) => command(`page ${page.id}`, page.name, `page · g ${page.key}`, open(hrefBack(page.id)))),
    ...PAGES.flatMap((page) => page.analyses.map((name) => command(`show ${name}`, titled(name), `analysis · ${page.name}`, open(hrefTo(page.id, { tab: name }))))),
    command('link', 'Copy a link to this view', 'Shift L', copyLink),
    command('help', 'Keys, mouse and colours', '?', () => { helpOpen.value = true; }),
    ...CHOICES.map((choice) => command(`theme ${choice}`, `Colours: ${choice}`, 'theme', () => choose(choice))),
    command('steps', 'Count all steps', 'scope', () => change({ steps: undefined }, 'push')),
    ...steps.slice(0, MAX_STEPS).flatMap(({ step }) => [
      command(`go ${step}`, `Go to step ${step}`, 'timeline', () => showInTimeline({ step: String(step) })),
      command(`only ${step}`, `Count only step ${step}`, 'scope', () => change({ steps: String(step) }, 'push')),
    ]),
    ...runChoices((runs.peek()?.runs ?? []).filter((one) => one !== run.peek()))
      .map(({ key, words, hint }) => command(`run ${key}`, `Open run ${words}`, hint, () => openRun(key))),
  ];
}
