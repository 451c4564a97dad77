"""Does stepscope recover the waits, transfers and skews of generated collectives? Simulates jobs whose clocks differ, asks
`stepscope show communication`, and compares with the simulator's own numbers.

    check_communication.py STEPSCOPE MAKE_TRACE FOLDER [SEEDS]
"""

import json
import pathlib
import shutil
import subprocess
import sys

RANKS = 8
JOBS = {
    "hidden": [],
    "after backward": ["--exposed-comm"],
    "a slow rank": ["--straggler", "3:4:compute"],
    "two sizes": ["--tensor-parallel", "--stacks"],
}
MOST_CLOCK_NS = 20_000


def tables(stepscope, folder):
    text = subprocess.run([stepscope, "show", "communication", folder, "--format", "json"], check=True,
                          capture_output=True, text=True).stdout
    found = {}
    for table in json.loads(text)["tables"]:
        names = [c["name"] for c in table["columns"]]
        found[table["title"]] = [dict(zip(names, row)) for row in table["rows"]]
    return found


def near(what, told, true, most):
    assert abs(told - true) <= most, f"{what}: {told} told, {true} true, more than {most} apart"


def median(values):
    return sorted(values)[(len(values) + 1) // 2 - 1]


def check_sizes(rows, truth):
    by_size = {}
    for c in truth["collectives"]:
        by_size.setdefault(c["bytes"], []).append(c)
    assert sorted(row["bytes"] for row in rows) == sorted(by_size), [row["bytes"] for row in rows]
    for row in rows:
        true = by_size[row["bytes"]]
        rounding = 2 * len(true)
        skews = [max(c["starts"]) - min(c["starts"]) for c in true]
        assert (row["count"], row["group_size"], row["span"]) == (len(true), RANKS, "several hosts"), row
        near("transfer", row["transfer"], sum(c["transfer_ns"] for c in true), rounding)
        near("wait", row["wait"], sum(max(c["starts"]) - s for c in true for s in c["starts"]), rounding * RANKS)
        near("skew_p50", row["skew_p50"], median(skews), MOST_CLOCK_NS)
        near("skew_max", row["skew_max"], max(skews), MOST_CLOCK_NS)
        assert row["skew_by"] == "clocks" and 0 < row["skew_error"] <= 2 * MOST_CLOCK_NS, row
        moved = row["bytes"] * len(true) / (sum(c["transfer_ns"] for c in true) * 1e-9)
        if row["no_rate"]:
            assert row["no_rate"] == "latency bound" and row["bus_rate"] is None, row
        else:
            near("bus_rate", row["bus_rate"] / (moved * 2 * (RANKS - 1) / RANKS), 1, 1e-3)


def check_exposed(ranks, places, truth, wholly):
    exposed = [0] * RANKS
    waits = [0] * RANKS
    for step in truth["steps"]:
        exposed[step["rank"]] += step["exposed_comm"]
        waits[step["rank"]] += step["comm_wait"]
    for row in ranks:
        rank = row["rank"]
        assert row["exposed"] == row["exposed_wait"] + row["exposed_transfer"], row
        assert row["unknown"] == 0 and row["exposed"] <= row["communication"], row
        rounding = 2 * row["collectives"]
        near(f"exposed of rank {rank}", row["exposed"], exposed[rank], rounding)
        if wholly:
            near(f"exposed wait of rank {rank}", row["exposed_wait"], waits[rank], rounding)
        else:
            assert row["exposed_wait"] <= waits[rank] + rounding, row
    for column in ("exposed", "exposed_wait", "exposed_transfer", "collectives"):
        assert sum(row[column] for row in places) == sum(row[column] for row in ranks), column


def check(stepscope, make_trace, folder, name, options, seed):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    truth = folder / "truth.json"
    subprocess.run([make_trace, "--ranks", str(RANKS), "--ranks-per-host", "4", "--steps", "6", "--layers", "3",
                    "--clock-skew", "1000000", "--seed", str(seed), *options, "--truth", str(truth), "--out",
                    str(folder / "job")], check=True, stdout=subprocess.DEVNULL)
    told, truth = tables(stepscope, folder / "job"), json.loads(truth.read_text())
    check_sizes(told["Collectives across ranks"], truth)
    places = told["Exposed communication by module"]
    check_exposed(told["Exposed communication"], places, truth, name == "after backward")
    if name == "two sizes":
        assert any(row["kind"] == "module" and row["issued_by"].count("/") > 0 for row in places), places


def main(stepscope, make_trace, folder, seeds="2"):
    for seed in range(1, int(seeds) + 1):
        for name, options in JOBS.items():
            try:
                check(stepscope, make_trace, pathlib.Path(folder), name, options, seed)
            except AssertionError as error:
                raise AssertionError(f"{name}, seed {seed}: {error}") from error
    print(f"{int(seeds) * len(JOBS)} jobs of {RANKS} ranks: waits, transfers and skews as they were")


if __name__ == "__main__":
    main(*sys.argv[1:])
