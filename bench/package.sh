#!/bin/bash
# Builds the Python package as users get it into build/bench-venv, with the PyTorch of tools/pypi-torch.sh (or Debian's), and prints the
# path of that Python. Without a PyTorch it says so and prints nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
export PIP_DISABLE_PIP_VERSION_CHECK=1 CCACHE_NOHASHDIR=1

python=$(tools/pypi-torch.sh)
if [ -z "$python" ] && /usr/bin/python3 -c 'import torch.profiler, numpy' 2>/dev/null; then
  python=/usr/bin/python3
fi
if [ -z "$python" ]; then
  echo "bench: there is no PyTorch here: tools/install-deps.sh torch installs Debian's" >&2
  exit 0
fi

echo "bench: building the Python package" >&2
venv=build/bench-venv
if [ "$("$venv/bin/python" -c 'import sys; print(sys._base_executable)' 2>/dev/null)" != \
     "$("$python" -c 'import sys; print(sys._base_executable)')" ]; then
  rm -rf "$venv"
  "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet scikit-build-core nanobind typing-extensions >&2
  "$python" -c 'import torch, pathlib; print(pathlib.Path(torch.__file__).parent.parent)' \
    >"$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch.pth"
fi
CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)} "$venv/bin/python" -m pip install --quiet --no-build-isolation --no-deps --force-reinstall \
  --config-settings=build-dir=build/bench-python . >&2
"$venv/bin/python" -m stepscope.profiler.prepare >&2 # or the first measurement would be torch.profiler's
echo "$PWD/$venv/bin/python"
