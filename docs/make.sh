#!/bin/sh
# Writes the pages that are printed from the program's own lists. A test compares them with the program.
set -eu
cd "$(dirname "$0")/.."
program=${STEPSCOPE:-build/release/stepscope}
if [ -z "${STEPSCOPE:-}" ]; then
  tools/install-deps.sh build
  cmake --preset release >/dev/null
  cmake --build --preset release --target stepscope
fi
"$program" docs analyses > docs/analyses.md
echo "docs/analyses.md is written."
