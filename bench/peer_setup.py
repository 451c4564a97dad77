"""Installs the tools that stepscope is compared with, from PyPI into the cache folder; each may be missing, with a reason."""
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSTALL_LIMIT_S = 600


@dataclass(frozen=True)
class Peer:
    """`needs` lists what its import needs; the package's other dependencies are left out on purpose."""

    key: str
    title: str
    package: str
    needs: tuple
    program: str
    rounds: int
    demanded: float  # how many times faster stepscope has to be; 0: no demand


# HTA 0.5.0 stops with a TypeError in pandas 3. Reading a file needs neither JupyterLab nor TensorBoard.
PEERS = (
    Peer("hta", "HTA, TraceAnalysis()", "HolisticTraceAnalysis==0.5.0",
         ("pandas<3", "numpy", "networkx", "plotly", "pydot", "psutil", "pyyaml"), "hta_parse.py", 1, 100),
    Peer("plugin", "TensorBoard plugin, parse and profile", "torch-tb-profiler==0.4.3", ("pandas<3", "numpy"),
         "plugin_load.py", 1, 40),
    Peer("json", "Python json.load", "", (), "json_load.py", 5, 8),
    Peer("orjson", "orjson.loads", "orjson", (), "orjson_load.py", 5, 0),
)

# The only package at hand that carries a recent simdjson as one header and one source file.
SIMDJSON_PACKAGE = "fastsimdjson==0.8.0"


class Peers:
    """`missing` maps a key to the reason; `versions` holds the installed versions."""

    def __init__(self, cache, say):
        self.cache = Path(cache)
        self.python = self.cache / "venv" / "bin" / "python"
        self.say = say
        self.missing = {}
        self.versions = {}

    def prepare(self, only=()):
        """Installs the peers of these keys, or all."""
        wanted = [peer for peer in PEERS if peer.package and (not only or peer.key in only)]
        if not self.python.exists():
            done = attempt([sys.executable, "-m", "venv", str(self.cache / "venv")])
            if done:
                shutil.rmtree(self.cache / "venv", ignore_errors=True)
                self.missing = {peer.key: done for peer in wanted}
                self.python = Path(sys.executable)
                return
        for peer in wanted:
            self.install(peer)
            if peer.key == "hta":
                self.fetch_hta_tests(peer)
        self.versions = self.installed()

    def install(self, peer):
        """Installs a peer unless it can be imported already."""
        if attempt([str(self.python), "-c", imports_of(peer.program)]) == "":
            return
        self.say(f"  installing {peer.package}")
        for words in (["--no-deps", peer.package], [*peer.needs]):
            failed = attempt([str(self.python), "-m", "pip", "install", "-q", *words]) if words else ""
            if failed:
                self.missing[peer.key] = failed
                return
        failed = attempt([str(self.python), "-c", imports_of(peer.program)])
        if failed:
            self.missing[peer.key] = f"installed, but does not import: {failed}"

    def installed(self):
        done = subprocess.run([str(self.python), "-m", "pip", "list", "--format", "json",
                               "--disable-pip-version-check"], capture_output=True, text=True, check=False)
        try:
            return {item["name"].lower(): item["version"] for item in json.loads(done.stdout)}
        except (ValueError, KeyError, TypeError):
            return {}

    def argv(self, peer, path):
        return [str(self.python), str(ROOT / "bench/peers" / peer.program), str(path)]

    def newest_simdjson(self, compiler):
        """Path of bench_simdjson built against the newest simdjson; None, with a reason in `missing`, if that fails."""
        folder = self.cache / "simdjson"
        program = folder / "bench_simdjson"
        source = ROOT / "bench/limits_simdjson.cpp"
        if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
            return program
        self.say(f"  building simdjson from {SIMDJSON_PACKAGE}")
        folder.mkdir(parents=True, exist_ok=True)
        failed = self.fetch_simdjson(folder) or attempt(
            [compiler, "-std=c++20", "-O3", "-DNDEBUG", "-march=native", f"-I{folder}", str(source),
             str(folder / "simdjson.cpp"), "-o", str(program)])
        if failed:
            self.missing["simdjson"] = failed
            return None
        return program

    def fetch_hta_tests(self, peer):
        """Extracts the tests from HTA's source archive."""
        folder = self.cache / "hta-tests"
        if folder.exists():
            return
        with tempfile.TemporaryDirectory() as where:
            failed = self.source_archive(peer.package, where)
            archives = list(Path(where).glob("*.tar.gz"))
            if not archives:
                self.missing["hta-tests"] = failed or "no source archive came"
                return
            found = files_of(archives[0], r"[^/]+/tests/\w+\.py")
        folder.mkdir(parents=True)
        for name, content in found.items():
            (folder / name).write_bytes(content)

    def source_archive(self, package, folder):
        return attempt([str(self.python), "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(folder), package])

    def fetch_simdjson(self, folder):
        """Extracts only these two files from the package's source archive; returns why it failed, or "" if it did not."""
        if (folder / "simdjson.cpp").exists() and (folder / "simdjson.h").exists():
            return ""
        failed = self.source_archive(SIMDJSON_PACKAGE, folder)
        archives = sorted(folder.glob("*.tar.gz"))
        if not archives:
            return failed or "no source archive came"
        for name, content in files_of(archives[-1], r"[^/]+/vendor/simdjson\.(h|cpp)").items():
            (folder / name).write_bytes(content)
        wanted = folder / "simdjson.h", folder / "simdjson.cpp"
        return "" if all(path.exists() for path in wanted) else "the source archive does not hold simdjson"


def files_of(archive, pattern):
    """The contents of an archive's files whose path matches, by base name."""
    with tarfile.open(archive) as opened:
        return {os.path.basename(member.name): opened.extractfile(member).read() for member in opened.getmembers()
                if member.isfile() and re.fullmatch(pattern, member.name)}


def imports_of(program):
    """The import lines of a program under bench/peers."""
    text = (ROOT / "bench/peers" / program).read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if re.match(r"(import|from) ", line))


def attempt(argv):
    """Runs a command; returns '' when it worked, else its last error line without addresses and folders."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=INSTALL_LIMIT_S, check=False,
                              stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return f"not done after {INSTALL_LIMIT_S} s"
    except OSError as error:
        return error.strerror or "could not be started"
    if done.returncode == 0:
        return ""
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    errors = [line for line in lines if "rror" in line]
    return without_places((errors or lines or ["it said nothing"])[-1].strip())[:200]


def without_places(text):
    """Removes addresses and absolute paths, which mean nothing on another machine."""
    return re.sub(r"(?<![\w.$])/(?:[^\s/:'\"]+/)+", "…/", re.sub(r"\w+://\S+", "the package index", text))


if __name__ == "__main__":  # peer_setup.py CACHE_FOLDER KEY ...
    peers = Peers(sys.argv[1], print)
    peers.prepare(sys.argv[2:])
    for key, reason in peers.missing.items():
        print(f"  {key} was left out: {reason}")
