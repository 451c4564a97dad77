"""Runs every command line of the Markdown files that begins with `stepscope` or `build/release/stepscope`, as a reader would
who copies it, and looks for every analysis in README.md's table. Usage: check_readme.py PATH_TO_STEPSCOPE FILE...
Programs that are recorded need PyTorch: `record`, `run` and `attach` are tried in python/tests/profiler/outside_test.py."""

import csv
import io
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def blocks(text):
    """Code blocks: between fences, or indented by four spaces."""
    fenced = re.findall(r"^```[a-z]*\n(.*?)^```", text, re.M | re.S)
    rest = re.sub(r"^```[a-z]*\n.*?^```", "", text, flags=re.M | re.S)
    return fenced + [re.sub(r"^    ", "", block, flags=re.M) for block in re.findall(r"(?:^ {4}.*\n)+", rest, re.M)]


def commands(text):
    for block in blocks(text):
        for line in block.replace("\\\n", " ").splitlines():
            if re.match(r"(build/release/)?stepscope (?!record|run|attach)", line):
                yield line


def unlisted(program):
    """Analyses that README.md does not name in its table."""
    listed = subprocess.run([program, "list", "--format", "csv"], capture_output=True, text=True, timeout=60, check=True)
    names = [row["name"] for row in csv.DictReader(io.StringIO(listed.stdout))]
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as readme:
        table = "".join(line for line in readme if line.startswith("| `"))
    return [name for name in names if f"`{name}`" not in table]


def main(program, files):
    failed = seen = 0
    for name in unlisted(program):
        failed += 1
        print(f"README.md: the table of analyses lacks `{name}`")
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "build/release"))
        for name in ("stepscope", "build/release/stepscope"):
            os.symlink(os.path.abspath(program), os.path.join(folder, name))
        os.symlink(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
        environment = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"])
        for file in files:
            with open(os.path.join(ROOT, file), encoding="utf-8") as opened:
                lines = list(commands(opened.read()))
            for line in lines:
                seen += 1
                done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, capture_output=True, timeout=120)
                empty = b"\n  no rows\n" in done.stdout
                if done.returncode != 0 or empty:
                    failed += 1
                    print(f"{file}: `{line}` {'shows no rows' if empty else f'ends with {done.returncode}'}: "
                          f"{done.stderr.decode().strip()}")
    print(f"{seen} commands ran, {failed} failed")
    return 1 if failed or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
