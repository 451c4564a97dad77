"""The Chrome trace that export_chrome_trace writes."""

from __future__ import annotations

import gzip
import json
import pathlib
import threading
from types import ModuleType
from typing import Any, Dict, List

import pytest
from documented.asking import CPU, Trace, exported, of_category, recorded, since, slices, torch, with_kineto

pytestmark = [pytest.mark.filterwarnings("ignore"), with_kineto]


def work() -> None:
    torch.neg(torch.ones(2, 3))


def train() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    (x * 2).sum().backward()


def instants(trace: Trace, name: str) -> List[Trace]:
    return [event for event in trace["traceEvents"] if event["name"] == name and event["ph"] == "i"]


def test_keys_of_the_file(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, work), tmp_path)
    assert {"schemaVersion", "deviceProperties", "traceEvents", "traceName"} <= set(trace)


@since(2, 4)
def test_keys_of_the_file_for_times(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, work), tmp_path)
    assert trace["displayTimeUnit"] == "ms"
    assert trace["baseTimeNanoseconds"] > 0


def test_schema_version(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    assert exported(recorded(profiler, work), tmp_path)["schemaVersion"] == 1


def test_trace_name_is_the_path(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    assert exported(recorded(profiler, work), tmp_path)["traceName"] == str(tmp_path / "trace.json")


@since(2, 7)
def test_host_name(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    assert exported(recorded(profiler, work), tmp_path).get("host_name")


def test_options_are_metadata(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    options: Dict[str, bool] = {"record_shapes": True, "profile_memory": True, "with_stack": True, "with_flops": True}
    trace = exported(recorded(profiler, work, **options), tmp_path)
    assert {name: trace.get(name) for name in options} == dict.fromkeys(options, 1)


def test_options_that_are_off_are_no_metadata(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, work), tmp_path)
    assert not {"record_shapes", "profile_memory", "with_stack", "with_flops"} & set(trace)


def test_start_is_marked(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    (mark,) = instants(exported(recorded(profiler, work), tmp_path), "Iteration Start: PyTorch Profiler")
    assert (mark["pid"], mark["tid"], mark["s"]) == ("Traces", "Trace PyTorch Profiler", "g")


def test_end_is_marked(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    (mark,) = instants(exported(recorded(profiler, work), tmp_path), "Record Window End")
    assert (mark["pid"], mark["tid"], mark["s"]) == ("", "", "g")


def test_span_of_the_recording(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    (span,) = of_category(exported(recorded(profiler, work), tmp_path), "Trace")
    assert (span["name"], span["pid"], span["tid"]) == ("PyTorch Profiler (0)", "Spans", "PyTorch Profiler")


def test_span_covers_the_ops(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, work), tmp_path)
    (span,) = of_category(trace, "Trace")
    ops = of_category(trace, "cpu_op")
    assert min(op["ts"] for op in ops) >= span["ts"]
    assert max(op["ts"] + op["dur"] for op in ops) <= span["ts"] + span["dur"] + 1


def labels(trace: Trace, name: str) -> List[Any]:
    return [event["args"] for event in trace["traceEvents"] if event["ph"] == "M" and event["name"] == name]


def test_process_is_named(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, work), tmp_path)
    assert {"labels": "CPU"} in labels(trace, "process_labels")
    assert labels(trace, "process_name")


def test_thread_is_named_with_its_number(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, work), tmp_path)
    wanted = f"thread {threading.get_native_id()} ("
    assert any(label["name"].startswith(wanted) for label in labels(trace, "thread_name"))


def test_ops_are_on_the_thread_of_the_system(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    ops = of_category(exported(recorded(profiler, work), tmp_path), "cpu_op")
    assert {op["tid"] for op in ops} == {threading.get_native_id()}


def test_categories(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    def everything() -> None:
        with profiler.record_function("mine"):
            train()

    trace = exported(recorded(profiler, everything, profile_memory=True, with_stack=True), tmp_path)
    wanted = {"cpu_op", "user_annotation", "python_function", "cpu_instant_event", "fwdbwd", "Trace"}
    assert {event["cat"] for event in trace["traceEvents"] if event.get("cat")} == wanted


def test_flows_come_in_pairs(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    flows = of_category(exported(recorded(profiler, train), tmp_path), "fwdbwd")
    starts = [flow["id"] for flow in flows if flow["ph"] == "s"]
    assert sorted(starts) == sorted(flow["id"] for flow in flows if flow["ph"] == "f")
    assert len(starts) == len(set(starts)) == 2


def test_flow_leads_from_the_op_to_its_gradient(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    trace = exported(recorded(profiler, train), tmp_path)
    flows = of_category(trace, "fwdbwd")
    (begin,) = (flow for flow in flows if flow["ph"] == "s" and flow["ts"] == slices(trace, "aten::mul")[0]["ts"])
    (end,) = (flow for flow in flows if flow["ph"] == "f" and flow["id"] == begin["id"])
    assert (end["ts"], end["bp"]) == (slices(trace, "MulBackward0")[0]["ts"], "e")


def test_no_flows_without_a_backward_pass(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    assert of_category(exported(recorded(profiler, work), tmp_path), "fwdbwd") == []


def test_existing_file_is_replaced(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    (tmp_path / "trace.json").write_text("old")
    assert slices(exported(recorded(profiler, work), tmp_path), "aten::neg")


def test_missing_folder_does_not_end_the_program(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    recorded(profiler, work).export_chrome_trace(str(tmp_path / "missing" / "trace.json"))
    assert not (tmp_path / "missing" / "trace.json").exists()


def test_file_may_be_compressed(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    recorded(profiler, work).export_chrome_trace(str(tmp_path / "trace.json.gz"))
    trace = json.loads(gzip.decompress((tmp_path / "trace.json.gz").read_bytes()))
    assert slices(trace, "aten::neg")


@since(2, 7)
def test_file_may_be_written_by_python(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    prof = recorded(profiler, work)
    prof.export_chrome_trace(str(tmp_path / "trace.json"), use_python_export=True)
    assert slices(json.loads((tmp_path / "trace.json").read_text()), "aten::neg")


def test_export_within_the_handler(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    traces: List[Trace] = []
    with profiler.profile(activities=[CPU], on_trace_ready=lambda prof: traces.append(exported(prof, tmp_path))):
        work()
    assert len(slices(traces[0], "aten::neg")) == 1


def test_export_of_each_cycle(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    traces: List[Trace] = []
    steps = profiler.schedule(wait=0, warmup=1, active=1, repeat=2)
    ready = lambda prof: traces.append(exported(prof, tmp_path))  # noqa: E731
    with profiler.profile(activities=[CPU], schedule=steps, on_trace_ready=ready) as prof:
        for _ in range(4):
            work()
            prof.step()
    assert [len(slices(trace, "aten::neg")) for trace in traces] == [1, 1]


def test_events_are_exported_after_their_profiler_is_gone(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    recorded(profiler, work).events().export_chrome_trace(str(tmp_path / "events.json"))
    assert (tmp_path / "events.json").exists()


def test_events_export_a_list(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    prof = recorded(profiler, work)
    prof.events().export_chrome_trace(str(tmp_path / "events.json"))
    written = json.loads((tmp_path / "events.json").read_text())
    assert [event["name"] for event in written if event["name"] == "aten::neg"] == ["aten::neg"]
    assert {event["ph"] for event in written} == {"X"}


def test_handler_of_tensorboard_names_the_worker(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    handler = profiler.tensorboard_trace_handler(str(tmp_path / "made"), worker_name="rank0")
    handler(recorded(profiler, work))
    (path,) = (tmp_path / "made").iterdir()
    worker, number, *ending = path.name.split(".")
    assert (worker, number.isdigit(), ending) == ("rank0", True, ["pt", "trace", "json"])


def test_handler_of_tensorboard_compresses(profiler: ModuleType, tmp_path: pathlib.Path) -> None:
    profiler.tensorboard_trace_handler(str(tmp_path), use_gzip=True)(recorded(profiler, work))
    (path,) = tmp_path.iterdir()
    assert path.name.endswith(".pt.trace.json.gz")
    assert slices(json.loads(gzip.decompress(path.read_bytes())), "aten::neg")
