"""The same programs under stepscope and under torch.profiler: the same ops, counts, parents, shapes, FLOPs and memory.

The sixth program, in C++, is in cpp_parity_test.py. What differs, and why:
- A `with record_function` block of torch.profiler calls ops of PyTorch (`profiler::_record_function_*`), which both profilers leave
  out. Before PyTorch 2, the block also made a tensor (`aten::zeros`, `aten::empty`, `aten::zero_`), which stepscope's block does
  not. So the programs here mark no ranges of their own; PyTorch's own ranges (`Optimizer.step`) are compared.
- stepscope sees the ops of all threads; torch.profiler only those of the thread that started it and of threads that work for it.
  An op that attention runs on an OpenMP thread would be extra, so the programs here have one thread.
- Before PyTorch 2.4, torch.profiler's events had times in whole µs. An op that begins in the µs in which the previous op ended, or
  that ends in the same µs as its parent, loses its parent, and its memory goes to its neighbour. An op that calls itself (`TWICE`)
  is merged only if the inner op has kept its parent. torch.profiler's tree, from which it makes the events, has ns: parents and
  memory are compared with the tree. Two ops in one µs may look like one inside the other, and are merged if they have one name; so
  the merging is off here.
- Times are from different runs and are not compared.
- FLOPs: stepscope has them for more ops (`BEYOND`).
- stepscope adds a range `DataLoader.collate` (`OURS`) when a loader collates a batch. torch.profiler does not see worker processes;
  events() here has none of them, either.
- With two processes that train together, `gloo:all_reduce` ends on a gloo thread, a little after the step that waits for it. So bytes
  allocated meanwhile are not its own. A gloo thread frees the 8 bytes of a barrier at the next collective, so bytes outside of ops
  are not compared there.
- Memory allocated before the profiler began and freed during it: torch.profiler does not know it; stepscope does if an earlier
  recording saw its allocation. So each step begins without gradients.
- Memory from a worker process is shared and does not come from the allocator that stepscope wraps; torch.profiler counts it.
"""

import collections
import json
import pathlib
import subprocess
import sys
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch", reason="needs PyTorch")

import stepscope  # noqa: E402
from parity_programs import (  # noqa: E402
    OURS,
    cnn,
    has_nanoseconds,
    loader,
    mlp,
    op_rows,
    outside,
    outside_of_tree,
    transformer,
    tree_rows,
    two_profiles,
)
from stepscope.profiler import profile  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
PROGRAMS = {"mlp": mlp, "cnn": cnn, "transformer": transformer, "loader": lambda: loader(0), "workers": lambda: loader(2)}
TWICE = {"aten::sum", "aten::div", "aten::div_"}
BEYOND = {"aten::convolution_backward", "aten::_scaled_dot_product_flash_attention_for_cpu",
          "aten::_scaled_dot_product_flash_attention_for_cpu_backward"}  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", params=PROGRAMS)
def both(request):
    """The program's name, and one step of it under each profiler, after warm-up steps."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    step, parameters = PROGRAMS[request.param]()
    for _ in range(3):
        step()
    with pytest.MonkeyPatch.context() as patch:
        if not has_nanoseconds():
            patch.setattr(torch.autograd.profiler_util.EventList, "_remove_dup_nodes", lambda _: None)
        ours, theirs = two_profiles(step, parameters, record_shapes=True, profile_memory=True, with_flops=True)
    torch.set_num_threads(before)
    return request.param, ours, theirs


def comparable(prof):
    left_out = {OURS, "[memory]"} | (set() if has_nanoseconds() else TWICE)
    return [event for event in prof.events() if event.name not in left_out]


def tally(prof):
    return collections.Counter((event.name, str(event.input_shapes)) for event in comparable(prof))


def test_names_counts_and_shapes(both):
    _, ours, theirs = both
    assert tally(ours) == tally(theirs)
    assert len(ours.events()) > 50


def test_numbers_of_ops(both):
    program, ours, theirs = both
    if program == "workers":
        pytest.skip("tensors of workers are made when they come, before or after the step's own ops")

    def told(prof):
        events = comparable(prof)
        base = min(event.sequence_nr for event in events if event.sequence_nr >= 0)
        return sorted((event.name, max(event.sequence_nr - base, -1), event.fwd_thread > 0, event.scope) for event in events)

    assert told(ours) == told(theirs)


def test_numbers_of_ops_in_files(both, tmp_path):
    """The file has the same sequence numbers as events(), including those of the engine's own ops."""
    program, *profiles = both
    if program == "workers" or not has_nanoseconds():
        pytest.skip("as above, or an older PyTorch, which leaves them out of CPU recordings")

    def written(prof):
        prof.export_chrome_trace(str(tmp_path / "trace.json"))
        events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
        ops = [(event["name"], event["args"]) for event in events if event.get("cat") == "cpu_op"]
        ops = [(name, args["Sequence number"], args["Fwd thread id"] > 0) for name, args in ops if "Sequence number" in args]
        base = min(number for _, number, _ in ops)
        return collections.Counter((name, number - base, backward) for name, number, backward in ops)

    ours, theirs = map(written, profiles)
    assert ours == theirs
    assert any(name.startswith("autograd::engine::evaluate_function: ") for name, _, _ in ours)


