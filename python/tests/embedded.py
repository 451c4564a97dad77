"""What tests of the page inside of other programs use: Chromium, as web/test/embedded.mjs drives it."""

import json
import os
import shutil
import subprocess

import pytest

from program import ROOT

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or ""
PICTURES = ROOT / "out" / "embedded"


def look(address, name, mode="light"):
    """What the frame at that address shows; pictures of it are in out/embedded."""
    node = shutil.which("node")
    if not node or not CHROMIUM:
        pytest.skip("there is no Chromium, or no Node to drive it")
    if not (ROOT / "web" / "node_modules" / "playwright-core").is_dir():
        pytest.skip("`npm ci` was not run in web/")
    PICTURES.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([node, "test/embedded.mjs", address, str(PICTURES / name), mode], cwd=ROOT / "web", text=True,
                          env={**os.environ, "CHROMIUM": CHROMIUM}, capture_output=True, timeout=180)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
