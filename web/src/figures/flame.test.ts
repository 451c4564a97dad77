import { expect, test } from 'vitest';
import type { Table } from '../data/types.ts';
import { familyOfFrame, framesIn, pathTo, treeOf } from './flame.ts';

const table: Table = {
  title: '', shape: 'flame',
  columns: [{ name: 'stack', unit: '', role: 'key' }, { name: 'time', unit: 'ns', role: 'value' }],
  rows: [['a;b', 10], ['a;c', 30], ['a', 20], ['d', 40]],
};

test('stacks become a tree, the heaviest first', () => {
  const root = treeOf(table)!;
  expect(root.weight).toBe(100);
  expect(root.children.map((node) => [node.name, node.weight, node.from, node.to])).toEqual([['a', 60, 0, 0.6], ['d', 40, 0.6, 1]]);
  const [a] = root.children;
  expect(a!.children.map((node) => [node.name, node.depth])).toEqual([['c', 2], ['b', 2]]);
  expect(a!.children.map((node) => [node.from, node.to].map((at) => Number(at.toFixed(6))))).toEqual([[0, 0.3], [0.3, 0.4]]);
  expect(pathTo(a!.children[0]!).map((node) => node.name)).toEqual(['all', 'a', 'c']);
});

test('narrow frames are left out, against the frame that fills the width', () => {
  const root = treeOf(table)!;
  expect(framesIn(root, 0.2).map((node) => node.name).sort()).toEqual(['a', 'all', 'c', 'd']);
  expect(framesIn(root.children[0]!, 0.15).map((node) => node.name).sort()).toEqual(['a', 'b', 'c']);
});

test('other shapes have no tree', () => {
  expect(treeOf({ ...table, shape: 'table' })).toBeNull();
  expect(treeOf({ ...table, rows: [] })).toBeNull();
});

test('frames are coloured by whose code they are', () => {
  expect(['nn.Module: Linear_0', 'train.py(3): f', 'torch/_tensor.py(5): backward', '<built-in gelu>'].map(familyOfFrame))
    .toEqual(['host', 'python', 'other', 'runtime']);
});
