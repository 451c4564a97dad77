#!/bin/sh
# Installs the Debian packages that stepscope is built with, if they are missing.
#   tools/install-deps.sh [build] [test] [torch] [web] [dev]     default: build
# build: what the program needs; test: also what the tests and the benchmarks need; torch: PyTorch, for the profiler's
# tests; web: the browser for the page's tests; dev: also clang and its tools.
set -eu

build="g++ make cmake ninja-build pkg-config libboost1.81-dev libfmt-dev libisal-dev libsimdjson-dev libsqlite3-dev libzstd-dev zlib1g-dev"
test="ccache python3 python3-dev python3-venv libgtest-dev libbenchmark-dev libcli11-dev zstd liburing-dev libaio-dev libhdf5-dev libmpich-dev mpich libjemalloc2 libtcmalloc-minimal4"
torch="python3-torch libtorch-dev"
web="chromium"
dev="clang-19 clang-format-19 libclang-rt-19-dev"

wanted=""
for group in "${@:-build}"; do
  case $group in
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $build $test" ;;
    torch) wanted="$wanted $torch" ;;
    web) wanted="$wanted $web" ;;
    dev) wanted="$wanted $build $test $dev" ;;
    *) echo "install-deps: '$group' is not a group; the groups are build, test, torch, web and dev" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install-deps: this is not a Debian system, so nothing was installed; the build needs what Debian calls:$wanted" >&2
  exit 0
fi

missing=""
for package in $wanted; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] && continue
  case " $missing " in *" $package "*) ;; *) missing="$missing $package" ;; esac
done
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" != 0 ]; then
  if command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    as_root="sudo"
  else
    echo "install-deps: these packages are missing and you may not install them; ask for:$missing" >&2
    exit 1
  fi
fi

echo "install-deps: installing$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 "$@" >"$log" 2>&1 </dev/null; }
# shellcheck disable=SC2086  # a list of names
if ! { apt install --no-install-recommends $missing || { apt update && apt install --no-install-recommends $missing; }; }; then
  tail -n 20 "$log" >&2
  echo "install-deps: apt-get could not install:$missing (its last lines are above)" >&2
  exit 1
fi
