#!/bin/sh
# Writes the generated samples of examples/samples again, byte for byte. The snapshot needs the simulated allocator of ../shared/tools.
# usage: tools/generate_samples.sh MAKE_TRACE [FOLDER]
set -eu

make_trace=${1:?usage: generate_samples.sh MAKE_TRACE [FOLDER]}
folder=${2:-$(dirname "$0")/../examples/samples}

sample() {
  name=$1
  shift
  "$make_trace" --out "$folder/generated_$name.json.gz" --truth "$folder/generated_$name.truth.json" \
    --steps 4 --layers 6 --shapes --stacks "$@"
}

sample healthy --memory
sample slow_input --slow-input 20
sample item_sync --host-cost 3 --item-sync 24
sample tiny_kernels --hidden 512 --host-cost 2 --tiny-kernels 300

"$make_trace" --out "$folder/generated_exposed_comm" --gzip --truth "$folder/generated_exposed_comm.truth.json" \
  --steps 4 --layers 6 --shapes --stacks --ranks 2 --tokens 1536 --exposed-comm --clock-skew 300 --clock-drift 20

root=$(dirname "$0")/..
if [ -f "$root/../shared/tools/make_snapshot.py" ]; then
  python3 "$root/test/snapshot/faulty.py" leak 3 -o "$folder/generated_leak_oom.pickle" --truth "$folder/generated_leak_oom.truth.json" >/dev/null
  gzip -9 -n -f "$folder/generated_leak_oom.pickle"
else
  echo "generate_samples.sh: generated_leak_oom is skipped: ../shared/tools/make_snapshot.py is absent" >&2
fi
