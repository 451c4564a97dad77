"""Generates the committed samples and test traces again and compares their unpacked text with the committed files: zlib versions differ.

usage: check_samples.py MAKE_TRACE SOURCE_FOLDER FOLDER
"""
import gzip
import pathlib
import shutil
import subprocess
import sys


def content(path):
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def check(script, committed, program, folder):
    folder.mkdir(parents=True)
    skipped = subprocess.run([script, program, folder], check=True, stderr=subprocess.PIPE, text=True).stderr
    sys.stderr.write(skipped)
    wanted = {p.relative_to(committed) for p in committed.rglob("generated_*") if p.is_file()}
    wanted |= {p.relative_to(committed) for ranks in committed.glob("generated_*/") for p in ranks.iterdir()}
    wanted = {p for p in wanted if f"{p.name.split('.')[0]} is skipped" not in skipped}
    written = {p.relative_to(folder) for p in folder.rglob("*") if p.is_file()}
    assert wanted and wanted == written, wanted ^ written
    different = [str(p) for p in sorted(wanted) if content(committed / p) != content(folder / p)]
    assert not different, f"run {script} and commit: {different}"


def main():
    program, source, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
    shutil.rmtree(folder, ignore_errors=True)
    check(source / "tools/generate_samples.sh", source / "examples/samples", program, folder / "samples")
    check(source / "test/data/generate.sh", source / "test/data", program, folder / "data")


main()
