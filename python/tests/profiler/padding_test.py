"""What a recording says about padding in the tokens that embeddings look up."""

import json

import pytest

torch = pytest.importorskip("torch", reason="embeddings are PyTorch's")

from stepscope.profiler import profile  # noqa: E402

LENGTHS = (3, 5, 8, 4)


def batch(pad: int, dtype=torch.int64):
    """Four rows of 12 columns, of which the last four are padding in each."""
    rows = torch.full((len(LENGTHS), 12), pad, dtype=dtype)
    for row, length in zip(rows, LENGTHS):
        row[:length] = torch.arange(300, 300 + 2 * length, 2)
    return rows


def padding_of(tmp_path, work, **arguments):
    with profile(**{"record_shapes": True, **arguments}) as prof:
        work()
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    return json.loads((tmp_path / "trace.json").read_text()).get("padding")


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_padding_at_the_end(tmp_path, dtype):
    words = torch.nn.Embedding(1000, 4)
    found = padding_of(tmp_path, lambda: words(batch(0, dtype)))
    assert found == {"batches": 1, "elements": 48, "padding": 28, "shared": 16, "largest": "[4, 12]"}


def test_a_declared_index_that_is_not_there_is_no_limit(tmp_path):
    words = torch.nn.Embedding(1000, 4, padding_idx=99)
    assert padding_of(tmp_path, lambda: words(batch(0)))["padding"] == 28
    assert padding_of(tmp_path, lambda: words(batch(99)))["padding"] == 28


def test_the_first_sixteen_calls_and_each_fourth(tmp_path):
    words = torch.nn.Embedding(1000, 4)

    def calls():
        for _ in range(24):
            words(batch(0))

    assert padding_of(tmp_path, calls)["batches"] == 16 + 2


def test_parts_of_rows_and_more_dimensions(tmp_path):
    words = torch.nn.Embedding(1000, 4)
    assert padding_of(tmp_path, lambda: words(batch(0)[:, :-1]))["padding"] == 28 - 4
    assert padding_of(tmp_path, lambda: words(batch(0).reshape(2, 2, 12)))["padding"] == 28


def test_what_is_no_text(tmp_path):
    words = torch.nn.Embedding(1000, 4)

    def calls():
        words(torch.zeros(4, 12, dtype=torch.int64))
        words(torch.arange(300, 312).expand(4, 12))
        words(torch.arange(12))
        torch.nn.functional.embedding(torch.zeros(0, 12, dtype=torch.int64), words.weight)

    assert padding_of(tmp_path, calls) is None


@pytest.mark.filterwarnings("ignore")
def test_nested_tensors_and_short_storage_do_no_harm(tmp_path):
    words = torch.nn.Embedding(1000, 4)
    freed = torch.full((1000, 1000), 300)
    if hasattr(freed, "untyped_storage"):  # from PyTorch 2.0 on
        freed.untyped_storage().resize_(8)

    def calls():
        freed.to("meta")
        words(torch.nested.nested_tensor([batch(0)[0], batch(0)[1, :9]], dtype=torch.int64))

    assert padding_of(tmp_path, calls) is None
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert all(event["dur"] < 60e6 for event in events if event["name"] == "aten::embedding")


def test_without_shapes_nothing_is_read(tmp_path):
    words = torch.nn.Embedding(1000, 4)
    assert padding_of(tmp_path, lambda: words(batch(0)), record_shapes=False) is None
