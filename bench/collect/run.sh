#!/bin/bash
# Builds the Python package as users get it, measures what recording a PyTorch program costs beside torch.profiler, and writes
# bench/COLLECT.md; `make bench` does so too.
#   bench/collect/run.sh [OPTIONS of bench/collect/cost.py, e.g. --turns 3 -o /tmp/COLLECT.md]
# Needs PyTorch: the one from PyPI that tools/python-tests.sh and bench/explain keep, or Debian's. Without one it says so and is done.
# Takes about ten minutes, in which nothing else should run.
set -euo pipefail
cd "$(dirname "$0")/../.."

pypi=${XDG_CACHE_HOME:-$HOME/.cache}/stepscope-bench/explain-venv/bin/python
for python in "$pypi" /usr/bin/python3 ""; do
  [ -z "$python" ] || ! "$python" -c 'import torch.profiler' 2>/dev/null || break
done
if [ -z "$python" ]; then
  echo "bench: what recording costs was left out, as there is no PyTorch; make explain-bench installs one" >&2
  exit 0
fi

echo "bench: building the Python package" >&2
venv=build/bench-venv
export PIP_DISABLE_PIP_VERSION_CHECK=1 CCACHE_NOHASHDIR=1
if [ "$("$venv/bin/python" -c 'import sys; print(sys._base_executable)' 2>/dev/null)" != \
     "$("$python" -c 'import sys; print(sys._base_executable)')" ]; then
  rm -rf "$venv"
  "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet scikit-build-core nanobind typing-extensions
  "$python" -c 'import torch, pathlib; print(pathlib.Path(torch.__file__).parent.parent)' \
    >"$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch.pth"
fi
CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)} "$venv/bin/python" -m pip install --quiet --no-build-isolation --no-deps --force-reinstall \
  --config-settings=build-dir=build/bench-python .

exec "$venv/bin/python" bench/collect/cost.py "$@"
