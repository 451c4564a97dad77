import { expect, test } from 'vitest';
import { shortName } from './names.ts';

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
