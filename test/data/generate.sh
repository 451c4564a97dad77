#!/bin/sh
# Writes the generated traces of this folder again, byte for byte: traces for cases that examples/samples lacks.
# usage: test/data/generate.sh MAKE_TRACE [FOLDER]
set -eu

make_trace=${1:?usage: generate.sh MAKE_TRACE [FOLDER]}
folder=${2:-$(dirname "$0")}

trace() {
  name=$1
  shift
  "$make_trace" --out "$folder/generated_$name" --steps 3 --hidden 512 "$@"
}

trace 2021_workers.json.gz --layers 2 --dialect 2021 --slow-input 20 --loader-workers 2 --stacks --shapes
trace rocm_checkpointing.json.gz --layers 2 --vendor rocm --checkpointing --tokens 32768 --stacks --shapes --memory
trace xpu_optimizer.json.gz --layers 2 --vendor xpu --dialect us --unfused-optimizer 20 --shapes
trace fp32.json.gz --layers 2 --dialect us --fp32 --shapes
trace inference.json.gz --layers 2 --inference --dialect us --pageable-copy 8 --nonzero 4 --streams 2 --memory
trace cold_start.json.gz --layers 1 --cold-start 2000 --shapes
trace lost_records.json.gz --layers 1 --drop-device 0.9 --item-sync 8 --shapes
trace tensor_parallel --gzip --layers 1 --ranks 2 --vendor rocm --tensor-parallel --exposed-comm --network-scale 4 --clock-skew 300
trace straggler --gzip --layers 1 --ranks 3 --straggler 2:3:compute --clock-skew 300 --dialect 2021
