"""The package for C++: installs it, builds examples/cpp against it, runs them and counts what they recorded.

    cpp_test.py BUILD_FOLDER PATH_TO_STEPSCOPE
"""

import collections
import csv
import io
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def events(program, recording):
    """How many events there are, by name."""
    run(program, "validate", recording)
    rows = csv.DictReader(io.StringIO(run(program, "export", recording, "--what", "events", "--format", "csv", "-o", "-")))
    return collections.Counter(row["name"] for row in rows)


def expect(found, wanted, where):
    for name, count in wanted.items():
        if found[name] != count:
            sys.exit(f"{where}: {found[name]} × {name}, expected {count}; there are {dict(found)}")


def main(build, program):
    program = os.path.abspath(program)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run("cmake", "--install", build, "--prefix", folder / "installed", "--component", "collect")
        run("cmake", "-S", ROOT / "examples" / "cpp", "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={folder / 'installed'}",
            "-DCMAKE_BUILD_TYPE=Release")
        run("cmake", "--build", folder / "build")
        recording = folder / "pipeline.stepscope"
        run(folder / "build" / "pipeline", recording)
        steps = {f"ProfilerStep#{step}": 1 for step in range(5)}
        expect(events(program, recording), {**steps, "load": 5, "wait for a batch": 5, "compute": 5, "queue": 10, "[memory]": 10},
               "pipeline")
        if not (folder / "build" / "train").exists():
            print("train was left out: no libtorch is installed")
            return
        recording = folder / "train.stepscope"
        run(folder / "build" / "train", recording)
        expect(events(program, recording), {"aten::addmm": 8, "aten::relu": 4, "aten::cross_entropy_loss": 4, "AddmmBackward0": 8},
               "train")


if __name__ == "__main__":
    main(*sys.argv[1:])
