"""What half and double of each constant of the advice change: writes bench/CONSTANTS.md.

    cmake --preset release && ninja -C build/release stepscope make_trace advice_sensitivity
    python3 bench/explain/explain.py --sources G --seeds 4 --first-seed 251 --traces DIR --output DIR.md
    python3 bench/explain/constants.py DIR/manifest

DIR holds simulated jobs, faulty and repaired, half a gigabyte per seed; its manifest has their rules and savings.
"""
import argparse
import datetime
import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
KEYS = ("another", "missed", "alarms")


def changes(sums, as_is):
    return [sums[key] - as_is[key] for key in KEYS]


def signed(number):
    return f"{number:+d}" if number else "0"


def document(answer):
    as_is = answer["as_is"]
    rows = [(one["name"], changes(one["half"], as_is), changes(one["double"], as_is)) for one in answer["constants"]]
    moving = [row for row in rows if any(row[1]) or any(row[2])]
    moving.sort(key=lambda row: (-max(abs(row[1][0]) + abs(row[1][2]), abs(row[2][0]) + abs(row[2][2])), -max(abs(row[1][1]), abs(row[2][1])), row[0]))
    still = sorted(row[0] for row in rows if row not in moving)
    lines = [
        "# What the constants of the advice decide", "",
        f"Written by `bench/explain/constants.py` on {datetime.date.today().isoformat()}. Each constant of `src/advise/rules/constants.h` was halved "
        f"and doubled alone, on {answer['faulty']} simulated recordings with a planted cause and {answer['healthy']} repaired twins. As they are, the "
        f"first finding is another one in {as_is['another']} faulty recordings, its range misses the measured saving in {as_is['missed']} of the others, and "
        f"{as_is['alarms']} twins have a notable finding of the planted kind. The table says by how many recordings each number changes.", "",
        f"{len(still)} of {len(rows)} constants change nothing: at half or double their value every answer is as right as before. "
        "The simulation knows nothing of Python lines, and little of programs without a device, so constants of rules for those are among them.", "",
        "| constant | halved: another first | range missed | alarms | doubled: another first | range missed | alarms |",
        "|---|---:|---:|---:|---:|---:|---:|"]
    for name, half, double in moving:
        lines.append(f"| {name} | " + " | ".join(signed(number) for number in (*half, *double)) + " |")
    lines += ["", "Without any change: " + ", ".join(still) + "."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "release" / "bench" / "advice_sensitivity")
    parser.add_argument("--output", type=Path, default=ROOT / "bench" / "CONSTANTS.md")
    options = parser.parse_args()
    said = subprocess.run([str(options.program), str(options.manifest)], check=True, stdout=subprocess.PIPE).stdout
    options.output.write_text(document(json.loads(said)))


if __name__ == "__main__":
    main()
