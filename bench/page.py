#!/usr/bin/env python3
"""Measures the served page on generated recordings and writes bench/PAGE.md.

Needs build/release (`cmake --preset release && ninja -C build/release stepscope make_trace`), Chromium and `npm ci` in web.
The largest recording takes 12 GB of disk while it is measured, and its server 7 GiB of memory.
"""
import argparse
import datetime
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from inputs import ROOT
from measure import machine, say
from results import loads

OUT = ROOT / "bench/PAGE.md"
RELEASE = ROOT / "build/release"
JOBS = (("2.6 million events in one rank", ["--events-target", "2600000"]),
        ("10 million events in one rank", ["--events-target", "10000000"]),
        ("50 million events in 8 ranks", ["--ranks", "8", "--events-target", "50000000"]))
REPORT_EVENTS = 200_000
REPORT_LIMIT_MB = 3


def made(folder, name, flags):
    path = folder / name
    command = [str(RELEASE / "bench/make_trace"), *flags, "--out", str(path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip().splitlines()[-1]
    return path, said


def measured(folder, at, flags):
    path, said = made(folder, f"job{at}" if "--ranks" in flags else f"job{at}.json", flags)
    say(said)
    run = subprocess.run(["node", "bench/budgets.mjs", str(RELEASE / "stepscope"), str(path)], cwd=ROOT / "web", check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    subprocess.run(["rm", "-r", str(path)], check=True)
    return [f"`make_trace {' '.join(flags)}`: {said}. {run.stdout.splitlines()[0]}", "", *run.stdout.splitlines()[2:], ""]


def report_file(folder):
    path, said = made(folder, "report.json", ["--events-target", str(REPORT_EVENTS)])
    page = folder / "report.html"
    subprocess.run([str(RELEASE / "stepscope"), "report", str(path), "-o", str(page)], check=True, capture_output=True)
    size = page.stat().st_size / 1e6
    return [f"`stepscope report -o report.html` of {said}: {size:.2f} MB. The budget is {REPORT_LIMIT_MB} MB.", ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path.home() / ".cache", help="where recordings lie while they are measured")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    of, begin = machine(), datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    lines = ["# The page", "",
             f"Written by `bench/page.py` on {begin}, commit {of['commit']}; nothing in it is typed by hand.", "",
             f"- Machine: {of['cores']} cores ({of['cpu']}), {of['memory'] / 2**30:.0f} GiB of memory. The server, Chromium (without a GPU) and "
             "the measuring program share the cores.",
             f"- Load average (1, 5, 15 minutes) at the start: {loads(os.getloadavg())}.",
             "- A page of 1280 × 800 pixels at 1×. `web/bench/budgets.mjs` says what each line is.", ""]
    with tempfile.TemporaryDirectory(dir=folder) as name:
        for at, (title, flags) in enumerate(JOBS):
            lines += [f"## {title}", "", *measured(Path(name), at, flags)]
        lines += ["## The report file", "", *report_file(Path(name))]
    OUT.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    say(f"The results are in {OUT}")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"page.py: {error}")
