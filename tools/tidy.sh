#!/bin/sh
# Runs clang-tidy on the C++ files of src/ and the headers they include, except tests and files that need Python's or PyTorch's
# headers. .clang-tidy lists the checks; DEEP=1 adds the static analyzer, which takes several times as long as all other checks.
#   tools/tidy.sh [FILE...]        default: all
# clang-tidy is pinned and from PyPI: Debian's version 19 also walks the system's headers, which takes four times as long.
set -eu
cd "$(dirname "$0")/.."
version=23.1.4
tidy=build/tidy-venv/bin/clang-tidy
if ! "$tidy" --version 2>/dev/null | grep -q -F "$version"; then
  python3 -m venv build/tidy-venv
  build/tidy-venv/bin/python -m pip --disable-pip-version-check install --quiet "clang-tidy==$version"
fi
cmake --preset clang -B build/tidy -DSTEPSCOPE_TESTS=OFF -DSTEPSCOPE_BENCH=OFF -DSTEPSCOPE_UNITY=OFF >/dev/null
cmake --build build/tidy --target generated/analyze/texts.h >/dev/null
[ $# -gt 0 ] || set -- $(sed -n 's|^ *"file": "'"$PWD"'/\(src/[^"]*\)".*|\1|p' build/tidy/compile_commands.json)
quick=--checks=-clang-analyzer-*
[ -z "${DEEP:-}" ] || quick=--checks=
echo "tidy: $# files"
printf '%s\n' "$@" | xargs -P "${JOBS:-$(nproc)}" -n 1 "$tidy" -p build/tidy --quiet --warnings-as-errors='*' $quick
