#!/bin/sh
# Checks the collector of NVIDIA GPUs against torch.profiler, in processes of their own: training (five times each), device memory, CUDA
# graphs, Triton kernels, several tools at once. For a machine with an NVIDIA GPU, a compiler and a Python with PyTorch for CUDA. Runs
# unattended, for at most nine minutes once it is built; writes one Markdown table to RESULT (default: gpu-check.md). A check that fails, hangs
# or finds no time is a line of that table; the others go on.
#
#   test/gpu/run.sh [RESULT]          PYTHON=python3 names the Python
#
# STEPSCOPE_PACKAGE names a folder with a package built elsewhere for that Python, STEPSCOPE_TESTS a built stepscope_tests; then
# nothing is built.
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
package=${STEPSCOPE_PACKAGE:-$work/package}
tests=${STEPSCOPE_TESTS:-$work/build/stepscope_tests}
if [ -z "${STEPSCOPE_PACKAGE:-}" ]; then
  echo "run.sh: building the package" >&2
  "$python" -m pip install --quiet --no-deps --target "$package" "$root"
fi
if [ -z "${STEPSCOPE_TESTS:-}" ]; then
  echo "run.sh: building the tests" >&2
  cmake -S "$root" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSTEPSCOPE_BENCH=OFF >"$work/build.log"
  cmake --build "$work/build" --target stepscope_tests >>"$work/build.log" || echo "run.sh: the tests do not build" >&2
fi

deadline=$(($(date +%s) + 540))

cupti=$("$python" -c '
import torch
torch.zeros(1, device="cuda")
paths = {line.split()[-1] for line in open("/proc/self/maps") if "libcupti.so" in line}
print(min(paths, default=""))')
[ -z "$cupti" ] || export STEPSCOPE_REAL_CUPTI="$cupti"
echo "run.sh: the collector's own tests, with this machine's CUPTI" >&2
timeout 120 "$tests" --gtest_filter='*Cupti*' --gtest_brief=1 --gtest_output="json:$work/tests.json" >&2 || true

PYTHONPATH="$package" "$python" -m stepscope.profiler.prepare >&2
# check CHECK PROFILER ROUND
check() {
  output=$work/$1.$2.$3
  left=$((deadline - $(date +%s)))
  [ $left -gt 0 ] || { echo "no time was left for it" >"$output.log" && return; }
  PYTHONPATH="$package" timeout $((left < 60 ? left : 60)) "$python" "$root/test/gpu/workload.py" "$1" "$2" "$output.json" >"$output.log" 2>&1 || {
    echo "run.sh: $1 under $2 failed:" >&2
    tail -n 5 "$output.log" >&2
    rm -f "$output.json"
  }
}
for name in memory graph triton; do
  echo "run.sh: $name" >&2
  for profiler in torch stepscope; do check $name $profiler 1; done
done
for round in 1 2 3 4 5; do
  echo "run.sh: training, round $round of 5" >&2
  for profiler in torch stepscope; do check training $profiler $round; done
done

{
  echo "# GPU check"
  echo
  "$python" -c '
import torch
print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}")'
  echo "CUPTI: ${cupti:-not loaded by PyTorch}"
  echo
} >"$result"
status=0
"$python" "$root/test/gpu/compare.py" "$work" >>"$result" || status=1
cat "$result"
exit $status
