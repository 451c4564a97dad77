"""Headers of PyTorch versions that are not installed: only these parts of a wheel are downloaded, some 10 MB of 500."""

from __future__ import annotations

import json
import os
import platform
import struct
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stepscope-bench" / "torch-headers"
END = 1 << 20
"""Bytes at the end of a wheel that are read first; its directory is inside them, or the rest of it is read next."""
HEADERS = "torch/include/"
TIMEOUT = 120
"""Seconds without an answer after which a download fails."""


def headers(version: str, machine: str = platform.machine()) -> Path:
    """A zip file with the ``torch/include`` of that version's wheel; downloaded once."""
    kept = CACHE / f"torch-{version}-{machine}.zip"
    if kept.exists():
        return kept
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        wheel, part = Path(folder) / "wheel", Path(folder) / "part"
        download(address(version, machine, folder), wheel)
        with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as some:
            for member in whole.infolist():
                if member.filename.startswith(HEADERS):
                    some.writestr(member.filename, whole.read(member))
        part.rename(kept)
    return kept


def pip(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *words], check=True, stderr=subprocess.PIPE, text=True)


def address(version: str, machine: str, folder: str) -> str:
    """Where pip would download that version's wheel from; the headers are the same in the wheels of every CPython."""
    report = Path(folder) / "report.json"
    tags = [f"{tag}_{machine}" for tag in ("manylinux_2_28", "manylinux_2_17", "manylinux2014", "manylinux1")]
    pip(
        "install", "--quiet", "--dry-run", "--use-feature=fast-deps", "--ignore-installed", "--no-deps", "--only-binary=:all:",
        "--python-version=3.12", "--implementation=cp", *[f"--platform={tag}" for tag in tags],
        f"--target={folder}/none", f"--report={report}", f"torch=={version}",
    )  # fmt: skip
    return str(json.loads(report.read_text())["install"][0]["download_info"]["url"])


def download(url: str, wheel: Path) -> None:
    """Writes the directory of the wheel and its headers, which are neighbours, at their places into a file that is empty elsewhere."""
    with open(wheel, "wb") as file:

        def fetch(bytes_: str) -> tuple[int, int]:
            """Returns where these bytes begin, and the wheel's size."""
            with urllib.request.urlopen(urllib.request.Request(url, headers={"Range": f"bytes={bytes_}"}), timeout=TIMEOUT) as answer:
                if answer.status != 206:
                    raise OSError(f"the index does not send parts of a wheel, and {url} is too large as a whole")
                place, _, size = answer.headers["Content-Range"].removeprefix("bytes ").partition("/")
                first = int(place.partition("-")[0])
                file.seek(first)
                file.write(answer.read())
                file.flush()
                return first, int(size)

        first, size = fetch(f"-{END}")
        directory = start_of_directory(wheel)
        if directory < first:
            fetch(f"{directory}-{first - 1}")
        with zipfile.ZipFile(wheel) as whole:
            members = sorted(whole.infolist(), key=lambda member: member.header_offset)
        ours = [i for i, member in enumerate(members) if member.filename.startswith(HEADERS)]
        end = members[ours[-1] + 1].header_offset if ours[-1] + 1 < len(members) else directory
        fetch(f"{members[ours[0]].header_offset}-{end - 1}")


def start_of_directory(wheel: Path) -> int:
    with open(wheel, "rb") as file:
        file.seek(-END, os.SEEK_END)
        end = file.read()
    return int(struct.unpack_from("<I", end, end.rindex(b"PK\5\6") + 16)[0])
