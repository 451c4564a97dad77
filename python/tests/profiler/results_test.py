"""Tables, averages and exports of hand-made recordings, in which every number is known. Nothing here needs PyTorch."""

import pytest
from made_recording import BACKWARD, FLOPS, HEADER, MEMORY_FLAG, PYTHON, STACKS, UNIT, USER, MadeThread, tensor, write

from stepscope.profiler import FunctionEventAvg, ProfilerError
from stepscope.profiler._event_list import all_events, key_averages
from stepscope.profiler._rows import Rows


def ms(*values):
    return [int(value * 1_000_000) for value in values]


def recorded(tmp_path, *threads, flags=0):
    path = write(tmp_path / "made.stepscope", threads, flags)
    return Rows([path], bool(flags & MEMORY_FLAG), bool(flags & FLOPS))


def two_products(tmp_path, flags=0):
    """forward, 4 ms, contains two products: 2x3 by 3x4, 1 ms, and 8x3 by 3x4, 0.5 ms. A backward op is on another thread."""
    main = MadeThread(11, 1)
    main.op("aten::mm", *ms(1, 2), inputs=tensor(2, 3) + tensor(3, 4), sequence=5)
    main.memory(ms(1.5)[0], 96).memory(ms(2.2)[0], 2048)
    main.op("aten::mm", *ms(2.5, 3), inputs=tensor(8, 3) + tensor(3, 4), sequence=6)
    main.op("a.py(2): product", *ms(0.9, 3.1), scope=PYTHON)
    main.op("forward", *ms(0, 4), scope=USER)
    main.op("a.py(9): <module>", *ms(0, 9), scope=PYTHON)
    engine = MadeThread(12, 2)
    engine.op("MmBackward0", *ms(5, 5.5), scope=BACKWARD, sequence=5, forward=1)
    engine.op("autograd::engine::evaluate_function: MmBackward0", *ms(5, 6))
    return recorded(tmp_path, main, engine, flags=flags)


def test_events(tmp_path):
    events = all_events(two_products(tmp_path, flags=FLOPS | MEMORY_FLAG))
    forward, first, second, engine, backward = events
    assert [event.id for event in events] == [1, 2, 3, 4, 5]
    assert (forward.self_cpu_time_total, forward.cpu_time_total, forward.cpu_time) == (2500, 4000, 4000)
    assert (first.time_range.start, first.time_range.end, first.time_range.elapsed_us()) == (1000, 2000, 1000)
    assert first.input_shapes == [[2, 3], [3, 4]] and first.concrete_inputs == [None, None]
    assert (first.flops, second.flops, forward.flops) == (2 * 2 * 3 * 4, 2 * 8 * 3 * 4, 0)
    assert (first.sequence_nr, first.fwd_thread, first.thread) == (5, 0, 1)
    assert (engine.sequence_nr, engine.fwd_thread, engine.thread, engine.scope) == (5, 1, 2, 0)
    assert backward.cpu_parent is engine and engine.cpu_children == [backward]
    assert (forward.cpu_memory_usage, forward.self_cpu_memory_usage, first.cpu_memory_usage) == (2144, 2048, 96)
    assert first.stack == backward.stack == ["a.py(2): product", "a.py(9): <module>"]
    assert (first.device_time_total, first.kernels, first.device_memory_usage, first.count, first.node_id) == (0, [], 0, 1, -1)
    assert first.cpu_time_str == "1.000ms" and "aten::mm" in repr(first)


def test_a_plain_table(tmp_path):
    rows = two_products(tmp_path)
    text = key_averages(rows, False, 0).table(sort_by="self_cpu_time_total", max_name_column_width=30)
    assert text.splitlines() == [
        "------------------------------  ------------  ------------  ------------  ------------  ------------  ------------  ",
        "                          Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  ",
        "------------------------------  ------------  ------------  ------------  ------------  ------------  ------------  ",
        "                       forward        50.00%       2.500ms        80.00%       4.000ms       4.000ms             1  ",
        "                      aten::mm        30.00%       1.500ms        30.00%       1.500ms     750.000us             2  ",
        "autograd::engine::evaluate_...        10.00%     500.000us        20.00%       1.000ms       1.000ms             1  ",
        "                   MmBackward0        10.00%     500.000us        10.00%     500.000us     500.000us             1  ",
        "------------------------------  ------------  ------------  ------------  ------------  ------------  ------------  ",
        "Self CPU time total: 5.000ms",
    ]
    assert text.endswith("ms\n")


def test_a_table_of_all_columns(tmp_path):
    rows = two_products(tmp_path, flags=FLOPS | MEMORY_FLAG | STACKS)
    averages = key_averages(rows, True, 1)
    text = averages.table(
        sort_by="cpu_time_total",
        row_limit=2,
        header="Mine",
        top_level_events_only=False,
        time_unit="us",
        max_src_column_width=16,
        max_shapes_column_width=16,
        max_name_column_width=16,
    )
    line = "----------------  " + "------------  " * 8 + "----------------  ----------------  ------------  "
    assert text.splitlines() == [
        "=" * (len(line) - 2),
        "Mine",
        line,
        "            Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg       CPU Mem  Self CPU Mem"
        "    # of Calls      Input Shapes  Source Location    Total FLOPs  ",
        line,
        "         forward        50.00%    2500.000us        80.00%    4000.000us    4000.000us       2.09 KB       2.00 KB"
        "             1                []  ...(9): <module>            --  ",
        " " * (16 + 2 + 8 * 14 + 16 + 2 + 16 + 2 + 12 + 2),
        "        aten::mm        20.00%    1000.000us        20.00%    1000.000us    1000.000us          96 B          96 B"
        "             1  [[2, 3], [3, 4]]  a.py(2): product        48.000  ",
        " " * (16 + 2 + 8 * 14 + 16 + 2 + 16 + 2 + 12 + 2),
        line,
        "Self CPU time total: 5000.000us",
    ]