def test_flops(both):
    _, ours, theirs = both

    def flops(prof):
        return collections.Counter(
            (event.name, str(event.input_shapes), event.flops or 0) for event in comparable(prof) if event.name not in BEYOND
        )

    assert flops(ours) == flops(theirs)
    assert any(amount > 0 for _, _, amount in flops(ours))
    assert all(event.flops > 0 for event in ours.events() if event.name in BEYOND)


def test_parents_and_memory(both):
    """Bytes of each op, with and without its children, and outside of ops. Workers send 4 batches of 2 × (16 floats, 1 label)."""
    program, ours, theirs = both
    mine, other = op_rows(ours), tree_rows(theirs)
    shared = 4 * 2 * (16 * 4 + 8) if program == "workers" else 0
    if shared:
        name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
        mine, got = without(mine, name)
        other, told = without(other, name)
        assert told == (got[0], got[1] + shared)
    assert mine == other
    assert outside(ours) - outside_of_tree(theirs) == shared


def without(rows, name):
    """The rows without that name; the number of rows with it, and the sum of their own bytes."""
    kept = collections.Counter({row: count for row, count in rows.items() if row[0] != name})
    of_name = [(count, row[3] * count) for row, count in rows.items() if row[0] == name]
    return kept, tuple(map(sum, zip(*of_name, strict=True)))


def test_memory_of_before_is_known_where_an_earlier_recording_saw_it():
    with profile(profile_memory=True):
        kept = [torch.empty(1000)]
    with profile(profile_memory=True) as ours:
        kept.clear()
    assert outside(ours) == -4000
    kept = [torch.empty(1000)]
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as theirs:
        kept.clear()
    assert outside_of_tree(theirs) == 0


@pytest.mark.skipif(not hasattr(torch._C._profiler, "_RecordFunctionFast"), reason="this PyTorch marks nothing that it compiles")
def test_ranges_of_what_is_compiled():
    """Dynamo makes ranges only if PyTorch says a profiler is on, half of them with a type that reaches only PyTorch's profiler."""
    torchs_own = torch._C._profiler._RecordFunctionFast
    counts = []
    for profiler in (torch.profiler.profile, profile):
        torch._dynamo.reset()
        compiled = torch.compile(lambda x: torch.relu(x * 2).sum(), backend="eager")
        with profiler(activities=[torch.profiler.ProfilerActivity.CPU]) as prof:
            compiled(torch.ones(4))
        counts.append(collections.Counter(event.name for event in prof.events()))
    theirs, ours = counts
    assert ours == theirs
    assert any("dynamo" in name for name in ours)
    assert torch._C._profiler._RecordFunctionFast is torchs_own
    assert not torch.autograd.profiler._is_profiler_enabled
    ours = profile().__enter__()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        ours.stop()  # while PyTorch's own profiler continues
        assert torch._C._profiler._RecordFunctionFast is torchs_own
        assert torch.autograd.profiler._is_profiler_enabled


@pytest.mark.parametrize("workers", [0, 2])
def test_ranges_of_loaders(workers):
    step, _ = loader(workers)
    with profile() as ours:
        step()
    kind = "_MultiProcessing" if workers else "_SingleProcess"
    assert sum(event.name == f"enumerate(DataLoader)#{kind}DataLoaderIter.__next__" for event in ours.events()) == 5
    assert sum(event.name == OURS for event in ours.events()) == (0 if workers else 4)


