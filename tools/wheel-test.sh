#!/bin/sh
# Installs wheels of build/wheels into fresh virtual environments and uses them with nothing else in PATH: no compiler, no other tools.
# The wheel for the Python of tools/pypi-torch.sh also records ops of that PyTorch.
#   tools/wheel-test.sh [PYTHON...]        default: the oldest and the newest CPython that a wheel was built for
set -eu
cd "$(dirname "$0")/.."
sample=$PWD/examples/samples/generated_slow_input.json.gz
[ $# -gt 0 ] || set -- $(ls build/wheels | sed -n 's/.*-cp3\([0-9]*\)-manylinux.*/\1/p' | sort -n | sed -n '1p;$p' | uniq | sed "s|.*|$PWD/build/wheel-venv/cp3&/bin/python|")

tag() { "$1" -c 'import sys; print("cp%d%d" % sys.version_info[:2])'; }
with_torch=$(tools/pypi-torch.sh)

for python in "$@"; do
  tag=$(tag "$python")
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  "$python" -m venv "$folder/venv"
  "$folder/venv/bin/python" -m pip --disable-pip-version-check install --quiet --no-index --no-deps build/wheels/stepscope-*-"$tag"-"$tag"-manylinux*.whl
  clean() { (cd "$folder" && env -i HOME="$folder" PATH="$folder/venv/bin" "$@"); }

  clean stepscope report "$sample" >"$folder/report.txt"
  clean stepscope report "$sample" -o report.html 2>/dev/null
  clean python - "$sample" <<'PYTHON'
import shutil, sys
import stepscope
from stepscope.profiler import profile, record_function

assert not any(shutil.which(name) for name in ("c++", "g++", "gcc", "cc", "clang", "clang++", "ld"))
trace = stepscope.open(sys.argv[1])
verdicts = [text.split("\n\n")[0].split() for text in (trace.report().to_text(), open("report.txt").read())]
assert verdicts[0] == verdicts[1], "the module and the program answer differently"
assert len(trace.analyze("kernels")[0]) > 0
with profile(activities=[], path="run.stepscope"):  # ranges alone need no PyTorch and no compiler
    with record_function("a range"):
        pass
assert "a range" in str(stepscope.open("run.stepscope").analyze("user_annotations")[0])

mapped = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
strays = [path for path in mapped if not path.startswith(sys.prefix) and any(name in path for name in ("fmt", "simdjson", "isal", "sqlite", "zstd"))]
assert not strays, f"libraries of the system stand in for bundled ones: {strays}"
PYTHON
  echo "wheel-test: $tag on $("$python" --version): installed, reported and recorded without a compiler"
  if [ -n "$with_torch" ] && [ "$(tag "$with_torch")" = "$tag" ]; then
    purelib() { "$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }
    purelib "$with_torch" >"$(purelib "$folder/venv/bin/python")/torch.pth"
    clean python - <"tools/wheel_test_torch.py"
    echo "wheel-test: $tag recorded ops with the observer of the wheel"
  else
    echo "wheel-test: $tag: ops were not recorded: PyTorch is not installed for this Python (tools/pypi-torch.sh)"
  fi
  rm -rf "$folder"
done