def test_rows_of_a_table(tmp_path):
    rows = two_products(tmp_path)
    averages = key_averages(rows, False, 0)

    def shown(**named):
        lines = averages.table(**named).splitlines()
        first = next(i for i, line in enumerate(lines) if "Self CPU" in line) + 2
        return [line.split()[0] for line in lines[first:-2]]

    assert shown() == ["forward", "aten::mm", "autograd::engine::evaluate_function:", "MmBackward0"]
    assert shown(sort_by="count")[0] == "aten::mm"
    assert shown(sort_by="cuda_time_total") == shown()
    assert shown(row_limit=1) == ["forward"] and len(shown(row_limit=-1)) == 4 and shown(row_limit=0) == []
    assert shown(top_level_events_only=True) == ["forward", "autograd::engine::evaluate_function:"]
    assert str(averages) == averages.table()
    with pytest.raises(ProfilerError, match="no attribute 'speed' to sort by"):
        averages.table(sort_by="speed")
    with pytest.raises(ProfilerError, match="no time unit 'min'"):
        averages.table(time_unit="min")
    assert all_events(recorded(tmp_path)).table() == ""


def test_a_table_of_no_time(tmp_path):
    text = all_events(recorded(tmp_path, MadeThread(1, 1).op("now", 5, 5))).table()
    assert text.splitlines()[3].split() == ["now", "NaN", "0.000us", "NaN", "0.000us", "0.000us", "1"]


def test_averages(tmp_path):
    rows = two_products(tmp_path, flags=FLOPS)
    forward, product, engine, backward = key_averages(rows, False, 0)
    assert (product.key, product.count, product.cpu_time, product.flops, product.input_shapes) == ("aten::mm", 2, 750, 240, "")
    assert (forward.is_user_annotation, product.is_user_annotation) == (True, False)
    assert product.cpu_parent.name == "forward" and engine.cpu_children[0].name == "MmBackward0" and backward.stack == []
    assert len(key_averages(rows, True, 0)) == 5
    total = key_averages(rows, False, 0).total_average()
    assert (total.key, total.count, total.self_cpu_time_total) == ("Total", 5, 5000)
    assert isinstance(total, FunctionEventAvg)
    assert all_events(rows).self_cpu_time_total == 5000
    assert [average.count for average in all_events(rows).key_averages()] == [1, 2, 1, 1]


def test_stacks_for_flame_graphs(tmp_path):
    events = all_events(two_products(tmp_path))
    events.export_stacks(tmp_path / "stacks.txt")
    assert (tmp_path / "stacks.txt").read_text().splitlines() == [
        "a.py(9):_<module> 2500",
        "a.py(9):_<module>;a.py(2):_product 1000",
        "a.py(9):_<module>;a.py(2):_product 500",
        "a.py(9):_<module>;a.py(2):_product 500",
    ]
    events.export_stacks(tmp_path / "stacks.txt", metric="self_cuda_time_total")
    assert (tmp_path / "stacks.txt").read_text() == ""
    with pytest.raises(ValueError, match="no stack metric 'count'"):
        events.export_stacks(tmp_path / "stacks.txt", metric="count")


def test_a_convolution_and_its_backward_count(tmp_path):
    import struct

    def integers(*values):
        return struct.pack("<BH", 2, len(values)) + b"".join(struct.pack("<Bq", 3, value) for value in values)

    def number(value):
        return struct.pack("<Bq", 3, value)

    absent = b"\6"
    false = b"\5\0"
    conv = tensor(1, 3, 8, 8) + tensor(4, 3, 3, 3) + absent + integers(2, 2) + integers(0, 0) + integers(1, 1) + number(1)
    true = struct.pack("<BB", 5, 1)
    mask = struct.pack("<BH", 2, 3) + true * 3
    back = tensor(1, 4, 3, 3) + tensor(1, 3, 8, 8) + tensor(4, 3, 3, 3) + integers(4)
    back += integers(2, 2) + integers(0, 0) + integers(1, 1) + false + integers(0, 0) + number(1) + mask
    thread = MadeThread(1, 1).op("aten::conv2d", 0, 9, inputs=conv).op("aten::convolution_backward", 10, 19, inputs=back)
    rows = recorded(tmp_path, thread, flags=FLOPS)
    forward = 2 * 4 * 3 * 3 * (3 * 3 * 3)  # number of outputs times a 3x3x3 window
    assert rows.columns["flops"] == [forward, 2 * forward]
    assert recorded(tmp_path, thread).columns["flops"] == [0, 0]


def test_a_cut_file_is_read_as_far_as_it_goes(tmp_path):
    path = write(tmp_path / "made.stepscope", [MadeThread(1, 1).op("kept", 0, 9), MadeThread(2, 2).op("lost", 0, 9)])
    path.write_bytes(path.read_bytes()[: HEADER + UNIT])
    rows = Rows([path])
    assert [event.name for event in all_events(rows)] == ["kept"]
    assert "cut off" in rows.recorded.notes[0]
