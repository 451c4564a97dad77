#!/bin/sh
# Builds the Python package, installs it into build/python-venv and runs its tests and the example notebook.
#   tools/python-tests.sh [PYTEST OPTIONS]
# The build is the debug build, with checks on: it takes its objects from ccache when `make test` ran with CCACHE_NOHASHDIR=1,
# as .ci/run does, since compiler and flags are the same and only the build folder's name differs.
set -eu
cd "$(dirname "$0")/.."
tools/install-deps.sh test
venv=build/python-venv
export PIP_DISABLE_PIP_VERSION_CHECK=1 CCACHE_NOHASHDIR=1 CXX="${CXX:-c++}"

[ -x $venv/bin/python ] || python3 -m venv $venv
if ! cmp -s python/requirements-test.txt $venv/installed.txt; then
  $venv/bin/python -m pip install --quiet -r python/requirements-test.txt
  cp python/requirements-test.txt $venv/installed.txt
fi
CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)} $venv/bin/python -m pip install --quiet --no-build-isolation --no-deps --force-reinstall \
  --config-settings=build-dir=build/python --config-settings=cmake.build-type=Debug .
PATH="$PWD/$venv/bin:$PATH" $venv/bin/python -m pytest -p no:cacheprovider -q "$@"
