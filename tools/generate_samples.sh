#!/bin/sh
# Writes the generated samples of examples/samples again, byte for byte.
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
