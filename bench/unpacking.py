"""How fast Python takes what a data loader reads: unpacking.py

One thread, the fastest of 5 calls; bytes of the file per ns. The slower rows are what kAgainRate comes from.
"""
import bz2
import gzip
import json
import lzma
import pickle
import random
import time

CALLS = 5
numbers = random.Random(0)
words = [f"word{number}" for number in range(5_000)]
text = " ".join(numbers.choice(words) for _ in range(1_500_000)).encode()
rows = [{"name": numbers.choice(words), "count": numbers.randrange(1_000)} for _ in range(200_000)]
SOURCES = (
    ("gzip, text", gzip.compress(text), gzip.decompress),
    ("bz2, text", bz2.compress(text), bz2.decompress),
    ("xz, text", lzma.compress(text, preset=1), lzma.decompress),
    ("JSON", json.dumps(rows).encode(), json.loads),
    ("pickle of rows", pickle.dumps([tuple(row.items()) for row in rows]), pickle.loads),
    ("text to lines", text.replace(b" word1 ", b"\n"), lambda data: data.decode().splitlines()),
)


def bytes_per_ns(data, unpack):
    taken = []
    for _ in range(CALLS):
        begin = time.process_time_ns()
        unpack(data)
        taken.append(time.process_time_ns() - begin)
    return len(data) / min(taken)


print("source           bytes per ns")
for name, data, unpack in SOURCES:
    print(f"{name:16} {bytes_per_ns(data, unpack):12.3f}")
