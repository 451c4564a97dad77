// Folded stacks as a tree of frames, laid out by weight.
import type { Column, Table } from '../data/types.ts';

export interface Node { name: string; weight: number; depth: number; from: number; to: number; parent: Node | null; children: Node[] }

const rootOf = (name: string): Node => ({ name, weight: 0, depth: 0, from: 0, to: 1, parent: null, children: [] });

/** The tree of "a;b;c" stacks with their weights, heaviest first; null if the table holds none. */
export function treeOf(table: Table): Node | null {
  const stack = table.columns.findIndex((column) => column.name === 'stack');
  const weight = table.columns.findIndex((column) => column.role === 'value');
  if (table.shape !== 'flame' || stack < 0 || weight < 0 || table.rows.length === 0) return null;
  const root = rootOf('all');
  for (const row of table.rows) add(root, String(row[stack] ?? '').split(';'), Number(row[weight] ?? 0));
  place(root);
  return root;
}

/** The columns of a tree that count a row with all rows below it: they have a twin that counts the row alone. */
export function weightsOf(table: Table): Column[] {
  if (!table.columns.some((column) => column.name === 'depth')) return [];
  const has = (name: string) => table.columns.some((column) => column.name === name);
  return table.columns.filter(({ name, unit }) => (unit === 'ns' || unit === 'bytes')
    && (has(`self_${name}`) || (name === 'total' && has('self')) || has(`${name}_self`) || (name.endsWith('_total') && has(name.replace(/_total$/, '_self')))));
}

/** The rows of a tree, in pre-order with their depths, as frames as wide as `column` says; null if it is empty. */
export function treeOfRows(table: Table, column: string): Node | null {
  const at = (name: string) => table.columns.findIndex((one) => one.name === name);
  const [depth, weight, rank] = [at('depth'), at(column), at('rank')];
  const name = table.columns.findIndex((one) => one.role === 'key' && one.name !== 'rank' && one.name !== 'device');
  if (depth < 0 || weight < 0 || name < 0) return null;
  const ranks = new Set(table.rows.map((row) => row[rank]));
  const root = rootOf('all');
  let open = [root];
  for (const row of table.rows) {
    const level = Number(row[depth] ?? 0);
    if (level === 0 && ranks.size > 1 && open[1]?.name !== `rank ${row[rank]}`) open = [root, hang(root, `rank ${row[rank]}`, 0)];
    const base = ranks.size > 1 ? 2 : 1;
    open.length = Math.min(open.length, level + base);
    open.push(hang(open.at(-1)!, String(row[name] ?? ''), Number(row[weight] ?? 0)));
  }
  widen(root);
  place(root);
  return root.weight > 0 ? root : null;
}

function hang(parent: Node, name: string, weight: number): Node {
  const child: Node = { name, weight, depth: parent.depth + 1, from: 0, to: 0, parent, children: [] };
  parent.children.push(child);
  return child;
}

/** Ranges that overlap without nesting may be longer together than what holds them. */
function widen(node: Node): number {
  const inside = node.children.reduce((sum, child) => sum + widen(child), 0);
  return (node.weight = Math.max(node.weight, inside));
}

const ownOf = (node: Node) => node.weight - node.children.reduce((sum, child) => sum + child.weight, 0);

export interface Named { name: string; own: number; total: number }

/** Every name with its time by itself and in all, the costliest by itself first. Recursive calls count once. */
export function namesIn(root: Node): Named[] {
  const all = new Map<string, Named>();
  const walk = (node: Node, around: Set<string>) => {
    const one = all.get(node.name) ?? { name: node.name, own: 0, total: 0 };
    all.set(node.name, one);
    one.own += ownOf(node);
    if (!around.has(node.name)) one.total += node.weight;
    const inside = new Set(around).add(node.name);
    for (const child of node.children) walk(child, inside);
  };
  for (const child of root.children) walk(child, new Set());
  return [...all.values()].sort((a, b) => b.own - a.own);
}

/** All that a name calls, and all that call it, as two trees with the name as their root. */
export function sandwichOf(root: Node, name: string): { callers: Node; callees: Node } {
  const [callers, callees] = [rootOf(name), rootOf(name)];
  const below = (into: Node, from: Node) => {
    for (const child of from.children) below(grow(into, child.name, child.weight), child);
  };
  const walk = (node: Node, inside: boolean) => {
    const isIt = node.name === name;
    if (isIt && !inside) {
      callees.weight += node.weight;
      callers.weight += node.weight;
      below(callees, node);
      let into = callers;
      for (let up = node.parent; up?.parent; up = up.parent) into = grow(into, up.name, node.weight);
    }
    for (const child of node.children) walk(child, inside || isIt);
  };
  walk(root, false);
  place(callers);
  place(callees);
  return { callers, callees };
}

/** The child of that name, made if there is none, heavier by `weight`. */
function grow(node: Node, name: string, weight: number): Node {
  const child = node.children.find((one) => one.name === name) ?? hang(node, name, 0);
  child.weight += weight;
  return child;
}

function add(root: Node, names: string[], weight: number) {
  root.weight += weight;
  names.reduce((node, name) => grow(node, name, weight), root);
}

function place(root: Node) {
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    node.children.sort((a, b) => b.weight - a.weight);
    let from = node.from;
    for (const child of node.children) {
      child.from = from;
      child.to = from += ((node.to - node.from) * child.weight) / (node.weight || 1);
      open.push(child);
    }
  }
}

/** The frames that fill at least `least` of the width, when `top` fills all of it. */
export function framesIn(top: Node, least: number): Node[] {
  const width = top.to - top.from;
  const frames: Node[] = [];
  const open = [top];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    frames.push(node);
    for (const child of node.children) if ((child.to - child.from) / width >= least) open.push(child);
  }
  return frames;
}

/** From the outermost frame to this one. */
export function pathTo(node: Node): Node[] {
  const path: Node[] = [];
  for (let up: Node | null = node; up !== null; up = up.parent) path.unshift(up);
  return path;
}

const LIBRARY = /^(torch|threading|multiprocessing|importlib|.*site-packages|.*dist-packages|.*lib\/python)/;
const IN_FILE = /\(\d+\): |\.py$/;

/** The colour of a frame: modules of the model, the program's own code, libraries, calls into C, operators and calls of the runtime. */
export function familyOfFrame(name: string): string {
  if (name.startsWith('<') || /^(cu|hip)(da)?[A-Z]/.test(name)) return 'runtime';
  if (IN_FILE.test(name)) return LIBRARY.test(name) ? 'other' : 'python';
  return /backward/i.test(name) ? 'host-backward' : 'host';
}
