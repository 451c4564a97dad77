#!/bin/bash
# Builds stepscope as users get it, plants causes in simulated and real programs, scores the advice for them, and writes
# bench/EXPLAIN.md: `make explain-bench`.
#   bench/explain/run.sh [OPTIONS of bench/explain/explain.py, e.g. --causes 1,9 --sources G]
# stepscope's own recorder records the real programs. They need PyTorch; bench/package.sh makes a Python with both. Nothing else
# should run meanwhile: the savings of real programs are measured.
set -euo pipefail
cd "$(dirname "$0")/../.."

for tool in cmake ninja python3 c++; do
  command -v "$tool" >/dev/null || { echo "explain: $tool is missing; tools/install-deps.sh test installs it" >&2; exit 1; }
done

case " $* " in
  *" -h "* | *" --help "*) exec python3 bench/explain/explain.py --help ;;
esac

echo "explain: building" >&2
cmake --preset release >/dev/null
mkdir -p build/release
ninja -C build/release stepscope make_trace advice_cost >build/release/explain-build.log ||
  { tail -n 20 build/release/explain-build.log >&2; exit 1; }

python=$(bench/package.sh)
exec python3 bench/explain/explain.py ${python:+--python "$python"} "$@"
