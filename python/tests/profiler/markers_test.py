"""Ranges for other tools, and Kineto's step count."""

import sys

import pytest

from stepscope.profiler import ProfilerError, emit_itt, emit_nvtx, profile, schedule


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="needs PyTorch")


@pytest.mark.parametrize("markers", [emit_nvtx, emit_itt])
def test_switched_off_they_need_nothing(markers, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with markers(enabled=False), markers(False, True):
        pass
    with pytest.raises(ProfilerError, match=f"{markers.name} needs PyTorch; install torch"):
        markers().__enter__()


def test_nvtx_without_a_gpu(torch):
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(ProfilerError, match="emit_nvtx does not work here: PyTorch sees no NVIDIA GPU"), emit_nvtx():
        pass


def test_itt(torch):
    if not hasattr(torch.autograd.profiler, "emit_itt") or not torch.profiler.itt.is_available():
        with pytest.raises(ProfilerError, match="built without Intel's ITT"):
            emit_itt().__enter__()
        return
    block = emit_itt(record_shapes=True)
    with block:
        torch.ones(2) + 1
        with pytest.raises(ProfilerError, match="this emit_itt is already on"):
            block.__enter__()
    with block, profile() as prof:  # a second time, and beside a recording
        torch.ones(2) + 1
    assert "aten::add" in [event.name for event in prof.events()]


def test_the_tool_is_told_of_each_op(torch, monkeypatch):
    """With a counting class in place of PyTorch's."""
    told = []

    class Counting:
        def __init__(self, enabled, record_shapes):
            told.append((enabled, record_shapes))

        def __enter__(self):
            told.append("on")

        def __exit__(self, *error):
            told.append("off")

    monkeypatch.setattr(torch.autograd.profiler, "emit_nvtx", Counting)
    monkeypatch.setattr(emit_nvtx, "_can", lambda self, torch: True)
    with pytest.raises(ValueError, match="mine"), emit_nvtx(record_shapes=True):
        raise ValueError("mine")
    assert told == [(True, True), "on", "off"]


def test_kineto_counts_steps_where_a_daemon_may_ask(torch, monkeypatch):
    tracker = getattr(torch.autograd.profiler, "KinetoStepTracker", None)
    if tracker is None:
        pytest.skip(f"PyTorch {torch.__version__} has no KinetoStepTracker")
    before = tracker.current_step()
    with profile(activities=[], schedule=schedule(wait=0, warmup=1, active=1)) as prof:
        prof.step()
    assert tracker.current_step() == before
    monkeypatch.setenv("KINETO_USE_DAEMON", "1")
    with profile(activities=[], schedule=schedule(wait=0, warmup=1, active=2)) as prof:
        prof.step()
        prof.step()
        assert tracker.current_step() == before + 2 and "ProfilerStep" in tracker._step_dict
    assert "ProfilerStep" not in tracker._step_dict
