#!/bin/sh
# Runs each fuzz target of build/asan for SECONDS_EACH seconds (60) on test/corpus/TARGET, JOBS (all cores) at a time. New inputs
# go to build/asan/fuzz/corpus, failing inputs to build/asan/fuzz/crash-*; the checked-in corpus is not changed.
set -eu
cd "$(dirname "$0")/.."
if [ "${1:-}" = --one ]; then
  target=$2 name=$(basename "$2") seconds=${SECONDS_EACH:-60}
  mkdir -p "build/asan/fuzz/corpus/$name"
  dict=""
  [ -f "test/corpus/$name.dict" ] && dict="-dict=test/corpus/$name.dict"
  echo "fuzzing $name for $seconds s"
  if ! "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix=build/asan/fuzz/ -print_final_stats=1 $dict \
      "build/asan/fuzz/corpus/$name" "test/corpus/$name" >"build/asan/fuzz/$name.log" 2>&1; then
    tail -n 40 "build/asan/fuzz/$name.log" >&2
    echo "run-fuzzers: $name failed; the input is named above, run it with: $target FILE" >&2
    exit 255  # xargs starts no other
  fi
  echo "$name: $(grep -e number_of_executed_units "build/asan/fuzz/$name.log" || true)"
  exit
fi
targets=$(find build/asan -maxdepth 1 -name "${FUZZ_TARGETS:-*_fuzz}" -type f -perm -u+x 2>/dev/null | sort)
[ -n "$targets" ] || { echo "run-fuzzers: there is no fuzz target in build/asan; build with: make fuzz" >&2; exit 1; }
echo "$targets" | xargs -P "${JOBS:-$(nproc)}" -n 1 "$0" --one
