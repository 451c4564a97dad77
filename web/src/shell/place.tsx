// A line of the program's source: its path as text, a link to the editor, and its text if the program serves it.
import { useState } from 'preact/hooks';
import { source } from '../state/app.ts';
import { editor } from '../state/editor.ts';
import { editorAddress } from '../words/editors.ts';
import { Answer } from './answer.tsx';

const AROUND = 6; // lines on both sides of the one that is meant

function Lines({ text, first, marked }: { text: string; first: number; marked: number }) {
  return (
    <pre class="source" tabIndex={0}>
      {text.replace(/\n$/, '').split('\n').map((words, i) => (
        <div key={i} class={first + i === marked ? 'marked' : undefined}><span class="faint">{String(first + i).padStart(5)}  </span>{words}</div>
      ))}
    </pre>
  );
}

export function Place({ file, line }: { file: string; line: number }) {
  const [shown, setShown] = useState(false);
  const address = editorAddress(editor.value, file, line);
  const words = `${file}${line > 0 ? `:${line}` : ''}`;
  return (
    <>
      {address === null ? <span class="faint">{words}</span> : <a href={address}>{words}</a>}
      {line > 0 && <button type="button" class="link" aria-expanded={shown} onClick={() => setShown(!shown)}>{shown ? 'Hide lines' : 'Lines'}</button>}
      {shown && (
        <Answer of={`source/${file}/${line}`} what="the lines" ask={() => source.source(file, line, AROUND)}>
          {(text) => <Lines text={text} first={Math.max(1, line - AROUND)} marked={line} />}
        </Answer>
      )}
    </>
  );
}
