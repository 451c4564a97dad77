import { expect, test } from 'vitest';
import type { Table } from '../data/types.ts';
import { familyOfFrame, framesIn, namesIn, pathTo, sandwichOf, treeOf, treeOfRows, weightsOf } from './flame.ts';

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
  expect(['nn.Module: Linear_0', 'train.py(3): f', 'torch/_tensor.py(5): backward', '<built-in gelu>', 'aten::mm', 'AddBackward0', 'cudaLaunchKernel'].map(familyOfFrame))
    .toEqual(['host', 'python', 'other', 'runtime', 'host', 'host-backward', 'runtime']);
});

const column = (name: string, unit: 'ns' | '' | 'count' = 'ns') => ({ name, unit, role: name === 'name' || name === 'rank' ? 'key' as const : 'value' as const });
const calls: Table = {
  title: '', shape: 'tree', columns: [column('name', ''), column('depth', ''), column('calls', 'count'), column('host_total'), column('host_self')],
  rows: [['main', 0, 1, 100, 10], ['f', 1, 1, 30, 5], ['g', 2, 1, 25, 25], ['g', 1, 1, 60, 60], ['other', 0, 1, 20, 20]],
};

test('a tree in pre-order becomes frames as wide as the column that counts all below', () => {
  expect(weightsOf(calls).map(({ name }) => name)).toEqual(['host_total']);
  const root = treeOfRows(calls, 'host_total')!;
  expect(root.weight).toBe(120);
  expect(root.children.map((node) => node.name)).toEqual(['main', 'other']);
  expect(root.children[0]!.children.map((node) => [node.name, node.weight, node.depth])).toEqual([['g', 60, 2], ['f', 30, 2]]);
});

test('the trees of several ranks hang below their ranks', () => {
  const ranks: Table = { ...calls, columns: [column('rank', ''), ...calls.columns], rows: [[0, 'main', 0, 1, 10, 10], [1, 'main', 0, 1, 30, 10], [1, 'f', 1, 1, 20, 20]] };
  const root = treeOfRows(ranks, 'host_total')!;
  expect(root.children.map((node) => [node.name, node.weight, node.children[0]!.name])).toEqual([['rank 1', 30, 'main'], ['rank 0', 10, 'main']]);
});

test('ranges that overlap make their parent as wide as they are together', () => {
  const root = treeOfRows({ ...calls, rows: [['main', 0, 1, 10, 0], ['a', 1, 1, 8, 8], ['b', 1, 1, 8, 8]] }, 'host_total')!;
  expect(root.children[0]!.weight).toBe(16);
});

test('names are added up; recursion counts once in all', () => {
  const root = treeOf({ ...table, rows: [['f;f;g', 4], ['f', 6], ['g', 3]] })!;
  expect(namesIn(root)).toEqual([{ name: 'g', own: 7, total: 7 }, { name: 'f', own: 6, total: 10 }]);
});

test('a name has its callers above and its callees below', () => {
  const root = treeOf({ ...table, rows: [['a;f;x', 4], ['b;f;y', 6], ['b;f', 1], ['c', 9]] })!;
  const { callers, callees } = sandwichOf(root, 'f');
  expect([callers.weight, callees.weight]).toEqual([11, 11]);
  expect(callers.children.map((node) => [node.name, node.weight])).toEqual([['b', 7], ['a', 4]]);
  expect(callees.children.map((node) => [node.name, node.weight])).toEqual([['y', 6], ['x', 4]]);
});
