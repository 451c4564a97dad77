"""Where a copy runs: its environment, and a throwaway view of the working folder, so that it harms nothing."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

from stepscope.trial import _processes

SITE = Path(__file__).resolve().parent / "site"
SEED = 2024
OVERLAY = """
set -e
mkdir -p "$1/up" "$1/work"
if ! mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/up,workdir=$1/work" "$2" 2>/dev/null; then
  mount -t tmpfs tmpfs "$1/work"
  mkdir "$1/work/up" "$1/work/work"
  mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/work/up,workdir=$1/work/work" "$2"
fi
cd "$2"
shift 2
exec "$@"
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class View:
    """Decides once how copies see the working folder."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.folder = os.getcwd()
        self.number = 0
        self.prefix = self.found_prefix()

    @property
    def is_throwaway(self) -> bool:
        return self.prefix is not None

    def found_prefix(self) -> list[str] | None:
        if any(letter in self.folder for letter in ',:\\"') or self.folder == "/" or self.holds_mounts():
            return None
        if str(self.scratch).startswith(self.folder + "/"):
            return None
        if shutil.which("unshare") is None or shutil.which("mount") is None:
            return None
        for options in (["--mount"], ["--mount", "--user", "--map-current-user", "--keep-caps"]):
            prefix = ["unshare", *options, "sh", "-c", OVERLAY, "sh"]
            command = [*prefix, str(self.place("probe")), self.folder, "true"]
            if subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False).returncode == 0:
                return prefix
        return None

    def holds_mounts(self) -> bool:
        """Whether something is mounted below the folder: an overlay would hide it."""
        try:
            points = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
        except (OSError, IndexError):
            return True
        return any(point.startswith(self.folder + "/") for point in points)

    def place(self, name: str) -> Path:
        path = self.scratch / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def command(self, words: list[str], name: str) -> list[str]:
        if self.prefix is None:
            return words
        return [*self.prefix, str(self.place(name)), self.folder, *words]


def site_environment() -> dict[str, str]:
    """This environment, in which every Python runs our sitecustomize first."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("STEPSCOPE_RECORD")}
    behind = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = f"{SITE}:{behind}" if behind else str(SITE)
    return environment


def copy_environment(name: str, temporary: Path, port: int) -> dict[str, str]:
    """For a copy that is thrown away: seeds, a temporary folder and a port of its own."""
    environment = site_environment()
    environment["STEPSCOPE_TRIAL_SEED"] = str(SEED)
    environment.setdefault("PYTHONHASHSEED", "0")
    environment["TMPDIR"] = str(temporary)
    environment[_processes.MARK] = name
    environment.setdefault("TORCHINDUCTOR_CACHE_DIR", str(temporary.parent / "inductor"))  # compiled once for all copies
    if "MASTER_PORT" in environment:
        environment["MASTER_PORT"] = str(port)
    environment["PET_MASTER_PORT"] = str(port)
    return environment


PORT_FLAGS = ("--master-port", "--master_port", "--rdzv-endpoint", "--rdzv_endpoint")


def with_port(words: list[str], port: int) -> list[str]:
    """torchrun's command line with another port, where it names one."""
    changed = list(words)
    for i, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag not in PORT_FLAGS:
            continue
        if equals:
            changed[i] = f"{flag}={moved(value, port)}"
        elif i + 1 < len(words):
            changed[i + 1] = moved(words[i + 1], port)
    return changed


def moved(value: str, port: int) -> str:
    host, colon, _ = value.rpartition(":")
    return f"{host}:{port}" if colon else str(port)


def spans_machines(words: list[str]) -> bool:
    """Whether torchrun is asked for more than one machine: its copies would have to start there too."""
    for i, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag in ("--nnodes", "--nnode"):
            return (value if equals else "".join(words[i + 1 : i + 2])).strip() not in ("1", "1:1")
    return False


