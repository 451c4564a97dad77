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


def simulate(make_trace, folder, ranks, seed, ends):
    """The truth of a new job of six steps below `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    truth = folder / "truth.json"
    subprocess.run([make_trace, "--ranks", str(ranks), "--ranks-per-host", "8", "--steps", "6", "--layers", "4",
                    "--clock-skew", "1000000", "--clock-drift", "50", "--straggler", "1:20:input", "--seed", str(seed),
                    *ends, "--truth", str(truth), "--out", str(folder / "job")], check=True, stdout=subprocess.DEVNULL)
    return json.loads(truth.read_text())


def errors_of(told, rows):
    """By rank: the error of its clock's offset in the middle of the recording, in ns, and of its drift, in ppm."""
    clocks, ranks = told["clocks"], len(rows)
    length = told["step_ns"] * 6
    middle = sum(c["window_start"] for c in clocks) / ranks + length / 2
    offsets = centered([c["offset_ns"] + middle / 1000 * c["drift_ppb"] / 1e6 for c in clocks])
    drifts = centered([c["drift_ppb"] / 1000 for c in clocks])
    return ([abs(a - b) for a, b in zip(offsets, centered([r["offset"] for r in rows]))],
            [abs(a - b) for a, b in zip(drifts, centered([r["drift_ppm"] for r in rows]))])


def check_exact(stepscope, make_trace, folder, ranks, seed, ends):
    """Ranks see the ends of collectives at once, or up to 20 us late."""
    told = simulate(make_trace, folder, ranks, seed, ends)
    rows = answer(stepscope, folder / "job")
    what = f"{ranks} ranks, seed {seed}, {' '.join(ends) or 'ends at once'}"
    assert [r["rank"] for r in rows] == [c["rank"] for c in told["clocks"]]
    not_aligned = [r["rank"] for r in rows if r["state"] != "aligned"]
    assert not not_aligned, f"{what}: clocks {not_aligned} are not aligned"
    offsets, drifts = errors_of(told, rows)
    # In a short recording, the drift is only known up to the ends' errors over the recording's length.
    most_ppm = 1e6 * 2 * MOST_ERROR_NS / (told["step_ns"] * 6)
    assert max(drifts) <= most_ppm, f"{what}: a drift is {max(drifts):.1f} ppm off"
    assert max(offsets) <= MOST_ERROR_NS, f"{what}: a clock is {max(offsets) / 1000:.1f} us off"
    print(f"{what}: every clock within {max(offsets) / 1000:.2f} us of the truth")


def check_hopeless(stepscope, make_trace, folder, ranks, seed):
    """Ranks see ends up to 500 us late, partly by a constant of their own: the stated errors must hold."""
    told = simulate(make_trace, folder, ranks, seed, ["--end-jitter", "400", "--end-bias", "100"])
    rows = answer(stepscope, folder / "job")
    offsets, _ = errors_of(told, rows)
    usual = sum(r["error_middle"] for r in rows) / ranks  # error of the mean that all clocks are compared with
    for row, error in zip(rows, offsets):
        known = MOST_ERROR_NS if row["state"] == "aligned" else row["error_middle"] + usual
        assert error <= known, (f"{ranks} ranks, seed {seed}: the clock of rank {row['rank']} is called {row['state']} "
                                f"and is {error / 1000:.1f} us off, more than {known / 1000:.1f}")
    states = sorted({r["state"] for r in rows})
    print(f"{ranks} ranks, seed {seed}, ends up to 500 us late: {max(offsets) / 1000:.1f} us off, called {', '.join(states)}")


def main(stepscope, make_trace, folder, *ranks):
    for count in map(int, ranks or ("8", "64")):
        for seed in (1, 2):
            for ends in ([], ["--end-jitter", "20"]):
                check_exact(stepscope, make_trace, pathlib.Path(folder), count, seed, ends)
            check_hopeless(stepscope, make_trace, pathlib.Path(folder), count, seed)


if __name__ == "__main__":
    main(*sys.argv[1:])
