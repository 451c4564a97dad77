#!/bin/bash
# Makes docs/report.png: the first screen of the HTML report on a sample, drawn by headless Chromium. Look at it before committing it.
#   tools/report_picture.sh [PROGRAM]     PROGRAM: build/release/stepscope if not given; Debian's package chromium is needed
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${1:-build/release/stepscope}" report examples/samples/generated_item_sync.json.gz -o "$folder/report.html"
chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync \
  --hide-scrollbars --virtual-time-budget=10000 --user-data-dir="$folder/profile" --window-size=1280,790 --screenshot="$folder/report.png" "file://$folder/report.html"
mv "$folder/report.png" docs/report.png
