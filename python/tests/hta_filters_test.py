"""Filters of HTA's frames, on a frame of ten events."""

import pytest

pd = pytest.importorskip("pandas")

from stepscope import hta  # noqa: E402

ROWS = [  # index, cat, name, ts, dur, stream, index_correlation, iteration, depth
    (0, "user_annotation", "ProfilerStep#5", 0, 50, -1, -1, 5, 0),
    (1, "cpu_op", "forward", 2, 20, -1, -1, 5, 1),
    (2, "cpu_op", "aten::mm", 4, 10, -1, -1, 5, 2),
    (3, "cuda_runtime", "cudaLaunchKernel", 5, 2, -1, 8, 5, 3),
    (4, "cpu_op", "aten::add", 15, 0, -1, -1, 5, 2),
    (5, "cpu_op", "wait", 24, 6, -1, -1, 5, 1),
    (6, "cpu_op", "aten::mm", 60, 10, -1, -1, 6, 0),
    (7, "cpu_op", "outside", 90, 1, -1, -1, -1, 0),
    (8, "kernel", "gemm", 30, 10, 7, 3, 5, 4),
    (9, "gpu_memcpy", "Memcpy HtoD", 62, 5, 7, 0, 6, 4),
]
COLUMNS = ["index", "cat", "name", "ts", "dur", "stream", "index_correlation", "iteration", "depth"]


@pytest.fixture
def frame():
    return pd.DataFrame(ROWS, columns=COLUMNS).set_index("index", drop=False).rename_axis(None)


CASES = [
    (hta.IterationFilter(6), [6, 9]),
    (hta.IterationFilter([5, 6]), [0, 1, 2, 3, 4, 5, 6, 8, 9]),
    (hta.IterationIndexFilter(1), [6, 9]),
    (hta.IterationIndexFilter([7]), []),
    (hta.FirstIterationFilter(), [0, 1, 2, 3, 4, 5, 8]),
    (hta.TimeRangeFilter((4, 15)), [2, 3, 4]),
    (hta.NameFilter("aten::"), [2, 4, 6]),
    (hta.NameFilter("mm"), []),
    (hta.NameStringColumnFilter(".*mm"), [2, 6, 8]),
    (hta.NameIdColumnFilter("gemm"), [8]),
    (hta.QueryFilter("dur >= 10 and stream == -1"), [0, 1, 2, 6]),
    (hta.ZeroDurationFilter(), [0, 1, 2, 3, 5, 6, 7, 8, 9]),
    (hta.GPUKernelFilter(), [8, 9]),
    (hta.CPUOperatorFilter(), [0, 1, 2, 3, 4, 5, 6, 7]),
    (hta.MemCopyEventFilter("Memcpy HtoD"), [9]),
    (hta.CompositeFilter([hta.CPUOperatorFilter(), hta.NameFilter("aten"), hta.ZeroDurationFilter()]), [2, 6]),
    (hta.UnderOperatorFilter("aten::mm", 0), [2, 3]),
    (hta.UnderOperatorFilter("aten::mm", 0, include_gpu_kernels=True), [2, 3, 8]),
    (hta.UnderOperatorFilter("aten::mm", -1), [6]),
    (hta.AfterOperatorFilter("forward", 0), [5, 6, 7]),
    (hta.BeforeOperatorFilter("wait", 0), [1, 2, 3, 4]),
    (hta.CombinedOperatorFilter("forward", "cudaLaunchKernel", "wait"), [4]),
    (hta.CombinedOperatorFilter("forward", "absent", "wait", include_gpu_kernels=True), [1, 2, 3, 4, 8]),
    (hta.CombinedOperatorFilter("forward", "absent", "wait", True, [2]), [2, 4, 8]),
]


@pytest.mark.parametrize("chosen, rows", CASES, ids=lambda of: type(of).__name__ if isinstance(of, hta.Filter) else "")
def test_rows(frame, chosen, rows):
    assert list(chosen(frame)["index"]) == rows
    assert list(chosen(frame).columns) == COLUMNS


def test_ranks(frame):
    both = pd.concat([frame.assign(rank=0), frame.assign(rank=3)])
    assert len(hta.RankFilter(3)(both)) == len(frame)
    assert len(hta.RankFilter([0, 3])(both)) == 2 * len(frame)
    with pytest.warns(UserWarning, match="no column 'rank'"):
        assert len(hta.RankFilter(3)(frame)) == len(frame)


def test_a_frame_without_steps_stays_whole(frame):
    assert len(hta.FirstIterationFilter()(frame.assign(iteration=-1))) == len(frame)


def test_mistakes_are_told():
    for wrong in (lambda: hta.IterationFilter("5"), lambda: hta.RankFilter(1.5), lambda: hta.CompositeFilter([len])):
        with pytest.raises(TypeError):
            wrong()
    for wrong in ((7, 5), (1, 2, 3)):
        with pytest.raises(ValueError, match="start <= end"):
            hta.TimeRangeFilter(wrong)


def test_an_absent_operator_selects_nothing(frame):
    with pytest.warns(UserWarning, match="no occurrence 2 of 'aten::mm'"):
        assert hta.UnderOperatorFilter("aten::mm", 2)(frame).empty


def test_on_a_frame_of_a_recording(one_rank):
    analysis = hta.TraceAnalysis([one_rank.ranks[0].path])
    rank = analysis.get_ranks()[0]
    frame = analysis.get_trace_df(rank)
    first = hta.FirstIterationFilter()(frame)
    assert 0 < len(first) < len(frame)
    assert set(first["iteration"]) == {analysis.get_profiler_steps()[0]}
