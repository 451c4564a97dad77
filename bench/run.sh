#!/bin/bash
# Builds stepscope as users get it, measures it and its peers, and writes bench/RESULTS.md, bench/IO.md, bench/SNAPSHOTS.md if
# ../shared is there and, if there is a PyTorch, bench/COLLECT.md: `make bench`.
#   bench/run.sh [OPTIONS of bench/measure.py, e.g. --no-peers; --no-collect leaves bench/COLLECT.md as it is]
# Inputs (about 8 GB) and peers are kept in ${XDG_CACHE_HOME:-~/.cache}/stepscope-bench; removing that folder is safe.
# The first run makes them (some minutes); a run takes about a quarter of an hour, most of it in the slow peers.
# Nothing else should run meanwhile: the document reports how much of the machine others used.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in cmake ninja python3 c++; do
  command -v "$tool" >/dev/null || { echo "bench: $tool is missing; tools/install-deps.sh test installs it" >&2; exit 1; }
done

case " $* " in
  *" -h "* | *" --help "*) exec python3 bench/measure.py --help ;;
esac

echo "bench: building" >&2
cmake --preset release >/dev/null
targets="stepscope stepscope_io make_trace snapshot_cost bench_simdjson"
build_ninja=$(cat build/release/build.ninja)
case $build_ninja in *bench_limits*) targets="$targets bench_limits" ;; esac
# shellcheck disable=SC2086  # a list of targets
ninja -C build/release $targets >build/release/bench-build.log || { tail -n 20 build/release/bench-build.log >&2; exit 1; }

options=()
for option in "$@"; do [ "$option" = --no-collect ] || options+=("$option"); done
status=0
python3 bench/measure.py "${options[@]}" || status=$?
python3 bench/snapshots.py "${options[@]}" || status=$?
python3 bench/io.py "${options[@]}" || status=$?
case " $* " in
  *" --no-collect "* | *" --quick "*) ;;
  *) bench/collect/run.sh || status=$? ;;
esac
exit "$status"
