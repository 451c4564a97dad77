"""Python calls that were open when a recording began or ended nest as they were called."""

import inspect
import json
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch", reason="needs PyTorch")

import stepscope  # noqa: E402
from stepscope.profiler import ProfilerActivity, profile, schedule  # noqa: E402

OPEN = ["outermost", "middle", "train"]


def train(path):
    x = torch.ones(8, 8)
    plan = schedule(wait=0, warmup=1, active=2, repeat=1)
    with profile(activities=[ProfilerActivity.CPU], with_stack=True, schedule=plan) as prof:
        for _ in range(4):
            torch.mm(x, x)
            prof.step()
    prof.export_chrome_trace(str(path))


def middle(path):
    train(path)


def outermost(path):
    middle(path)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("stacks") / "trace.json"
    outermost(path)
    return path


@pytest.fixture(scope="module")
def calls(path):
    """The Python calls in file order."""
    return [e for e in json.loads(path.read_bytes())["traceEvents"] if e.get("cat") == "python_function"]


def test_the_outer_one_is_first_in_the_file(calls):
    around = [e for e in calls if e["name"].rpartition(": ")[2] in OPEN]
    assert [e["name"].rpartition(": ")[2] for e in around] == OPEN
    assert len({(e["ts"], e["dur"]) for e in around}) == 1
    lines = [inspect.getsourcelines(f)[1] for f in (outermost, middle, train)]
    assert [f"({line}): " in e["name"] for e, line in zip(around, lines)] == [True] * 3


def test_a_parent_has_a_lower_number_and_is_around(calls):
    of_id = {e["args"]["Python id"]: e for e in calls}
    inner = [e for e in calls if e["args"]["Python parent id"] is not None]
    assert len(inner) > len(OPEN)
    for event in inner:
        outer = of_id[event["args"]["Python parent id"]]
        assert outer["args"]["Python id"] < event["args"]["Python id"]
        assert outer["ts"] <= event["ts"]


def test_the_engine_nests_them_so(path):
    tree = stepscope.open(path).analyze("call_tree", depth=0, min_share=0)[0]
    rows = [row["name"].strip().rpartition(": ")[2] for row in tree]
    at = [rows.index(name) for name in OPEN]
    assert at == list(range(at[0], at[0] + len(OPEN)))
