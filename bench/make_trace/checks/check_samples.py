"""Generates the committed samples again and compares them with what is committed, unpacked: zlib versions differ.

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


def main():
    program, source, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run([source / "tools/generate_samples.sh", program, folder], check=True)
    samples = source / "examples/samples"
    committed = {p.relative_to(samples) for p in samples.rglob("*") if p.is_file()}
    wanted = {p for p in committed if str(p).startswith("generated_")}
    written = {p.relative_to(folder) for p in folder.rglob("*") if p.is_file()}
    assert wanted and wanted == written, wanted ^ written
    different = [str(p) for p in sorted(wanted) if content(samples / p) != content(folder / p)]
    assert not different, f"run tools/generate_samples.sh and commit: {different}"


main()
