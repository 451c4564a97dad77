"""How long a real Fourier transform takes per point, by the largest prime factor of its length: fft_lengths.py

One thread of PyTorch, the fastest of 15 calls on 12 rows. The table is what kAwkwardFactor, kFftLeast and kFftMost come from.
"""
import time

import torch

LENGTHS = (20_480, 20_000, 20_800, 23_552, 27_136, 34_304, 65_024, 20_420, 20_799, 20_011)
ROWS, CALLS = 12, 15


def largest_prime_factor(n):
    largest, factor = 1, 2
    while factor * factor <= n:
        while n % factor == 0:
            largest, n = factor, n // factor
        factor += 1
    return max(largest, n)


def ns_per_point(length):
    rows = torch.randn(ROWS, length)
    taken = []
    for _ in range(CALLS):
        begin = time.perf_counter()
        torch.fft.rfft(rows)
        taken.append(time.perf_counter() - begin)
    return min(taken) / (ROWS * length) * 1e9


torch.set_num_threads(1)
base = ns_per_point(LENGTHS[0])
print("length  largest factor  ns per point  times that of 20,480")
for length in LENGTHS:
    took = ns_per_point(length)
    print(f"{length:6}  {largest_prime_factor(length):14}  {took:12.2f}  {took / base:.1f}")
