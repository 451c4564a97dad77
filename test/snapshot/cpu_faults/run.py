"""Records each program of this folder on the CPU and prints the first findings of the report.

run.py PROGRAM [--python PYTHON] [--write DIR]      PYTHON: e.g. what tools/pypi-torch.sh prints; DIR: where the traces stay
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from planted import findings  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--python", default=sys.executable, help="one whose PyTorch has Kineto: without it, no memory is recorded")
    parser.add_argument("--write", metavar="DIR")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.write or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("losses_kept", "growing_cache", "deep_mlp", "healthy_images", "healthy_text"):
            trace, begin = folder / f"{name}.pt.trace.json", time.monotonic()
            subprocess.run([options.python, str(HERE / f"{name}.py"), str(trace)], check=True, stderr=subprocess.DEVNULL)
            print(f"{name}: recorded in {time.monotonic() - begin:.1f} s")
            for place, finding in enumerate(findings(options.program, str(trace)), 1):
                print(f"    {place}. {finding['id']}: {finding['title']}")


if __name__ == "__main__":
    sys.exit(main())
