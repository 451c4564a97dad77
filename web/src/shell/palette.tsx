// The command palette: all that can be opened or done, by a few letters of its name.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { paletteOpen, run, source } from '../state/app.ts';
import { load } from '../state/load.ts';
import { Choices } from './choices.tsx';
import { commandsFor, timeCommand, type Command } from './commands.ts';
import { stepTimes } from './steps.ts';

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = paletteOpen.value;
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={dialog} class="palette" aria-label="Commands" onClose={() => { paletteOpen.value = false; }}
      onClick={(event) => { if (event.target === dialog.current) paletteOpen.value = false; }}>
      {isOpen && <Commands />}
    </dialog>
  );
}

function Commands() {
  const now = run.value;
  const steps = now === null || now.state === 'unreadable' ? null : load(`show/${now.run}/${now.hash}/steps/`, () => source.show(now.run, 'steps', {})).value;
  const commands = useMemo(() => commandsFor(steps?.state === 'ok' ? stepTimes(steps.value) : []), [steps]);
  const close = () => { paletteOpen.value = false; };
  return (
    <Choices id="commands" label="Commands" placeholder="A page, an analysis, a step, a time, a run …" choices={commands} made={timeCommand}
      onPick={(one) => { close(); (one as Command).does(); }} onLeave={close} />
  );
}
