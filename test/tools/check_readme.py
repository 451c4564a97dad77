"""Runs every command line of the Markdown files that begins with `stepscope` or `build/release/stepscope`, as a reader would
who copies it. Usage: check_readme.py PATH_TO_STEPSCOPE FILE...
In a ```console block commands follow "$ ", and the lines below a command must occur in its output, in order: runs of blanks count
as one, "…" stands for any text. Files in examples (trace.json.gz, traces/, before/, …) are samples under these names.
`record`, `run`, `attach`, `try` and `tune` need PyTorch: python/tests/profiler/outside_test.py, python/tests/trial and python/tests/tune test them.
`serve` runs until it is stopped: test/serve tests it."""

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLES = os.path.join(ROOT, "examples", "samples")
BEFORE, AFTER = "mlp_loader_in_main.pt.trace.json.gz", "mlp_two_workers.pt.trace.json.gz"
RANKS = os.path.join(SAMPLES, "generated_exposed_comm")
PFW = b'[\n{"id":0,"name":"open64","cat":"POSIX","pid":7,"tid":7,"ts":10,"dur":5,"ph":"X","args":{"hhash":"a"}}\n]\n'


def stage(folder, program):
    """Puts the files that examples name into `folder`."""
    at = lambda *names: os.path.join(folder, *names)
    os.makedirs(at("build/release"))
    for name in ("stepscope", "build/release/stepscope"):
        os.symlink(os.path.abspath(program), at(name))
    os.symlink(os.path.join(ROOT, "examples"), at("examples"))
    for name in ("traces", "main", "change"):
        os.symlink(RANKS, at(name))
    for side, sample in (("before", BEFORE), ("after", AFTER), ("nightly", BEFORE)):
        os.mkdir(at(side))
        shutil.copy(os.path.join(SAMPLES, sample), at(side))
    of = {"trace": "generated_item_sync.json.gz", "before": BEFORE, "after": AFTER, "main": BEFORE, "change": AFTER, "new": AFTER, "tonight": AFTER}
    for name, sample in of.items():
        os.symlink(os.path.join(SAMPLES, sample), at(name + ".json.gz"))
    for rank, name in enumerate(sorted(os.listdir(RANKS))):
        os.symlink(os.path.join(RANKS, name), at(f"rank{rank}.json.gz"))
    with gzip.open(at("trace.json.gz")) as packed, open(at("trace.json"), "wb") as out:
        shutil.copyfileobj(packed, out)
    with gzip.open(at("io.pfw.gz"), "wb") as out:
        out.write(PFW)
    shutil.copy(os.path.join(ROOT, "test/corpus/recording_fuzz/ops.stepscope"), at("run.stepscope"))
    with gzip.open(os.path.join(SAMPLES, "generated_leak_oom.pickle.gz")) as packed, open(at("mem.pickle"), "wb") as out:
        shutil.copyfileobj(packed, out)


def blocks(text):
    """(language, text) of the code blocks: between fences, or indented by four spaces."""
    fenced = re.findall(r"^```([a-z]*)\n(.*?)^```", text, re.M | re.S)
    rest = re.sub(r"^```[a-z]*\n.*?^```", "", text, flags=re.M | re.S)
    return fenced + [("", re.sub(r"^    ", "", block, flags=re.M)) for block in re.findall(r"(?:^ {4}.*\n)+", rest, re.M)]


def commands(text):
    """(command, the lines of its output that the text shows)."""
    for language, block in blocks(text):
        for line in block.replace("\\\n", " ").splitlines():
            if language == "console" and not line.startswith("$ "):
                shown.append(line)
                continue
            line = line.removeprefix("$ ")
            if re.match(r"(build/release/)?stepscope (?!record|run|attach|try|tune|serve)", line):
                shown = []
                yield line, shown


def absent(shown, output):
    """The first shown line that is missing in the output after the previous shown lines; None if all are there."""
    output, at = " ".join(output.split()), 0
    for line in shown:
        for piece in line.split("…"):
            piece = " ".join(piece.split())
            found = output.find(piece, at)
            if found < 0:
                return line
            at = found + len(piece)
    return None


def runnable(line):
    """The line without what this machine lacks (jq) or what would write outside the folder."""
    if " completion " in line:
        line = line.partition(">")[0]
    return line if shutil.which("jq") else re.sub(r"\| jq .*", "| cat", line)


def is_of_a_sample(line):
    """Whether the trace is a sample. Other traces have placeholder names: tables may be empty, and `gate` may have any result."""
    return "examples/" in line


def main(program, files):
    failed = seen = 0
    with tempfile.TemporaryDirectory() as folder:
        stage(folder, program)
        environment = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"], COLUMNS="100")
        for file in files:
            with open(os.path.join(ROOT, file), encoding="utf-8") as opened:
                lines = list(commands(opened.read()))
            for line, shown in lines:
                seen += 1
                done = subprocess.run(["bash", "-o", "pipefail", "-c", runnable(line)], cwd=folder, env=environment,
                                      capture_output=True, timeout=120)
                output = done.stdout.decode()
                missing = absent(shown, output)
                fine = (0, 1, 3) if line.startswith("stepscope gate") and not is_of_a_sample(line) else (0,)
                wrong = (f"ends with {done.returncode}" if done.returncode not in fine else
                         "shows no rows" if "\n  no rows\n" in output and is_of_a_sample(line) else
                         f"does not print '{missing}'" if missing else "")
                if wrong:
                    failed += 1
                    print(f"{file}: `{line}` {wrong}: {done.stderr.decode().strip()}")
    print(f"{seen} commands ran, {failed} failed")
    return 1 if failed or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
