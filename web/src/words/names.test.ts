import { expect, test } from 'vitest';
import { shortName, shortNames, shortPlace, shortRun } from './names.ts';

test('C++ names lose their brackets', () => {
  expect(shortName('void at::native::(anonymous namespace)::indexSelect<c10::BFloat16, long, Q<2, 2> >(at::T<int>, long)'))
    .toBe('at::native::indexSelect');
  expect(shortName('void cutlass::Kernel<a>(a::Params)')).toBe('cutlass::Kernel');
});

test('other names stay', () => {
  for (const name of ['aten::mm', 'Memcpy HtoD (Pinned -> Device)', 'train.py(36): train_step', 'a::b<c', '', 'void']) {
    expect(shortName(name)).toBe(name);
  }
});

test('arguments go, but not those of other languages', () => {
  expect(shortName('ncclDevKernel_AllReduce(ncclDevKernelArgsStorage<4096ul>)')).toBe('ncclDevKernel_AllReduce');
  expect(shortName('<built-in method add of type object at 0x7f>')).toBe('<built-in method add of type object at 0x7f>');
});

test('names that would read the same stay apart', () => {
  const short = shortNames(['void k::f<1>(int)', 'void k::f<2>(int)', 'void k::g<1>(int)']);
  expect(['void k::f<1>(int)', 'void k::f<2>(int)', 'void k::g<1>(int)'].map(short)).toEqual(['k::f<1>(int)', 'k::f<2>(int)', 'k::g']);
});

test('long places keep their file', () => {
  expect(shortPlace('a/long/way/to/train.py(41): step', 20)).toBe('…/train.py(41): step');
  expect(shortPlace('a/long/way/to/train.py(41): step', 40)).toBe('a/long/way/to/train.py(41): step');
  expect(shortPlace('a/very/long/name/without/a/line', 10)).toBe('a/very/long/name/without/a/line');
});

test('runs keep both ends of their names', () => {
  expect(shortRun('cnn.pt.trace.json.gz', 20)).toBe('cnn');
  expect(shortRun('samples/workers_0/worker0.json', 21)).toBe('samples/…rs_0/worker0');
});
