"""Records the samples: runs every example in an empty folder and packs its trace without names of this machine.

usage: python record.py [FOLDER]      FOLDER: where the samples go, samples/ beside this file by default
"""
import gzip
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RUNS = [  # sample name, script, further arguments
    ("mlp_loader_in_main", "mlp.py", ["0"]),
    ("mlp_two_workers", "mlp.py", ["2"]),
    ("cnn", "cnn.py", []),
    ("transformer_stacks_memory", "transformer.py", []),
]


def local_prefixes(folder):
    """Path prefixes of this machine, longest first."""
    paths = sysconfig.get_paths()
    prefixes = {str(folder), paths["purelib"], paths["platlib"], paths["stdlib"], sys.prefix, sys.base_prefix,
                str(pathlib.Path.home()), tempfile.gettempdir()}
    return sorted(prefixes, key=len, reverse=True)


def scrubbed(text, folder):
    text = re.sub(r'"host_name": "[^"]*"', '"host_name": "demo"', text)
    for prefix in local_prefixes(folder):
        text = text.replace(prefix + "/", "")
    return text


def check(text, folder):
    """Fails rather than writing a name of this machine into a sample."""
    for prefix in local_prefixes(folder):
        if len(prefix) > 4 and prefix in text:
            raise SystemExit(f"{prefix} is still in the trace")
    if re.search(rf'"{re.escape(socket.gethostname())}"', text):
        raise SystemExit("the host name is still in the trace")


def record(name, script, arguments, target):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        shutil.copy(HERE / script, folder)
        trace = f"{name}.pt.trace.json"
        subprocess.run([sys.executable, script, trace, *arguments], cwd=folder, check=True, stderr=subprocess.DEVNULL)
        text = scrubbed((folder / trace).read_text(), folder)
        check(text, folder)
    packed = target / f"{trace}.gz"
    packed.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{packed.name}: {packed.stat().st_size // 1000} kB")


def main():
    target = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE / "samples"
    target.mkdir(parents=True, exist_ok=True)
    for name, script, arguments in RUNS:
        record(name, script, arguments, target)


if __name__ == "__main__":
    main()
