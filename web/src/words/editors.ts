// Editors that can be asked to open a line. A recording supplies a path and a line, never a scheme.
export interface Editor { id: string; name: string; address: (path: string, line: number) => string }

const inPath = (path: string) => path.split('/').map(encodeURIComponent).join('/');
const likeVsCode = (scheme: string) => (path: string, line: number) => `${scheme}://file${inPath(path)}:${line}`;

export const EDITORS: readonly Editor[] = [
  { id: 'vscode', name: 'VS Code', address: likeVsCode('vscode') },
  { id: 'vscode-insiders', name: 'VS Code Insiders', address: likeVsCode('vscode-insiders') },
  { id: 'cursor', name: 'Cursor', address: likeVsCode('cursor') },
  { id: 'zed', name: 'Zed', address: likeVsCode('zed') },
  { id: 'pycharm', name: 'PyCharm', address: (path, line) => `jetbrains://pycharm/navigate/reference?path=${encodeURIComponent(path)}:${line}` },
];

/** The address that opens a line; null if the path is not a whole one or no editor is chosen. */
export function editorAddress(id: string, path: string, line: number): string | null {
  const editor = EDITORS.find((one) => one.id === id);
  return editor === undefined || !/^\/[^/]/.test(path) || !Number.isInteger(line) ? null : editor.address(path, Math.max(1, line));
}
