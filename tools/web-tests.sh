#!/bin/sh
# Checks the page: types, unit tests, whether web/bundle is what the sources build, and every page in Chromium: with the stand-in
# server, and with the program.
#   tools/web-tests.sh [PROGRAM]        default: build/dev/stepscope
# Needs Node 20 or newer with npm, and Chromium.
set -eu
cd "$(dirname "$0")/.."
program=$(realpath "${1:-build/dev/stepscope}")
if ! command -v npm >/dev/null || [ "$(node -p 'parseInt(process.versions.node)')" -lt 20 ]; then
  echo "web-tests: SKIPPED: the page's tests need Node 20 or newer, with npm" >&2
  exit 0
fi
cd web
npm ci --no-audit --no-fund
npm run check
STEPSCOPE=$program npm run pages

out=$(mktemp -d)
"$program" serve ../examples/samples >"$out/address" &
server=$!
trap 'kill $server; rm -r "$out"' EXIT
until [ -s "$out/address" ]; do sleep 0.1; kill -0 $server; done
STEPSCOPE=$program STEPSCOPE_PAGE=$(head -n 1 "$out/address") SHOTS=../out/served npm run pages -- test/pages.ts
