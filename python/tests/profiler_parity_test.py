"""The same programs under stepscope and under torch.profiler: the same ops, counts, parents and shapes.

What differs, and why:
- A `with record_function` block of torch.profiler calls into PyTorch, whose ops about it (`profiler::_record_function_*`) both
  leave out; before PyTorch 2 the block made a tensor first (`aten::zeros`, `aten::empty`, `aten::zero_`), which stepscope's
  does not need. The programs here mark no range of their own; ranges of PyTorch's own (`Optimizer.step`) are compared.
- stepscope sees the ops of all threads, torch.profiler those of the thread that it was started on and of what that one asks to
  work for it: an op that attention runs on a thread of OpenMP is one more. The programs here have one thread.
- Before PyTorch 2.4 torch.profiler had times in whole µs, so that an op that begins in the µs in which the one before ended, or
  ends in that of its parent, loses its parent. There names, counts and shapes are compared, and parents are not; and not the ops that
  call themselves (`TWICE`): of the two one is left where the inner one has kept its parent.
- Times are different runs', and are not compared.
- A loader's batches are put together in a range `DataLoader.collate`, which torch.profiler does not have (`OURS`). It does not see
  worker processes, and events() has none of them here either.
- Of two processes that train together, `gloo:all_reduce` ends on a thread of gloo's a little behind the step, which waits for it.
- Memory: until a recording knows allocations, nothing is compared.
"""

import collections
import json
import subprocess
import sys
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch", reason="needs PyTorch")

import stepscope  # noqa: E402
from stepscope.profiler import profile  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def mlp():
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data, wanted = torch.randn(8, 16), torch.randint(0, 4, (8,))

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(data), wanted).backward()
        optimizer.step()

    return step


class Residual(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(channels)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)) + x)


def cnn():
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, stride=2), Residual(8), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(8, 2)
    )
    data = torch.randn(2, 3, 16, 16)

    def step():
        model.zero_grad()
        model(data).sum().backward()

    return step


def transformer():
    layer = torch.nn.TransformerEncoderLayer(16, 2, dim_feedforward=32, dropout=0.0, batch_first=True)
    embed, head = torch.nn.Embedding(50, 16), torch.nn.Linear(16, 50)
    parameters = [*layer.parameters(), *embed.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3)
    tokens = torch.randint(0, 50, (2, 7))

    def step():
        optimizer.zero_grad()
        logits = head(layer(embed(tokens)))
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten()).backward()
        optimizer.step()

    return step


OURS = {"DataLoader.collate"}


def loader(workers):
    data = torch.utils.data.TensorDataset(torch.randn(8, 16), torch.randint(0, 4, (8,)))
    model = torch.nn.Linear(16, 4)

    def step():
        for inputs, wanted in torch.utils.data.DataLoader(data, batch_size=2, num_workers=workers):
            torch.nn.functional.cross_entropy(model(inputs), wanted).backward()

    return step


def shapes_of(event):
    return str(event.input_shapes)


def tally(events, parents):
    """How often each name with its shapes, and its parent's name, comes."""

    def parent(event):
        return event.cpu_parent.name if parents and event.cpu_parent is not None else None

    return collections.Counter((event.name, parent(event), shapes_of(event)) for event in events)


TWICE = {"aten::sum", "aten::div", "aten::div_"}


def comparable(prof):
    return [event for event in prof.events() if event.name not in OURS and (has_nanoseconds() or event.name not in TWICE)]


def has_nanoseconds():
    return tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 4)


def both(step):
    """The events of one step under each profiler, after steps that bring the program to rest."""
    for _ in range(3):
        step()
    with profile(record_shapes=True, with_flops=True) as ours:
        step()
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, with_flops=True
    ) as theirs:
        step()
    return ours, theirs


@pytest.mark.parametrize("program", [mlp, cnn, transformer])
def test_names_counts_parents_and_shapes(program):
    torch.manual_seed(0)
    ours, theirs = both(program())
    parents = has_nanoseconds()
    assert tally(comparable(ours), parents) == tally(comparable(theirs), parents)
    assert len(ours.events()) > 30


