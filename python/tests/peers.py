"""The tools that read Kineto's files, as bench/peer_setup.py installs them: HTA, and the TensorBoard plugin's parser."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import pytest

from program import PROGRAM, ROOT

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "stepscope-bench"
PYTHON = CACHE / "venv" / "bin" / "python"

PLUGIN = """
import collections, json, sys, tempfile
from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.run_generator import RunGenerator
with tempfile.TemporaryDirectory() as folder:
    data = RunProfileData.parse("worker0", None, sys.argv[1], folder)
    profile = RunGenerator("worker0", None, data).generate_run_profile()
kernels = {} if data.kernel_stat is None else data.kernel_stat["count"].to_dict()
print(json.dumps({
    "steps": sorted(set(data.steps_names)),
    "kernels": kernels,
    "ops": {op.name: op.calls for op in data.op_list_groupby_name},
    "views": [view.name for view in profile.views],
}))
"""

HTA = """
import contextlib, json, sys
with contextlib.redirect_stdout(sys.stderr):
    from hta.trace_analysis import TraceAnalysis
    analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="/", include_last_profiler_step=True)
    analysis.t.decode_symbol_ids(use_shorten_name=False)
    rows = analysis.t.get_trace(0)
def count(category):
    return {str(name): int(number) for name, number in rows[rows["s_cat"] == category]["s_name"].value_counts().items()}
print(json.dumps({
    "steps": sorted(name for name in count("user_annotation") if name.startswith("ProfilerStep")),
    "kernels": count("kernel"),
    "ops": count("cpu_op"),
}))
"""


def asked(package: str, question: str, path: pathlib.Path) -> dict:
    """The tool's output for the file; skips the test if the tool is not installed."""
    if not PYTHON.exists() or subprocess.run([PYTHON, "-c", f"import {package}"], capture_output=True).returncode != 0:
        pytest.skip(f"{package} is not installed; tools/python-tests.sh installs it where the package index can be reached")
    done = subprocess.run([PYTHON, "-W", "ignore", "-c", question, path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout))


def plugin(path: pathlib.Path) -> dict:
    return asked("torch_tb_profiler", PLUGIN, path)


def hta(path: pathlib.Path) -> dict:
    return asked("hta", HTA, path)


def validate(path: pathlib.Path) -> None:
    program = PROGRAM if os.path.exists(PROGRAM) else "stepscope"
    done = subprocess.run([program, "validate", path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
