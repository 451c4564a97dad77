#!/bin/sh
# Keeps a Python with the PyTorch of tools/pypi-torch.txt in ${XDG_CACHE_HOME:-~/.cache}/stepscope-bench, for tests and benches. Takes two
# minutes once per version; removing that folder is safe. Prints the path of that Python, or only a message if it cannot be installed.
set -eu
home=${XDG_CACHE_HOME:-$HOME/.cache}/stepscope-bench/explain-venv
wanted=$(dirname "$0")/pypi-torch.txt
installed=$home/installed.txt
if ! cmp -s "$wanted" "$installed"; then
  echo "pypi-torch: installing PyTorch from PyPI into $home; two minutes, once per version" >&2
  { [ -x "$home/bin/python" ] || python3 -m venv "$home"; } >&2 &&
    PIP_DISABLE_PIP_VERSION_CHECK=1 "$home/bin/python" -m pip install --quiet -r "$wanted" >&2 && cp "$wanted" "$installed" || true
fi
if cmp -s "$wanted" "$installed" && "$home/bin/python" -c 'import torch, numpy' 2>/dev/null; then
  echo "$home/bin/python"
else
  echo "pypi-torch: PyTorch could not be installed from PyPI; with a connection, run this again" >&2
fi
