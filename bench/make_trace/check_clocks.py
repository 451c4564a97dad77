"""Are the clocks of generated ranks recovered? Simulates jobs whose ranks have clocks of known offset and drift, asks
`stepscope show clock_alignment`, and compares.

    check_clocks.py STEPSCOPE MAKE_TRACE FOLDER [RANKS ...]

Truth and answer are compared as differences between ranks: what all clocks have in common cannot be known.
"""

import json
import pathlib
import shutil
import subprocess
import sys

MOST_ERROR_NS = 20_000


def answer(stepscope, folder):
    text = subprocess.run([stepscope, "show", "clock_alignment", folder, "--format", "json"], check=True,
                          capture_output=True, text=True).stdout
    table = json.loads(text)["tables"][0]
    names = [c["name"] for c in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def centered(values):
    mean = sum(values) / len(values)
    return [v - mean for v in values]


def check(stepscope, make_trace, folder, ranks, seed):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    truth = folder / "truth.json"
    subprocess.run([make_trace, "--ranks", str(ranks), "--ranks-per-host", "8", "--steps", "6", "--layers", "4",
                    "--clock-skew", "1000000", "--clock-drift", "50", "--straggler", "1:20:input", "--seed", str(seed),
                    "--truth", str(truth), "--out", str(folder / "job")], check=True, stdout=subprocess.DEVNULL)
    told = json.loads(truth.read_text())
    clocks = told["clocks"]
    rows = answer(stepscope, folder / "job")
    assert [r["rank"] for r in rows] == [c["rank"] for c in clocks]
    not_aligned = [r["rank"] for r in rows if r["state"] != "aligned"]
    assert not not_aligned, f"{ranks} ranks, seed {seed}: clocks {not_aligned} are not aligned"
    drifts = centered([c["drift_ppb"] / 1000 for c in clocks])
    found = centered([r["drift_ppm"] for r in rows])
    # The recording is short: a drift is known to what the ends' errors are of its length.
    length = told["step_ns"] * 6
    most_ppm = 1e6 * 2 * MOST_ERROR_NS / length
    worst = max(abs(a - b) for a, b in zip(drifts, found))
    assert worst <= most_ppm, f"{ranks} ranks, seed {seed}: a drift is {worst:.1f} ppm off"
    middle = sum(c["window_start"] for c in clocks) / ranks + length / 2
    offsets = centered([c["offset_ns"] + middle / 1000 * c["drift_ppb"] / 1e6 for c in clocks])
    found = centered([r["offset"] for r in rows])
    worst = max(abs(a - b) for a, b in zip(offsets, found))
    assert worst <= MOST_ERROR_NS, f"{ranks} ranks, seed {seed}: a clock is {worst / 1000:.1f} us off"
    print(f"{ranks} ranks, seed {seed}: every clock within {worst / 1000:.2f} us of the truth")


def main(stepscope, make_trace, folder, *ranks):
    for count in map(int, ranks or ("8", "64")):
        for seed in (1, 2):
            check(stepscope, make_trace, pathlib.Path(folder), count, seed)


if __name__ == "__main__":
    main(*sys.argv[1:])
