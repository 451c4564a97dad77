"""PyTorch execution traces: the observer, and the file that it writes."""

from __future__ import annotations

import gzip
import json
import pathlib
from types import ModuleType
from typing import Any, Dict, Iterator, List

import pytest
from documented.asking import CPU, Trace, recorded, since, torch, with_option

pytestmark = [pytest.mark.filterwarnings("ignore"), since(2, 1)]


def work() -> None:
    with torch.profiler.record_function("mine"):
        torch.mm(torch.ones(2, 3), torch.ones(3, 4))


@pytest.fixture
def observer(profiler: ModuleType, tmp_path: pathlib.Path) -> Iterator[Any]:
    made = profiler.ExecutionTraceObserver()
    made.register_callback(str(tmp_path / "et.json"))
    yield made
    made.unregister_callback()


def written(folder: pathlib.Path) -> Trace:
    trace: Trace = json.loads((folder / "et.json").read_text())
    return trace


def nodes(folder: pathlib.Path, name: str) -> List[Dict[str, Any]]:
    return [node for node in written(folder)["nodes"] if node["name"] == name]


def attribute(node: Dict[str, Any], name: str) -> Any:
    return next((item["value"] for item in node["attrs"] if item["name"] == name), None)


def test_new_observer_is_not_registered(profiler: ModuleType) -> None:
    made = profiler.ExecutionTraceObserver()
    assert (made.is_registered, made.is_running()) == (False, False)


