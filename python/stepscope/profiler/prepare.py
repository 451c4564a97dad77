"""``python -m stepscope.profiler.prepare``: has all that recording needs ready, e.g. in a container image: the observer of the installed PyTorch."""

from __future__ import annotations

import sys

from stepscope._errors import Error
from stepscope.profiler._observer import observer


def main() -> int:
    try:
        import torch

        print(f"stepscope: the observer for PyTorch {torch.__version__} is {observer(torch)}")
    except ImportError:
        print(f"stepscope: {sys.executable} has no PyTorch; run this with the Python of the program that will be recorded", file=sys.stderr)
        return 1
    except Error as error:
        print(f"stepscope: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
