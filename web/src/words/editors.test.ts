import { expect, test } from 'vitest';
import { EDITORS, editorAddress } from './editors.ts';

test('whole paths open in the chosen editor', () => {
  expect(editorAddress('vscode', '/a b/train.py', 41)).toBe('vscode://file/a%20b/train.py:41');
  expect(editorAddress('pycharm', '/a&b/train.py', 0)).toBe('jetbrains://pycharm/navigate/reference?path=%2Fa%26b%2Ftrain.py:1');
});

test('a recording cannot choose the scheme or the host', () => {
  for (const path of ['train.py', 'javascript:alert(1)', '//host/share', '', 'C:\\x.py']) expect(editorAddress('vscode', path, 1)).toBeNull();
  for (const { id } of EDITORS) expect(editorAddress(id, '/x?y#z"<\n', 1)).toMatch(/^(vscode|vscode-insiders|cursor|zed|jetbrains):\/\/[\w./%?=:-]+$/);
  expect(editorAddress('none', '/x', 1)).toBeNull();
});
