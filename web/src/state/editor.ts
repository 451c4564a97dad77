// The editor that source links open; "none" until one is chosen.
import { signal } from '@preact/signals';
import { EDITORS } from '../words/editors.ts';

const KEY = 'stepscope.editor';

function stored(): string {
  try {
    return EDITORS.find((editor) => editor.id === localStorage.getItem(KEY))?.id ?? 'none';
  } catch {
    return 'none';
  }
}

export const editor = signal(stored());

export function chooseEditor(id: string) {
  editor.value = id;
  try { localStorage.setItem(KEY, id); } catch { /* kept until the page is closed */ }
}
