#!/bin/sh
# Keeps a Python with the current PyTorch and numpy from PyPI in ${XDG_CACHE_HOME:-~/.cache}/stepscope-bench, for tests and benches; two
# minutes, once, and removing that folder is safe. Prints the path of that Python, or says that it could not be installed and prints nothing.
set -eu
home=${XDG_CACHE_HOME:-$HOME/.cache}/stepscope-bench/explain-venv
if ! "$home/bin/python" -c 'import torch, numpy' 2>/dev/null; then
  echo "pypi-torch: installing PyTorch and numpy from PyPI into $home; two minutes, once" >&2
  { python3 -m venv "$home" && PIP_DISABLE_PIP_VERSION_CHECK=1 "$home/bin/python" -m pip install --quiet torch numpy; } >&2 || true
fi
if "$home/bin/python" -c 'import torch, numpy' 2>/dev/null; then
  echo "$home/bin/python"
else
  echo "pypi-torch: PyTorch could not be installed from PyPI; with a connection, run this again" >&2
fi
