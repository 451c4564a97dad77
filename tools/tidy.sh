#!/bin/sh
# Runs clang-tidy on the C++ files of src/ and the headers they include, except tests and files that need Python's or PyTorch's
# headers. .clang-tidy lists the checks. The files of a folder are checked together, in a quarter of the time; DEEP=1 checks each
# file alone, which also finds includes that are missing, and adds the static analyzer, which takes several times as long as all
# other checks.
#   tools/tidy.sh [FILE...]        default: all; files are checked alone
# clang-tidy is pinned and from PyPI: Debian's version 19 also walks the system's headers, which takes four times as long.
set -eu
cd "$(dirname "$0")/.."
version=23.1.4
tidy=build/tidy-venv/bin/clang-tidy
if ! "$tidy" --version 2>/dev/null | grep -q -F "$version"; then
  python3 -m venv build/tidy-venv
  build/tidy-venv/bin/python -m pip --disable-pip-version-check install --quiet "clang-tidy==$version"
fi
unity=ON
[ -z "${DEEP:-}$*" ] || unity=OFF
cmake --preset clang -B build/tidy -DSTEPSCOPE_TESTS=OFF -DSTEPSCOPE_BENCH=OFF -DSTEPSCOPE_UNITY=$unity -DSTEPSCOPE_UNIT_FILES=24 >/dev/null
cmake --build build/tidy --target generated/analyze/texts.h >/dev/null
[ $# -gt 0 ] || set -- $(sed -n 's|^ *"file": "\('"$PWD"'/src/.*\)".*|\1|p; s|^ *"file": "\(.*/Unity/.*\)".*|\1|p' build/tidy/compile_commands.json)
checks=-bugprone-suspicious-include # a folder's files are included in one
[ -n "${DEEP:-}" ] || checks=$checks,-clang-analyzer-*
echo "tidy: $# compiled files"
printf '%s\n' "$@" | xargs -P "${JOBS:-$(nproc)}" -n 1 "$tidy" -p build/tidy --quiet --warnings-as-errors='*' "--checks=$checks"
