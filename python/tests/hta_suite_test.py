"""HTA's own tests, run against stepscope.hta in HTA's place. They come from HTA's source archive (bench/peer_setup.py fetches it), their
traces are those of ../shared/traces that HTA published under other names. STEPSCOPE_HTA_ITSELF=1 also runs them against HTA."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import peers
import pytest
from program import ROOT

TRACES = ROOT.parent / "shared" / "traces"
TESTS = peers.CACHE / "hta-tests"

FILES = {
    "amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz": "mi250_toy/rank0.json.gz",
    "critical_path/alexnet/trace.json.gz": "critical_path/simple_add.json.gz",  # a stand-in: setUp() opens one
    "critical_path/cuda_event_sync/event_sync_trace.json.gz": "critical_path/cuda_event_sync.json.gz",
    "critical_path/cuda_event_sync_multi_stream/event_sync_trace.json.gz": "critical_path/cuda_event_sync_multi_stream.json.gz",
    "critical_path/simple_add/benchmark_result_493459_1694039959_trace.json.gz": "critical_path/simple_add.json.gz",
    "df_index_resolver/df_index_resolver.json.gz": "v100_memory_events/rank1.json.gz",
    "ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz": "v100_ns_resolution/rank-0.1102.pt.trace.json.gz",
    "trace_filter/sampled_rank-0.json.gz": "two_ranks/rank-0.json.gz",
    "trace_filter/sampled_rank-1.json.gz": "two_ranks/rank-1.json.gz",
}

# Where HTA has what its tests import.
FACADE = {
    "trace_analysis": "from stepscope.hta import *",
    "common/trace": "from stepscope.hta import Trace\nPHASE_COUNTER = 'C'\nTrace.write_raw_trace = None  # patched by tests that lack their trace",
    "common/trace_filter": "from stepscope.hta import *",
    "common/trace_stack_filter": "from stepscope.hta import *",
    "common/trace_parser": "ParserBackend = _auto_detect_parser_backend = get_default_trace_parsing_backend = "
                           "set_default_trace_parsing_backend = type('One', (), {'JSON': 0, '__new__': lambda *_: 0})",
    "utils/utils": "from stepscope.hta import shorten_name",
    "analyzers/critical_path_analysis": "from stepscope.hta import *\nCPEdge = CPEdgeType = CriticalPathAnalysis = None",
}

MODULES = ("test_critical_path_analysis", "test_trace_analysis", "test_trace_filter", "test_trace_utils")

# All that HTA 0.5.0 passes with these traces; the other tests of these modules need traces that are not here.
PASSED = {
    "test_amd_trace", "test_critical_path_breakdown_and_save_restore", "test_ns_resolution_trace",
    "test_cpu_user_annotation_breakdown", "test_cpu_user_annotation_breakdown_with_allowlist", "test_gpu_user_annotation_breakdown",
    "test_no_frequent_cuda_kernel_sequences_found",
    "TestTraceFilters.testCPUOperatorFilter", "testCombinedOperatorFilter", "testCompositeFilter", "testFirstIterationFilter",
    "TestTraceFilters.testGPUKernelFilter", "testIterationFilter", "testNameFilter", "testNameFilterWithoutSymbolTable", "testRankFilter",
    "testTimeRangeFilter", "testUnderOperatorFilter", "TestTraceFiltersSyncEvents.testGPUKernelFilter", "test_shorten_name",
}
NOT_PASSED = {
    "test_critical_path_analysis_event_sync": "reads edges off the path: CPGraph has the path",
    "test_critical_path_analysis_event_sync_multistream": "reads edges off the path, and a private frame of them",
    "test_critical_path_basic_add": "expects HTA's numbers of nodes: nodes are pairs of event and end here",
    "test_critical_path_overlaid_trace": "counts edges off the path",
    "testIterationIndexFilter": "expects a frame without columns where nothing is selected: here it keeps its columns",
    "TestTraceFiltersSyncEvents.testCPUOperatorFilter": "writes a name's id into a query: here a name's id is the name",
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with HTA's tests and their traces, and a package `hta` that is stepscope.hta."""
    if not TRACES.is_dir():
        pytest.skip(f"{TRACES} is not there: it has the traces of HTA's tests")
    if not TESTS.is_dir():
        pytest.skip("HTA's tests are not there; tools/python-tests.sh fetches them where the package index can be reached")
    folder = tmp_path_factory.mktemp("suite")
    (folder / "tests").mkdir()
    for module in MODULES:
        (folder / "tests" / f"{module}.py").write_bytes((TESTS / f"{module}.py").read_bytes())
    for name, trace in FILES.items():
        path = folder / "tests" / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(TRACES / trace)
    for name, text in FACADE.items():
        path = folder / "facade" / "hta" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for package in {path.parent for path in (folder / "facade").rglob("*.py")} | {folder / "facade" / "hta"}:
        (package / "__init__.py").touch()
    (folder / "facade" / "tests").symlink_to(folder / "tests")
    return folder


RUN = """
import json, sys, unittest
class Result(unittest.TestResult):
    def addSuccess(self, test):
        passed.append(".".join(test.id().split(".")[-2:]))
passed = []
unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:]).run(Result())
json.dump(passed, sys.stderr)
"""


def passed(python: pathlib.Path | str, folder: pathlib.Path, path: pathlib.Path | None) -> set[str]:
    """The tests that pass, as CLASS.NAME."""
    env = {**os.environ, "PYTHONPATH": f"{folder / 'tests'}{os.pathsep}{path or folder}"}
    done = subprocess.run([python, "-W", "ignore", "-c", RUN, *MODULES], cwd=path or folder, env=env, text=True, capture_output=True, timeout=600)
    return set(json.loads(done.stderr[done.stderr.rfind("["):]))


def named(tests: set[str]) -> set[str]:
    """As the lists name them."""
    return {test if test in PASSED | set(NOT_PASSED) else test.split(".")[-1] for test in tests}


def test_what_hta_passes_passes_here(suite: pathlib.Path) -> None:
    found = named(passed(sys.executable, suite, suite / "facade"))
    assert not PASSED - found
    assert not found & set(NOT_PASSED), "they pass now: they belong into PASSED"
    assert not found - PASSED


@pytest.mark.skipif("STEPSCOPE_HTA_ITSELF" not in os.environ, reason="takes a minute; STEPSCOPE_HTA_ITSELF=1 runs it")
def test_hta_itself_passes_these(suite: pathlib.Path) -> None:
    (suite / "hta").symlink_to(next((peers.CACHE / "venv").glob("lib/python3*/site-packages/hta")))
    assert named(passed(peers.PYTHON, suite, None)) == PASSED | set(NOT_PASSED)
