"""What a recording says about padding in the indices of embeddings."""

import json

import pytest

torch = pytest.importorskip("torch", reason="embeddings are PyTorch's")

from stepscope.profiler import profile  # noqa: E402

LENGTHS = (3, 5, 8, 4)


def batch(pad: int, dtype=torch.int64):
    """Four rows of 12 columns, of which the last four are padding in each."""
    rows = torch.full((len(LENGTHS), 12), pad, dtype=dtype)
    for row, length in zip(rows, LENGTHS):
        row[:length] = torch.arange(1, 2 * length, 2)
    return rows


def padding_of(tmp_path, work, **arguments):
    with profile(**{"record_shapes": True, **arguments}) as prof:
        work()
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    return json.loads((tmp_path / "trace.json").read_text()).get("padding")


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_padding_at_the_end(tmp_path, dtype):
    words = torch.nn.Embedding(100, 4)
    found = padding_of(tmp_path, lambda: words(batch(0, dtype)))
    assert found == {"batches": 1, "elements": 48, "padding": 28, "shared": 16, "largest": "[4, 12]"}


def test_the_declared_index_counts(tmp_path):
    words = torch.nn.Embedding(100, 4, padding_idx=99)
    assert padding_of(tmp_path, lambda: words(batch(0)))["padding"] == 0
    assert padding_of(tmp_path, lambda: words(batch(99)))["padding"] == 28


def test_the_first_sixteen_calls_and_each_fourth(tmp_path):
    words = torch.nn.Embedding(100, 4)

    def calls():
        for _ in range(24):
            words(batch(0))

    assert padding_of(tmp_path, calls)["batches"] == 16 + 2


def test_what_is_no_text(tmp_path):
    words = torch.nn.Embedding(100, 4)

    def calls():
        words(torch.zeros(4, 12, dtype=torch.int64))
        words(torch.arange(12).expand(4, 12))
        words(torch.arange(12))
        words(batch(0).t())
        torch.nn.functional.embedding(torch.zeros(0, 12, dtype=torch.int64), words.weight)

    assert padding_of(tmp_path, calls) is None


def test_without_shapes_nothing_is_read(tmp_path):
    words = torch.nn.Embedding(100, 4)
    assert padding_of(tmp_path, lambda: words(batch(0)), record_shapes=False) is None


def test_indices_on_a_device_are_those_that_were_copied_there(tmp_path):
    words = torch.nn.Embedding(100, 4, device="meta")

    def calls():
        words(batch(0).to("meta"))
        words(torch.zeros(3, 12, dtype=torch.int64, device="meta"))

    assert padding_of(tmp_path, calls) == {"batches": 1, "elements": 48, "padding": 28, "shared": 16, "largest": "[4, 12]"}
