#!/bin/sh
# Builds the Python package, installs it into build/python-venv and runs its tests and the example notebooks. Then runs the
# profiler's tests again, at the same time under two PyTorches: Debian's, and the one of tools/pypi-torch.txt.
#   tools/python-tests.sh [PYTEST OPTIONS]
# This is the debug build, with checks on. It takes its objects from ccache when `make test` ran with CCACHE_NOHASHDIR=1 and
# CCACHE_BASEDIR, as in .ci/run: compiler and flags are the same, only the build folder differs.
set -eu
cd "$(dirname "$0")/.."
tools/install-deps.sh test torch
venv=build/python-venv
export PIP_DISABLE_PIP_VERSION_CHECK=1 CCACHE_NOHASHDIR=1 CCACHE_BASEDIR="$PWD" CXX="${CXX:-c++}"

[ -x $venv/bin/python ] || python3 -m venv $venv
if ! cmp -s python/requirements-test.txt $venv/installed.txt; then
  $venv/bin/python -m pip install --quiet -r python/requirements-test.txt
  cp python/requirements-test.txt $venv/installed.txt
fi
CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)} $venv/bin/python -m pip install --quiet --no-build-isolation --no-deps --force-reinstall \
  --config-settings=build-dir=build/python --config-settings=cmake.build-type=Debug .
cache=${XDG_CACHE_HOME:-$HOME/.cache}/stepscope-bench
python3 bench/peer_setup.py "$cache" hta plugin # the tools that read exported files; half a minute, once
# A test that hangs reports where: Python's handler of SIGABRT prints the stacks of all threads.
pytest() {
  python=$1 && shift
  PATH="$PWD/$venv/bin:$PATH" timeout --signal=ABRT --kill-after=10 1500 "$python" -m pytest -p no:cacheprovider -q "$@"
}
# The tests that count threads, and those that a run of others beside them would disturb, run alone.
if [ $# -gt 0 ]; then
  pytest $venv/bin/python "$@"
else
  pytest $venv/bin/python -n 2 python/tests --ignore=python/tests/profiler --ignore=python/tests/trial --ignore-glob='*collect_*'
  pytest $venv/bin/python python/tests/profiler python/tests/trial python/tests/collect_*_test.py
fi

# Frames and notebooks once more with the last pandas that keeps texts as objects.
old=build/pandas-2
[ -d $old/pandas ] || $venv/bin/python -m pip install --quiet --target $old --no-deps "pandas<3" pytz tzdata python-dateutil six
[ $# -gt 0 ] || PYTHONPATH="$PWD/$old" pytest $venv/bin/python \
  python/tests/columns_test.py python/tests/events_test.py python/tests/tables_test.py python/tests/hta_frames_test.py \
  python/tests/hta_filters_test.py python/tests/notebook_test.py

built=$($venv/bin/python -c 'import stepscope, pathlib; print(pathlib.Path(stepscope.__file__).parent)')
suffix() { "$1" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))'; }

# torch_home NAME PYTHON FOLDER: a virtual environment of that Python, with the package, that also sees the packages in FOLDER.
torch_home() {
  home=build/torch-$1
  if ! [ -x "$home/bin/python" ]; then
    "$2" -m venv "$home"
    "$home/bin/python" -m pip install --quiet pytest
    echo "$3" >"$("$home/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch.pth"
  fi
  if [ "$(suffix "$home/bin/python")" = "$(suffix $venv/bin/python)" ]; then
    ln -sfn "$built" "$("$home/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/stepscope"
  else
    "$home/bin/python" -m pip install --quiet scikit-build-core nanobind typing-extensions
    CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)} "$home/bin/python" -m pip install --quiet --no-build-isolation --no-deps --force-reinstall \
      --config-settings=build-dir="$home-build" --config-settings=cmake.build-type=Debug .
  fi
}
profiler_tests() {
  pytest "build/torch-$1/bin/python" python/tests/profiler python/tests/collect_*_test.py
}

pypi=$(tools/pypi-torch.sh)
if [ -n "$pypi" ]; then
  torch_home pypi "$pypi" "$("$pypi" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
else
  echo "python-tests: the tests under a PyTorch from PyPI were left out" >&2
fi
debian=$(/usr/bin/python3 -c 'import torch; print("yes")' 2>/dev/null || true)
[ -z "$debian" ] || torch_home debian /usr/bin/python3 /usr/lib/python3/dist-packages

# Debian's, then those that try changes and tune: about as long as the others under the PyTorch from PyPI.
debian_and_trials() {
  failed=0
  [ -z "$debian" ] || profiler_tests debian >build/torch-debian.log 2>&1 || failed=$?
  [ -z "$pypi" ] || pytest build/torch-pypi/bin/python python/tests/trial python/tests/tune >build/torch-trials.log 2>&1 || failed=$?
  return $failed
}

# Two run at once: tests wait more than they compute. Under one of them PyTorch has one thread: two of each would wait for each other.
debian_and_trials &
beside=$!
status=0
[ -z "$pypi" ] || OMP_NUM_THREADS=1 profiler_tests pypi >build/torch-pypi.log 2>&1 || status=$?
wait $beside || status=$?
for log in build/torch-*.log; do
  [ ! -f "$log" ] || { echo "$log:"; cat "$log"; }
done
exit $status
