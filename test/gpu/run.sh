#!/bin/sh
# Checks the collector of NVIDIA GPUs against torch.profiler: the same program under both, five times each, in
# processes of their own; kernels, counts and times must agree. For a machine with an NVIDIA GPU, a compiler and
# a Python with PyTorch for CUDA. Runs unattended; writes a Markdown table to RESULT (default: gpu-check.md).
#
# Not tried yet: it was written without a GPU at hand. docs/gpu.md lists what was tried.
#
#   test/gpu/run.sh [RESULT]          PYTHON=python3 names the Python
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
result=${1:-gpu-check.md}
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null || {
  echo "run.sh: $python has no PyTorch that sees a GPU; set PYTHON to one that has" >&2
  exit 2
}
echo "run.sh: building" >&2
"$python" -m pip install --quiet --no-deps --target "$work/package" "$root"
cmake -S "$root" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSTEPSCOPE_BENCH=OFF >"$work/build.log"
cmake --build "$work/build" --target stepscope_tests >>"$work/build.log"

echo "run.sh: the collector's own tests, with this machine's CUPTI" >&2
cupti=$("$python" -c '
import torch
torch.zeros(1, device="cuda")
paths = {line.split()[-1] for line in open("/proc/self/maps") if "libcupti.so" in line}
print(min(paths, default=""))')
[ -z "$cupti" ] || export STEPSCOPE_REAL_CUPTI="$cupti"
"$work/build/stepscope_tests" --gtest_filter='*Cupti*' --gtest_brief=1

for round in 1 2 3 4 5; do
  echo "run.sh: round $round of 5" >&2
  "$python" "$root/test/gpu/workload.py" torch "$work/torch$round.json"
  PYTHONPATH="$work/package" "$python" "$root/test/gpu/workload.py" stepscope "$work/stepscope$round.json"
done

status=0
{
  echo "# GPU check"
  echo
  "$python" -c '
import torch
print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}")'
  echo "CUPTI: ${cupti:-not loaded by PyTorch}"
  echo
} >"$result"
"$python" "$root/test/gpu/compare.py" "$work"/torch?.json -- "$work"/stepscope?.json >>"$result" || status=1
cat "$result"
exit $status
