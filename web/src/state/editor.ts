// The editor that source links open; "none" until one is chosen.
import { signal } from '@preact/signals';
import { EDITORS } from '../words/editors.ts';
import { keep, kept } from './storage.ts';

const KEY = 'stepscope.editor';

export const editor = signal(EDITORS.find(({ id }) => id === kept(KEY))?.id ?? 'none');

export function chooseEditor(id: string) {
  editor.value = id;
  keep(KEY, id);
}
