"""What the cases of this folder share."""

from __future__ import annotations

import inspect
import json
import pathlib
import re
import warnings
from types import ModuleType
from typing import Any, Callable, Dict, Iterable, List, Tuple

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch: Any = pytest.importorskip("torch", reason="needs PyTorch")

VERSION: Tuple[int, ...] = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
CPU: Any = torch.profiler.ProfilerActivity.CPU
Trace = Dict[str, Any]


def since(major: int, minor: int) -> pytest.MarkDecorator:
    """Skips a case where PyTorch is older."""
    return pytest.mark.skipif((major, minor) > VERSION, reason=f"needs PyTorch {major}.{minor}")


def with_option(name: str) -> pytest.MarkDecorator:
    """Skips a case where this PyTorch's profile() has no such parameter."""
    return pytest.mark.skipif(
        name not in inspect.signature(torch.profiler.profile).parameters, reason=f"this PyTorch has no {name}"
    )


with_kineto: pytest.MarkDecorator = pytest.mark.skipif(not torch.profiler.kineto_available(), reason="this PyTorch has no Kineto")


def config(**fields: Any) -> Any:
    """PyTorch's experimental options. Skips where one of them is missing."""
    try:
        return torch._C._profiler._ExperimentalConfig(**fields)
    except TypeError:
        pytest.skip(f"this PyTorch has no {', '.join(fields)}")


def recorded(profiler: ModuleType, work: Callable[[], Any], **options: Any) -> Any:
    """The profiler after it recorded one call of `work`."""
    with profiler.profile(activities=[CPU], **options) as prof:
        work()
    return prof


def exported(prof: Any, folder: pathlib.Path) -> Trace:
    """What export_chrome_trace writes. Skips where it is only a list of events."""
    if not torch.profiler.kineto_available():
        pytest.skip("this PyTorch has no Kineto")
    path = folder / "trace.json"
    prof.export_chrome_trace(str(path))
    trace: Trace = json.loads(path.read_text())
    return trace


def named(events: Iterable[Any], name: str) -> List[Any]:
    return [event for event in events if event.name == name]


def only(events: Iterable[Any], name: str) -> Any:
    """The one event of this name."""
    (event,) = named(events, name)
    return event


def slices(trace: Trace, name: str) -> List[Trace]:
    return [event for event in trace["traceEvents"] if event["name"] == name and event["ph"] == "X"]


def args_of(trace: Trace, name: str) -> Trace:
    """Arguments of the one slice of this name."""
    (event,) = slices(trace, name)
    arguments: Trace = event["args"]
    return arguments


def of_category(trace: Trace, category: str) -> List[Trace]:
    return [event for event in trace["traceEvents"] if event.get("cat") == category]