@pytest.mark.parametrize("program", [mlp, cnn, transformer])
def test_numbers_of_ops(program):
    torch.manual_seed(0)
    ours, theirs = both(program())

    def told(events):
        base = min(event.sequence_nr for event in events if event.sequence_nr >= 0)
        return sorted((event.name, max(event.sequence_nr - base, -1), event.fwd_thread > 0, event.scope) for event in events)

    assert told(comparable(ours)) == told(comparable(theirs))


BEYOND = {"aten::convolution_backward", "aten::_scaled_dot_product_flash_attention_for_cpu",
          "aten::_scaled_dot_product_flash_attention_for_cpu_backward"}  # fmt: skip


@pytest.mark.parametrize("program", [mlp, cnn, transformer])
def test_flops(program):
    torch.manual_seed(0)
    ours, theirs = both(program())

    def flops(prof):
        return collections.Counter({average.key: average.flops or 0 for average in prof.key_averages()})

    mine = flops(ours)
    assert {key: value for key, value in mine.items() if key not in BEYOND} == {
        key: value for key, value in flops(theirs).items() if key not in BEYOND
    }
    assert all(mine[key] > 0 for key in BEYOND & mine.keys())


@pytest.mark.parametrize("workers", [0, 2])
def test_loaders(workers):
    """Ops of collating have the range as their parent, whose parent is theirs there."""
    torch.manual_seed(0)
    ours, theirs = both(loader(workers))

    def told(events):
        def parent(event):
            above = event.cpu_parent
            while above is not None and above.name in OURS:
                above = above.cpu_parent
            return above.name if above is not None and has_nanoseconds() else None

        return collections.Counter((event.name, parent(event), shapes_of(event)) for event in events)

    assert told(comparable(ours)) == told(comparable(theirs))
    kind = "_MultiProcessing" if workers else "_SingleProcess"
    assert sum(event.name == f"enumerate(DataLoader)#{kind}DataLoaderIter.__next__" for event in ours.events()) == 5
    assert sum(event.name == "DataLoader.collate" for event in ours.events()) == (0 if workers else 4)


TRAINING = """
import json, sys, time, torch, torch.profiler
from stepscope.profiler import profile
rank, folder = int(sys.argv[1]), sys.argv[2]
torch.set_num_threads(1)
torch.manual_seed(0)
torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
def step():
    model.zero_grad()
    model(torch.ones(4, 64)).sum().backward()
    time.sleep(0.2)
for _ in range(3):
    step()
def told(prof):
    return [[e.name, e.cpu_parent.name if e.cpu_parent else None, str(e.input_shapes)] for e in prof.events()]
with profile(path=f"{folder}/run.rank{rank}.stepscope", record_shapes=True) as ours:
    step()
torch.distributed.barrier()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as theirs:
    step()
open(f"{folder}/told{rank}.json", "w").write(json.dumps([told(ours), told(theirs)]))
torch.distributed.destroy_process_group()
"""


def test_two_processes_that_train_together(tmp_path):
    if not torch.distributed.is_available():
        pytest.skip("this PyTorch has no torch.distributed")
    command = [sys.executable, "-W", "ignore", "-c", TRAINING]
    ranks = [subprocess.Popen([*command, str(rank), str(tmp_path)]) for rank in (0, 1)]
    assert [rank.wait(timeout=120) for rank in ranks] == [0, 0]
    for rank in (0, 1):
        ours, theirs = json.loads((tmp_path / f"told{rank}.json").read_text())
        if not has_nanoseconds():
            ours, theirs = ([[name, shapes] for name, _, shapes in told if name not in TWICE] for told in (ours, theirs))
        assert collections.Counter(map(tuple, ours)) == collections.Counter(map(tuple, theirs))
        assert [event[0] for event in ours].count("gloo:all_reduce") == 1
    trace = stepscope.open(tmp_path)
    assert [(rank.rank, rank.world_size, rank.backend) for rank in trace.ranks] == [(0, 2, "gloo"), (1, 2, "gloo")]
    for answer in ("collectives", "communication"):
        assert "No collective" in trace.analyze(answer).notes[0]  # gloo's have no device, and tell no group
    assert trace.report().verdict["rank"].to_list()


def test_tables_have_the_same_layout():
    """torch.profiler's table of our numbers is our table."""
    from torch.autograd import profiler_util

    torch.manual_seed(0)
    ours, _ = both(mlp())
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
