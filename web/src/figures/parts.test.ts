import { expect, test } from 'vitest';
import type { Table } from '../data/types.ts';
import { PAINTS } from '../words/palette.ts';
import { curvesOf, familyOfPart, partsOf, stackOf } from './parts.ts';

const column = (name: string, unit: 'ns' | 'share' | '', role: 'key' | 'value' | 'share') => ({ name, unit, role });
const bars = (rows: Table['rows']): Table =>
  ({ title: '', shape: 'bars', columns: [column('device', '', 'key'), column('role', '', 'key'), column('time', 'ns', 'value'), column('share', 'share', 'share')], rows });

test('rows whose shares add up to one divide a whole', () => {
  expect(partsOf(bars([[0, 'kernel', 30, 0.3], [0, 'idle', 70, 0.7]]))).toEqual([
    { of: 'the whole', parts: [{ name: 'kernel', amount: 30, share: 0.3 }, { name: 'idle', amount: 70, share: 0.7 }] }]);
  expect(partsOf(bars([[0, 'kernel', 30, 0.3]]))).toEqual([]);
  expect(partsOf(bars([[0, 'a', 50, 0.5], [1, 'a', 50, 0.5]]))).toEqual([]);
});

test('each device is a whole of its own', () => {
  const wholes = partsOf(bars([[0, 'a', 5, 0.5], [0, 'b', 5, 0.5], [1, 'a', 9, 0.9], [1, 'b', 1, 0.1]]));
  expect(wholes.map(({ of, parts }) => [of, ...parts.map((part) => `${part.name} ${part.share}`)])).toEqual([
    ['device 0', 'a 0.5', 'b 0.5'], ['device 1', 'a 0.9', 'b 0.1']]);
});

test('operators make no bar: nearly all have one colour', () => {
  const one = bars([[0, 'a', 5, 0.5], [0, 'b', 5, 0.5]]);
  expect(partsOf({ ...one, columns: one.columns.map((column) => ({ ...column, name: column.name === 'role' ? 'op' : column.name })) })).toEqual([]);
});

test('waits have an exposed and a hidden part', () => {
  const waits: Table = {
    title: '', shape: 'bars', columns: [column('step', '', 'key'), column('total', 'ns', 'value'), column('share', 'share', 'share'), column('exposed', 'ns', 'value')],
    rows: [['1', 9, 0.5, 4], ['2', 6, 0.5, null]] };
  expect(stackOf(waits)!.parts.map((part) => part.values)).toEqual([[4, 0], [5, 6]]);
  expect(stackOf({ ...waits, rows: [['1', 9, 0.5, null]] })!.parts).toEqual([{ name: 'data wait', values: [9] }]);
});

test('columns of times divide each row', () => {
  const steps: Table = {
    title: '', shape: 'bars', columns: [column('step', '', 'key'), column('kernel', 'ns', 'value'), column('wait', 'ns', 'value'), column('total', 'ns', 'value')],
    rows: [['1', 5, 0, 5], ['2', 6, 0, 6]] };
  expect(stackOf(steps)).toEqual({ labels: ['1', '2'], parts: [{ name: 'kernel', values: [5, 6] }] });
  expect(stackOf({ ...steps, shape: 'table' })).toBeNull();
});

test('curves are one set per device', () => {
  const curve: Table = {
    title: '', shape: 'curve', columns: [column('device', '', 'key'), column('time', 'ns', 'key'), column('busy', 'share', 'value')],
    rows: [[0, 0, 0.1], [0, 5, 0.2], [1, 0, null]] };
  expect(curvesOf(curve).map((one) => [one.of, one.x, one.lines.map((line) => line.values)])).toEqual([
    ['device 0', [0, 5], [[0.1, 0.2]]], ['device 1', [0], [[null]]]]);
});

test('operators have the colour of their side, whatever words they contain', () => {
  const named = (name: string) => PAINTS[familyOfPart(name)]!.name;
  expect(['data_loader', 'aten::_log_softmax_backward_data', 'aten::convolution', 'forward', 'backward', 'layout'].map(named))
    .toEqual(['data', 'host-backward', 'host', 'host', 'host-backward', 'copy']);
});
