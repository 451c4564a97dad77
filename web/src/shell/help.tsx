import { useEffect, useRef } from 'preact/hooks';
import { helpOpen } from '../state/app.ts';
import { chooseEditor, editor } from '../state/editor.ts';
import { EDITORS } from '../words/editors.ts';
import { KEYS, MOUSE, type Where } from '../words/keys.ts';
import { PAGES } from '../words/pages.ts';
import { PAINTS } from '../words/palette.ts';
import { Swatch } from '../figures/swatch.tsx';

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (helpOpen.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [helpOpen.value]);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={() => { helpOpen.value = false; }}>
      <header>
        <h2 id="help-title">Keys, mouse and colours</h2>
        <button type="button" onClick={() => { helpOpen.value = false; }}>Close</button>
      </header>
      <div class="columns" tabIndex={0} role="group" aria-label="Keys, mouse and colours">
        <Keys where="everywhere" title="Everywhere" />
        <Keys where="timeline" title="Timeline" />
        <List title="Mouse in the timeline" rows={MOUSE.map((one) => [one.shown, one.does])} />
        <List title="Pages, behind G" rows={PAGES.map((page) => [page.key.toUpperCase(), page.name])} />
        <section>
          <h3>Source</h3>
          <label class="picker"><span>Open lines in</span>
            <select value={editor.value} onChange={(event) => chooseEditor(event.currentTarget.value)}>
              <option value="none">no editor</option>
              {EDITORS.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}
            </select>
          </label>
        </section>
        <section>
          <h3>Colours</h3>
          <ul class="legend">
            {PAINTS.map((paint, i) => <li key={paint.name}><Swatch family={i} /> {paint.label}</li>)}
          </ul>
        </section>
      </div>
    </dialog>
  );
}

function Keys({ where, title }: { where: Where; title: string }) {
  return <List title={title} rows={KEYS.filter((key) => key.where === where).map((key) => [key.shown, key.does])} />;
}

function List({ title, rows }: { title: string; rows: string[][] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {rows.map(([shown, does]) => <div key={shown}><dt><kbd>{shown}</kbd></dt><dd>{does}</dd></div>)}
      </dl>
    </section>
  );
}
