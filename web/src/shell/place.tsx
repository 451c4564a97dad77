// A line of the program's source: its path as text, a link to the editor, and its text if the program serves it.
import { useState } from 'preact/hooks';
import { run, source } from '../state/app.ts';
import { editor } from '../state/editor.ts';
import { editorAddress } from '../words/editors.ts';
import { Answer } from './answer.tsx';

export function Place({ file, line }: { file: string; line: number }) {
  const [shown, setShown] = useState(false);
  const address = editorAddress(editor.value, file, line);
  const words = `${file}${line > 0 ? `:${line}` : ''}`;
  const number = run.value?.run ?? 0;
  return (
    <>
      {address === null ? <span class="faint">{words}</span> : <a href={address}>{words}</a>}
      {line > 0 && <button type="button" class="link" aria-expanded={shown} onClick={() => setShown(!shown)}>{shown ? 'Hide lines' : 'Lines'}</button>}
      {shown && (
        <Answer of={`source/${number}/${file}/${line}`} what="the lines" ask={() => source.source(number, file, line)}>
          {(text) => <pre class="source" tabIndex={0}>{text}</pre>}
        </Answer>
      )}
    </>
  );
}
