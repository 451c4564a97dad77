"""compare.py on made results: a table whose every line can fail, and that is whole whatever is missing."""

import copy
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stdout

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import compare  # noqa: E402

TRAINING = {
    "counts": [["kernel", "gemm", 100], ["gpu_memcpy", "Memcpy HtoD", 50]],
    "time": {"kernel": 1000.0, "gpu_memcpy": 300.0, "gpu_memset": 10.0},
    "averages": [["aten::mm", False, 100], ["gemm", True, 100]],
    "op time": 900.0,
    "unlinked": 0,
    "without op": 2,
    "cost": {"step": 3e-3, "launch": 5e-6, "recorded step": 3.2e-3, "recorded launch": 8e-6, "first start": 0.01, "stop and export": 0.04},
}
MEMORY = {"records": [[0, 512, 512, 2048], [0, -512, 0, 2048]], "by op": [["aten::empty", 512]], "peak": 512}
GRAPH = {"kernels": [["aten::mm", "gemm", 3], ["aten::relu", "clamp", 3]]}
TRITON = {"launches": [[[12, 1, 1], [64, 1, 1], 0, [1000, 3]]] * 5}
RESULTS = {"training": TRAINING, "memory": MEMORY, "graph": GRAPH, "triton": TRITON}
SEVERAL = {"name": compare.SEVERAL_TOOLS, "result": "COMPLETED"}


def tests(*ran):
    return {"testsuites": [{"testsuite": [{"name": "AStep", "result": "COMPLETED"}, *ran]}]}


