"""Times stepscope on DFTracer's files against Python's gzip and json. Usage: pfw.py STEPSCOPE [FOLDER]

Writes 316,702 records of the second generation, one .pfw.gz for each of 48 processes, and the same in one file. Each is read with
`stepscope show steps` and with gzip and json, taking turns; prints the medians of several runs. Needs no package.
"""
import gzip
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

RECORDS, PROCESSES, RUNS = 316_702, 48, 5
CALLS = [("write", 40), ("__xstat", 17), ("read", 12), ("lseek64", 9), ("open64", 3), ("close", 3), ("fwrite", 12), ("fread", 4)]


def lines_of(process, records, dice):
    pid, now, host = 40_000 + process, 1_727_350_000_000_000 + dice.randrange(1000), dice.randrange(1 << 16)
    meta = '{"name":"%s","cat":"dftracer","pid":%d,"tid":%d,"ph":"M","args":{"name":"%s","value":%d}}\n'
    yield meta % ("HH", pid, pid, "node0", host)
    names = [name for name, weight in CALLS for _ in range(weight)]
    files = []
    for number in range(records - 1):
        if len(files) < 600 and number % 10 == 0:
            files.append(dice.randrange(1 << 16))
            yield meta % ("FH", pid, pid, "/p/scratch/run/out/part.%d.%d.nc" % (process, len(files)), files[-1])
            continue
        name = dice.choice(names)
        length, now = dice.randrange(1, 400), now + dice.randrange(1, 500)
        yield ('{"id":%d,"name":"%s","cat":"%s","pid":%d,"tid":%d,"ts":%d,"dur":%d,"ph":"X","args":{"hhash":%d,"fhash":%d,"fd":%d,'
               '"count":%d,"ret":%d,"level":1}}\n' % (number, name, "STDIO" if name[0] == "f" else "POSIX", pid, pid, now, length, host,
                                                      dice.choice(files), 3 + number % 50, 4096, 4096))
        now += length


def write(folder):
    dice = random.Random(1)
    several, one = folder / "processes", folder / "one.pfw.gz"
    several.mkdir()
    sizes = [RECORDS // PROCESSES + (p < RECORDS % PROCESSES) for p in range(PROCESSES)]
    with gzip.open(one, "wt", 6) as whole:
        for process, size in enumerate(sizes):
            text = "[\n" + "".join(lines_of(process, size, dice)) + "]"
            with gzip.open(several / ("app-%d.pfw.gz" % (40_000 + process)), "wt", 6) as out:
                out.write(text)
            whole.write(text + "\n")
    return [("48 files", several), ("one file", one)]


def by_python(path):
    count = 0
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        with gzip.open(file, "rb") as lines:
            for line in lines:
                if line.startswith(b"{"):
                    json.loads(line.rstrip(b"]\n"))
                    count += 1
    return count


def timed(run):
    """Seconds that pass, and seconds of processors."""
    begin, used = time.perf_counter(), os.times()
    run()
    now = os.times()
    return time.perf_counter() - begin, sum(now[:4]) - sum(used[:4])


def main(program, folder):
    for what, path in write(folder):
        count = by_python(path)
        assert count == RECORDS, count
        ask = [program, "show", "steps", "--threads", str(os.cpu_count()), str(path)]
        ours, python = [], []
        for _ in range(RUNS):
            ours.append(timed(lambda: subprocess.run(ask, check=True, stdout=subprocess.DEVNULL)))
            python.append(timed(lambda: by_python(path)))
        (a, a_used), (b, b_used) = ([statistics.median(column) for column in zip(*of)] for of in (ours, python))
        stored = sum(f.stat().st_size for f in (path.iterdir() if path.is_dir() else [path]))
        print("%s, %.1f MB stored, %d records: stepscope %.3f s (processors %.2f s), Python %.2f s (%.2f s), %.0f times (%.0f)"
              % (what, stored / 1e6, RECORDS, a, a_used, b, b_used, b / a, b_used / a_used))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) == 3 else None) as scratch:
        main(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(scratch))
