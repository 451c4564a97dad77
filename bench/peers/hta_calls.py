"""Opens one rank as a notebook of HTA's users does, makes each of its calls twice, and prints the times and the answer of each.

    hta_calls.py hta.trace_analysis|stepscope.hta FILE [SECONDS]

A call that takes longer than SECONDS is stopped. Prints one line of JSON: "open_s", and for each call "s", "again_s", "rows" and the
"sums" of its columns of numbers, or "failed".
"""
import contextlib
import importlib
import json
import os
import signal
import sys
import tempfile
import time
import warnings

import pandas as pd

CALLS = {
    "get_temporal_breakdown": {"visualize": False},
    "get_comm_comp_overlap": {"visualize": False},
    "get_gpu_kernel_breakdown": {"visualize": False},
    "get_idle_time_breakdown": {"ranks": [0], "visualize": False},
    "get_queue_length_time_series": {"ranks": [0]},
    "get_queue_length_summary": {"ranks": [0]},
    "get_memory_bw_time_series": {"ranks": [0]},
    "get_memory_bw_summary": {"ranks": [0]},
    "get_cuda_kernel_launch_stats": {"ranks": [0], "visualize": False},
    "get_aten_op_kernels_and_delay": {"ranks": [0]},
    "get_gpu_user_annotation_breakdown": {"visualize": False},
    "get_gpu_kernels_with_user_annotations": {"rank": 0},
    "get_frequent_cuda_kernel_sequences": {"operator_name": "autograd::engine", "rank": 0},
    "critical_path_analysis": {"rank": 0, "annotation": "ProfilerStep", "instance_id": 1},
}
NUMBERS_ONLY = {"index", "ts", "end", "pid", "tid", "stream", "correlation"}  # identifiers of events, not amounts


def frames(answer):
    """All tables of an answer, in whatever container."""
    if isinstance(answer, pd.DataFrame):
        yield answer
    elif isinstance(answer, dict):
        for part in answer.values():
            yield from frames(part)
    elif isinstance(answer, (list, tuple)):
        for part in answer:
            yield from frames(part)


def told(answer):
    sums, rows = {}, 0
    for frame in frames(answer):
        frame = frame.reset_index() if frame.index.names != [None] else frame
        rows += len(frame)
        for column, values in frame.items():
            name = "/".join(column) if isinstance(column, tuple) else str(column)
            if pd.api.types.is_numeric_dtype(values) and name not in NUMBERS_ONLY:
                sums[name] = sums.get(name, 0.0) + float(values.sum())
    return {"rows": rows, "sums": sums}


class Late(Exception):
    pass


def late(*_):
    raise Late


def call(analysis, name, words, limit):
    def ask():
        signal.alarm(limit)
        begin = time.perf_counter()
        answer = getattr(analysis, name)(**words)
        took = time.perf_counter() - begin
        signal.alarm(0)
        return took, answer

    signal.signal(signal.SIGALRM, late)
    try:
        took, answer = ask()
        return {"s": took, "again_s": ask()[0], **told(answer)}
    except Late:
        return {"failed": f"stopped after {limit} s"}
    except Exception as error:  # whatever a library raises is its answer
        return {"failed": f"{type(error).__name__}: {error}"[:200]}
    finally:
        signal.alarm(0)


def main(module, path, limit="300"):
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr), tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        analysis = importlib.import_module(module).TraceAnalysis(trace_files={0: path}, trace_dir="/")
        opened = time.perf_counter() - begin
        os.chdir(folder)
        CALLS["get_frequent_cuda_kernel_sequences"]["output_dir"] = folder
        calls = {name: call(analysis, name, words, int(limit)) for name, words in CALLS.items()}
    print(json.dumps({"open_s": opened, "calls": calls}))


if __name__ == "__main__":
    main(*sys.argv[1:])