def test_register_gives_the_observer(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    made = profiler.ExecutionTraceObserver()
    try:
        assert made.register_callback(str(tmp_path / "et.json")) is made
        assert made.is_registered
    finally:
        made.unregister_callback()


def test_unregistered_observer(observer: Any) -> None:
    observer.unregister_callback()
    assert not observer.is_registered


def test_observer_may_be_unregistered_twice(observer: Any) -> None:
    observer.unregister_callback()
    observer.unregister_callback()


def test_output_file(observer: Any, tmp_path: pathlib.Path) -> None:
    assert observer.get_output_file_path() == str(tmp_path / "et.json")


def test_output_file_before_registering(profiler: ModuleType) -> None:
    assert profiler.ExecutionTraceObserver().get_output_file_path() is None


def test_registering_again_keeps_the_file(observer: Any, tmp_path: pathlib.Path) -> None:
    observer.register_callback(str(tmp_path / "other.json"))
    assert observer.get_output_file_path() == str(tmp_path / "et.json")


def test_running_between_start_and_stop(observer: Any) -> None:
    observer.start()
    running = observer.is_running()
    observer.stop()
    assert (running, observer.is_running()) == (True, False)


def test_observer_that_is_not_registered_does_not_run(profiler: ModuleType) -> None:
    made = profiler.ExecutionTraceObserver()
    made.start()
    assert not made.is_running()


def test_ops_are_nodes(observer: Any, tmp_path: pathlib.Path) -> None:
    observer.start()
    work()
    observer.stop()
    observer.unregister_callback()
    assert len(nodes(tmp_path, "aten::mm")) == 1


def test_ops_between_two_runs_are_left_out(observer: Any, tmp_path: pathlib.Path) -> None:
    x = torch.ones(2)
    for action in (torch.neg, torch.relu):
        observer.start()
        action(x)
        observer.stop()
        torch.sin(x)
    observer.unregister_callback()
    assert [len(nodes(tmp_path, f"aten::{name}")) for name in ("neg", "relu", "sin")] == [1, 1, 0]


def test_file_is_there_after_unregistering(observer: Any, tmp_path: pathlib.Path) -> None:
    observer.unregister_callback()
    assert (tmp_path / "et.json").exists()


def test_compressed_file(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    made = profiler.ExecutionTraceObserver().register_callback(str(tmp_path / "et.json.gz"))
    made.start()
    work()
    made.stop()
    made.unregister_callback()
    trace = json.loads(gzip.decompress((tmp_path / "et.json.gz").read_bytes()))
    assert "aten::mm" in {node["name"] for node in trace["nodes"]}


def traced(profiler: ModuleType, folder: pathlib.Path, **options: Any) -> Any:
    made = profiler.ExecutionTraceObserver().register_callback(str(folder / "et.json"))
    return recorded(profiler, work, execution_trace_observer=made, **options)


@with_option("execution_trace_observer")
def test_observer_of_a_profiler(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    traced(profiler, tmp_path)
    assert len(nodes(tmp_path, "aten::mm")) == 1


@with_option("execution_trace_observer")
def test_profiler_ends_its_observer(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    assert not traced(profiler, tmp_path).execution_trace_observer.is_registered


@with_option("execution_trace_observer")
def test_any_object_may_observe(profiler: ModuleType) -> None:
    seen: List[str] = []

    class Mine:
        def start(self) -> None:
            seen.append("start")

        def stop(self) -> None:
            seen.append("stop")

        def cleanup(self) -> None:
            seen.append("cleanup")

    recorded(profiler, work, execution_trace_observer=Mine())
    assert seen == ["start", "stop", "cleanup"]


@with_option("execution_trace_observer")
def test_observer_runs_in_active_steps_only(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    made = profiler.ExecutionTraceObserver().register_callback(str(tmp_path / "et.json"))
    steps = profiler.schedule(wait=1, warmup=1, active=1, repeat=1)
    with profiler.profile(activities=[CPU], schedule=steps, execution_trace_observer=made) as prof:
        for _ in range(4):
            work()
            prof.step()
    assert len(nodes(tmp_path, "aten::mm")) == 1


@with_option("execution_trace_observer")
def test_parent_of_a_node(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    traced(profiler, tmp_path)
    (node,), (outer,) = nodes(tmp_path, "aten::mm"), nodes(tmp_path, "mine")
    assert node["ctrl_deps"] == outer["id"]


@with_option("execution_trace_observer")
def test_shapes_of_a_node(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    traced(profiler, tmp_path)
    (node,) = nodes(tmp_path, "aten::mm")
    assert (node["inputs"]["shapes"], node["inputs"]["types"]) == ([[2, 3], [3, 4]], ["Tensor(float)", "Tensor(float)"])


@with_option("execution_trace_observer")
def test_outputs_of_a_node(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    traced(profiler, tmp_path)
    (node,) = nodes(tmp_path, "aten::mm")
    assert (node["outputs"]["shapes"], node["outputs"]["types"]) == ([[2, 4]], ["Tensor(float)"])


@with_option("execution_trace_observer")
def test_schema_of_a_node(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    traced(profiler, tmp_path)
    (node,) = nodes(tmp_path, "aten::mm")
    assert attribute(node, "op_schema") == "aten::mm(Tensor self, Tensor mat2) -> Tensor"


@with_option("execution_trace_observer")
def test_output_of_one_op_is_the_input_of_the_next(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    x = torch.ones(2)
    made = profiler.ExecutionTraceObserver().register_callback(str(tmp_path / "et.json"))
    recorded(profiler, lambda: torch.relu(torch.neg(x)), execution_trace_observer=made)
    first, second = nodes(tmp_path, "aten::neg")[0], nodes(tmp_path, "aten::relu")[0]
    assert first["outputs"]["values"][0][0] == second["inputs"]["values"][0][0] != 0


@with_option("execution_trace_observer")
def test_scope_of_a_range(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    traced(profiler, tmp_path)
    (node,) = nodes(tmp_path, "mine")
    assert attribute(node, "scope") == 7


def test_root_of_the_trace(observer: Any, tmp_path: pathlib.Path) -> None:
    observer.start()
    work()
    observer.stop()
    observer.unregister_callback()
    assert len(nodes(tmp_path, "[pytorch|profiler|execution_trace|process]")) == 1


def test_keys_of_the_trace(observer: Any, tmp_path: pathlib.Path) -> None:
    observer.unregister_callback()
    assert {"schema", "pid", "time", "start_ts", "nodes", "finish_ts"} <= set(written(tmp_path))


@since(2, 7)
def test_observer_of_the_environment(profiler: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENABLE_PYTORCH_EXECUTION_TRACE", "1")
    made = profiler.ExecutionTraceObserver.build_execution_trace_obs_from_env()
    path = pathlib.Path(made.get_output_file_path())
    made.unregister_callback()
    path.unlink()
    assert path.name.endswith(".et.json")


@since(2, 7)
def test_no_observer_of_the_environment(profiler: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENABLE_PYTORCH_EXECUTION_TRACE", raising=False)
    assert profiler.ExecutionTraceObserver.build_execution_trace_obs_from_env() is None


@since(2, 7)
def test_folder_of_resources(observer: Any, tmp_path: pathlib.Path) -> None:
    assert observer.get_resources_dir() is None
    observer.set_extra_resource_collection(True)
    assert observer.get_resources_dir() == str(tmp_path / "et_resources")
    assert (tmp_path / "et_resources").is_dir()
