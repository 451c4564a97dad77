#!/bin/sh
# Runs each fuzz target of build/asan for SECONDS_EACH seconds (60) on test/corpus/TARGET. New inputs go to
# build/asan/fuzz/corpus, failing inputs to build/asan/fuzz/crash-*; the checked-in corpus is not changed.
set -eu
cd "$(dirname "$0")/.."
seconds=${SECONDS_EACH:-60}
found=0
for target in build/asan/${FUZZ_TARGETS:-*_fuzz}; do
  [ -x "$target" ] || continue
  found=1
  name=$(basename "$target")
  mkdir -p "build/asan/fuzz/corpus/$name"
  dict=""
  [ -f "test/corpus/$name.dict" ] && dict="-dict=test/corpus/$name.dict"
  echo "fuzzing $name for $seconds s"
  if ! "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix=build/asan/fuzz/ -print_final_stats=1 $dict \
      "build/asan/fuzz/corpus/$name" "test/corpus/$name" >"build/asan/fuzz/$name.log" 2>&1; then
    tail -n 40 "build/asan/fuzz/$name.log" >&2
    echo "run-fuzzers: $name failed; the input is named above, run it with: $target FILE" >&2
    exit 1
  fi
  grep -e number_of_executed_units "build/asan/fuzz/$name.log" || true
done
[ $found = 1 ] || { echo "run-fuzzers: there is no fuzz target in build/asan; build with: make fuzz" >&2; exit 1; }