class Compare(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for check, result in RESULTS.items():
            for profiler in ("torch", "stepscope"):
                self.put(f"{check}.{profiler}.1.json", result)
        self.put("tests.json", tests(SEVERAL))

    def put(self, name, result):
        (pathlib.Path(self.folder.name) / name).write_text(json.dumps(result))

    def ours(self, check, change):
        result = copy.deepcopy(RESULTS[check])
        change(result)
        self.put(f"{check}.stepscope.1.json", result)

    def table(self):
        """The exit code, and each line's last cell by its first."""
        out = io.StringIO()
        with redirect_stdout(out):
            code = compare.main(self.folder.name)
        rows = [line.strip("| ").split(" | ") if line.endswith("** |") or line.endswith("yes |") else [*line.strip("| ").split(" | "), ""]
                for line in out.getvalue().splitlines()[2:]]  # fmt: skip
        return code, {row[0]: row[-1] for row in rows}, out.getvalue()

    def failed(self):
        code, rows, _ = self.table()
        self.assertEqual(code, 1)
        return [what for what, ok in rows.items() if ok == "**no**"]

    def test_equal_results_agree(self):
        code, rows, text = self.table()
        self.assertEqual(code, 0, text)
        self.assertEqual(sum(ok == "yes" for ok in rows.values()), len(rows) - 4, text)  # four times are only told

    def test_each_line_can_fail(self):
        for check, change, line in [
            ("training", lambda r: r["counts"].append(["kernel", "extra", 1]), "names of kernels, copies and fills"),
            ("training", lambda r: r["counts"][0].__setitem__(2, 99), "how many ran"),
            ("training", lambda r: r["time"].update(kernel=1011.0), "time of kernel, µs, median and range"),
            ("training", lambda r: r["time"].update(gpu_memset=11.0), "time of gpu_memset, µs, median and range"),
            ("training", lambda r: r["averages"].pop(), "rows of the table with time of their own on the device"),
            ("training", lambda r: r.update({"op time": 850.0}), "device time of ops in the table, µs, median and range"),
            ("training", lambda r: r.update(unlinked=1), "device work without its launch"),
            ("training", lambda r: r.update({"without op": 3}), "kernels without an op"),
            ("training", lambda r: r["cost"].update({"recorded launch": 8.9e-6}), "added to each launch, µs"),
            ("memory", lambda r: r["records"].pop(), "memory: reports of the allocator"),
            ("memory", lambda r: r["records"][0].__setitem__(0, 1), "memory: reports whose device differ"),
            ("memory", lambda r: r["records"][0].__setitem__(1, 513), "memory: reports whose bytes differ"),
            ("memory", lambda r: r["records"][1].__setitem__(2, 1), "memory: reports whose total allocated differ"),
            ("memory", lambda r: r["records"][0].__setitem__(3, 0), "memory: reports whose total reserved differ"),
            ("memory", lambda r: r["by op"][0].__setitem__(1, 513), "memory: ops with memory of their own, to the byte"),
            ("memory", lambda r: r.update(peak=511), "memory: peak, bytes"),
            ("graph", lambda r: r["kernels"].pop(), "graph: kernels of three replays"),
            ("graph", lambda r: r["kernels"][0].__setitem__(0, ""), "graph: kernels that name the op that captured them"),
            ("graph", lambda r: r["kernels"][0].__setitem__(0, "aten::relu"), "graph: ops and their kernels, as without a graph"),
            ("triton", lambda r: r["launches"].pop(), "triton: launches"),
            ("triton", lambda r: r["launches"].__setitem__(4, [[3, 1, 1], [64, 1, 1], 0, [1000, 3]]), "triton: grid"),
            ("triton", lambda r: r["launches"].__setitem__(4, [[12, 1, 1], [128, 1, 1], 0, [1000, 3]]), "triton: block, from num_warps"),
            ("triton", lambda r: r["launches"].__setitem__(4, [[12, 1, 1], [64, 1, 1], 9, [1000, 3]]), "triton: shared memory"),
            ("triton", lambda r: r["launches"].__setitem__(4, [[12, 1, 1], [64, 1, 1], 0, [3]]), "triton: shape of the first argument"),
        ]:  # fmt: skip
            with self.subTest(line):
                self.ours(check, change)
                self.assertIn(line, self.failed())
                self.ours(check, lambda r: None)

    def test_times_are_medians_and_may_differ_by_one_per_cent(self):
        for round_, time in enumerate((1009.0, 900.0, 1200.0), 1):
            self.put(f"training.stepscope.{round_}.json", {**TRAINING, "time": {**TRAINING["time"], "kernel": time}})
        self.assertEqual(self.table()[0], 0)

    def test_copies_may_lie_within_the_range_of_the_other_profiler(self):
        for round_, time in enumerate((200.0, 300.0, 400.0), 1):
            self.put(f"training.torch.{round_}.json", {**TRAINING, "time": {**TRAINING["time"], "gpu_memcpy": time}})
        self.ours("training", lambda r: r["time"].update(gpu_memcpy=390.0))
        self.assertEqual(self.table()[0], 0)

    def test_a_check_without_result_leaves_the_others(self):
        folder = pathlib.Path(self.folder.name)
        (folder / "graph.stepscope.1.json").unlink()
        (folder / "graph.stepscope.1.log").write_text("Traceback\nRuntimeError: a | b\n\n")
        (folder / "memory.torch.1.json").write_text("{}")
        (folder / "tests.json").unlink()
        code, rows, text = self.table()
        self.assertEqual(code, 1)
        failed = {what for what, ok in rows.items() if ok == "**no**"}
        self.assertEqual(failed, {"tests of the collector", "graph: the check", "memory: the check"}, text)
        self.assertIn("RuntimeError: a \\| b", text)
        self.assertIn("| triton: launches | 5 | 5 | yes |", text)

    def test_nothing_was_run(self):
        with tempfile.TemporaryDirectory() as empty:
            self.folder.name = empty
            self.assertEqual(len(self.failed()), 5)

    def test_tests_of_the_collector(self):
        self.put("tests.json", tests({"name": "Broken", "result": "COMPLETED", "failures": [{}]}, SEVERAL))
        self.assertEqual(self.failed(), ["tests of the collector that fail"])
        self.put("tests.json", tests({**SEVERAL, "failures": [{}]}))
        self.assertEqual(self.failed(), ["tests of the collector that fail", "several tools at once"])
        self.put("tests.json", tests({**SEVERAL, "result": "SKIPPED"}))
        self.assertIn("| several tools at once | both see all work | left out: it needs a GPU and CUDA 13.3 |  |", self.table()[2])
        self.put("tests.json", tests())
        self.assertEqual(self.failed(), ["several tools at once"])


class Run(unittest.TestCase):
    def test_the_script_parses(self):
        self.assertEqual(subprocess.run(["sh", "-n", HERE / "run.sh"]).returncode, 0)

    def test_without_a_gpu_it_says_so(self):
        bare = {"PATH": "/usr/bin:/bin", "PYTHON": "/bin/false"}
        done = subprocess.run(["sh", HERE / "run.sh", "/dev/null"], env=bare, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (2, "run.sh: /bin/false has no PyTorch that sees a GPU; set PYTHON to one that has\n"))


if __name__ == "__main__":
    unittest.main()
