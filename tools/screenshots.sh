#!/bin/sh
# Takes the pictures of docs/screenshots from a program that is built: every page of three runs.
#   tools/screenshots.sh [PROGRAM]        default: build/dev/stepscope
# One of the runs is not in this repository; without ../shared it is left out.
set -eu
cd "$(dirname "$0")/.."
program=$(realpath "${1:-build/dev/stepscope}")
tools/install-deps.sh web
[ -d web/node_modules ] || (cd web && npm ci --no-audit --no-fund)
runs="transformer_stacks_memory generated_exposed_comm"
paths="examples/samples"
if [ -d ../shared/traces/h100_vit ]; then
  paths="$paths ../shared/traces"
  runs="$runs h100_vit"
fi
out=$(mktemp -d)
# shellcheck disable=SC2086  # lists of words
"$program" serve $paths >"$out/address" &
server=$!
trap 'kill $server; rm -r "$out"' EXIT
until [ -s "$out/address" ]; do sleep 0.1; kill -0 $server; done
# shellcheck disable=SC2086
node web/tools/screenshots.mjs "$(head -n 1 "$out/address")" docs/screenshots $runs