TRAINING = """
import json, os, sys, time, torch, torch.profiler
sys.path.insert(0, sys.argv[3])
from stepscope.profiler import profile, schedule
from parity_programs import op_rows, tree_rows, two_profiles
rank, folder = int(sys.argv[1]), sys.argv[2]
torch.set_num_threads(1)
torch.manual_seed(0)
for name in ("one", "steps"):
    os.makedirs(f"{folder}/{name}", exist_ok=True)
torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
def step():
    model.zero_grad()
    model(torch.ones(4, 64)).sum().backward()
    time.sleep(0.2)
for _ in range(3):
    step()
def told(prof, rows):
    return {
        "rows": sorted([*map(str, row), count] for row, count in rows(prof).items()),
        "shapes": sorted([e.name, str(e.input_shapes), e.flops or 0] for e in prof.events() if e.name != "[memory]"),
    }
ours, theirs = two_profiles(
    step, [], torch.distributed.barrier,
    record_shapes=True, profile_memory=True, with_flops=True, path=f"{folder}/one/run.rank{rank}.stepscope",
)
told = [told(ours, op_rows), told(theirs, tree_rows)]
open(f"{folder}/told{rank}.json", "w").write(json.dumps(told))
always = schedule(wait=0, warmup=0, active=4)
with profile(schedule=always, record_shapes=True, path=f"{folder}/steps/run.rank{rank}.stepscope") as prof:
    for _ in range(3):
        step()
        torch.distributed.broadcast(torch.ones(3, dtype=torch.float64), 0)
        prof.step()
torch.distributed.destroy_process_group()
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    if not torch.distributed.is_available():
        pytest.skip("this PyTorch has no torch.distributed")
    folder = tmp_path_factory.mktemp("ranks")
    command = [sys.executable, "-W", "ignore", "-c", TRAINING]
    here = str(pathlib.Path(__file__).parent)
    ranks = [subprocess.Popen([*command, str(rank), str(folder), here]) for rank in (0, 1)]
    assert [rank.wait(timeout=120) for rank in ranks] == [0, 0]
    return folder


def test_two_processes_that_train_together(trained):
    for rank in (0, 1):
        ours, theirs = json.loads((trained / f"told{rank}.json").read_text())
        assert ours["rows"] == theirs["rows"]
        shapes = [[event for event in told["shapes"] if has_nanoseconds() or event[0] not in TWICE] for told in (ours, theirs)]
        assert shapes[0] == shapes[1]
        assert [event[0] for event in shapes[0]].count("gloo:all_reduce") == 1
    trace = stepscope.open(trained / "one")
    assert [(rank.rank, rank.world_size, rank.backend) for rank in trace.ranks] == [(0, 2, "gloo"), (1, 2, "gloo")]
    assert "No collective" in trace.analyze("collectives").notes[0]  # gloo's collectives have no device
    assert trace.report().verdict["rank"].to_list()


def test_their_collectives_are_matched(trained):
    """Per step, in the only group: gradients of 64 × 64 weights and 64 biases, and 3 doubles."""
    trace = stepscope.open(trained / "steps")
    table = trace.analyze("communication").tables[0]
    columns = ("collective", "dtype", "group_size", "bytes", "count")
    rows = sorted(zip(*(table[column].to_list() for column in columns), strict=True))
    assert rows == [("all-reduce", "Float", 2, (64 * 64 + 64) * 4, 3), ("broadcast", "Double", 2, 3 * 8, 3)]
    waiting = next(table for table in trace.analyze("stragglers").tables if table.title == "Waiting in collectives")
    assert (waiting["collectives"].to_list(), sum(waiting["last"].to_list())) == ([3, 3], 3)


def test_tables_have_the_same_layout():
    """torch.profiler's table code, given our numbers, prints our table."""
    from torch.autograd import profiler_util

    step, _ = mlp()
    with profile(record_shapes=True, with_flops=True) as ours:
        step()
    if not has_nanoseconds():
        pytest.skip(f"PyTorch {torch.__version__} lays tables out in another way")
    for grouped in (False, True):
        averages = ours.key_averages(group_by_input_shape=grouped)
        copies = profiler_util.EventList([copied(profiler_util, average) for average in averages], with_flops=True)
        for named in ({}, {"sort_by": "cpu_time_total", "row_limit": 5}, {"header": "Title", "max_name_column_width": 20}):
            assert averages.table(**named) == copies.table(**named)


def copied(profiler_util, average):
    out = profiler_util.FunctionEventAvg()
    for name in (
        "key", "count", "node_id", "is_async", "is_remote", "cpu_time_total", "self_cpu_time_total", "input_shapes", "overload_name",
        "stack", "scope", "cpu_memory_usage", "self_cpu_memory_usage", "device_type", "is_legacy", "flops", "is_user_annotation",
    ):  # fmt: skip
        setattr(out, name, getattr(average, name))
    out.device_memory_usage = out.self_device_memory_usage = 0
    out.device_time_total = out.self_device_time_total = 0
    return out
