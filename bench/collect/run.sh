#!/bin/bash
# Builds the Python package as users get it, measures the cost of recording a PyTorch program with stepscope and with
# torch.profiler, and writes bench/COLLECT.md; `make bench` does so too.
#   bench/collect/run.sh [OPTIONS of bench/collect/cost.py, e.g. --turns 3 -o /tmp/COLLECT.md]
# Needs PyTorch, which bench/package.sh installs. Without PyTorch it says so and exits.
# Takes about half an hour. Nothing else should run meanwhile.
set -euo pipefail
cd "$(dirname "$0")/../.."

python=$(bench/package.sh)
if [ -z "$python" ]; then
  echo "bench: what recording costs was left out, as there is no PyTorch" >&2
  exit 0
fi

exec "$python" bench/collect/cost.py "$@"
