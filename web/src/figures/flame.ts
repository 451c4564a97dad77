// Folded stacks as a tree of frames, laid out by weight.
import type { Table } from '../data/types.ts';

export interface Node { name: string; weight: number; depth: number; from: number; to: number; parent: Node | null; children: Node[] }

/** The tree of "a;b;c" stacks with their weights, heaviest first; null if the table holds none. */
export function treeOf(table: Table): Node | null {
  const stack = table.columns.findIndex((column) => column.name === 'stack');
  const weight = table.columns.findIndex((column) => column.role === 'value');
  if (table.shape !== 'flame' || stack < 0 || weight < 0 || table.rows.length === 0) return null;
  const root: Node = { name: 'all', weight: 0, depth: 0, from: 0, to: 1, parent: null, children: [] };
  for (const row of table.rows) add(root, String(row[stack] ?? '').split(';'), Number(row[weight] ?? 0));
  place(root);
  return root;
}

function add(root: Node, names: string[], weight: number) {
  root.weight += weight;
  let node = root;
  for (const name of names) {
    let child = node.children.find((one) => one.name === name);
    if (child === undefined) {
      child = { name, weight: 0, depth: node.depth + 1, from: 0, to: 0, parent: node, children: [] };
      node.children.push(child);
    }
    child.weight += weight;
    node = child;
  }
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

/** The colour of a frame: modules of the model, the program's own code, libraries, and calls into C. */
export function familyOfFrame(name: string): string {
  if (name.startsWith('nn.Module')) return 'host';
  if (name.startsWith('<')) return 'runtime';
  return /^(torch|threading|multiprocessing|importlib|.*site-packages|.*dist-packages|.*lib\/python)/.test(name) ? 'other' : 'python';
}
