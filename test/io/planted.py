#!/usr/bin/env python3
"""Records train.py with each planted cause and checks the first finding of the report: planted.py STEPSCOPE [--python PYTHON] [CAUSE ...]

PYTHON has PyTorch and the package stepscope, e.g. what tools/pypi-torch.sh prints. Nothing else should run meanwhile: on busy
cores, loaders are late for other reasons. The data set (320 MB of disk) is made in the folder of --data.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The rule, and what its title must name.
FIRST = {
    "tiny_files": ("I02", "files and reads", "/tiny/#/*.img"),
    "slow_decode": ("I02", "Images.unpacked"),
    "no_workers": ("I01", "num_workers=0", "Images.smoothed"),
    "one_worker": ("I02", "Images.smoothed"),
    "lock": ("I02", "threads read, but never two at once", "/one/*.img"),
    "cold_cache": ("I02", "reads that the page cache does not have", "whole.bin"),
    "metadata": ("I02", "about names", "/one/*.img"),
    "checkpoint": ("I08", "training stands while files are written", "checkpoint.pt"),
    "logging": ("I09", "log.txt"),
}
NEVER = ("I01", "I02", "I03", "I04", "I08", "I09", "I11")


def findings(program, folder):
    told = subprocess.run([program, "report", str(folder), "-f", "json"], check=True, capture_output=True, text=True).stdout
    for report in json.loads(told)["reports"]:
        for table in report["tables"]:
            names = [column["name"] for column in table["columns"]]
            if table["title"] == "Findings":
                return [dict(zip(names, row)) for row in table["rows"]]
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("causes", nargs="*", default=["healthy", *FIRST])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--data", type=Path)
    options = parser.parse_intermixed_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as temporary:
        data = options.data or Path(temporary) / "data"
        for cause in options.causes:
            folder = Path(temporary) / cause
            subprocess.run([options.program, "record", "--io", "-o", str(folder), "--", options.python, str(HERE / "train.py"), str(data), cause],
                           check=True, capture_output=True)
            found = findings(options.program, folder)
            first = found[0] if found else {"id": "nothing", "title": ""}
            rule, *parts = FIRST.get(cause, ("",))
            right = first["id"] == rule and all(part in first["title"] for part in parts)
            if cause == "healthy":
                right = not any(finding["id"] in NEVER for finding in found)
            wrong += not right
            print(f"{'right' if right else 'WRONG'}  {cause}: {first['id']} {first['title']}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
