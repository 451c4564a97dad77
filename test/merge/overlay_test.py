"""Overlaid files: the same answers as the recording, and arrows and counters that viewers can place.
Usage: overlay_test.py PATH_TO_STEPSCOPE PATH_TO_MAKE_TRACE"""
import collections
import gzip
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

from answers import answers, differences, run
from pftrace import check

PROGRAM, MAKE_TRACE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRACES = os.path.join(ROOT, "..", "shared", "traces")


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        return json.load(file)


def drawn(event):
    return event.get("cat") in ("critical_path", "stepscope.counter") or event["name"] == "stepscope.overlay"


class Overlay(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def verdict(self, path):
        reports = json.loads(run(PROGRAM, "report", path, "--format", "json").stdout)["reports"]
        tables = next(report for report in reports if report["report"] == "verdict")["tables"]
        return {t["title"]: [dict(zip([c["name"] for c in t["columns"]], r)) for r in t["rows"]] for t in tables}

    def generated(self, *options):
        one = self.path("one.json")
        subprocess.run([MAKE_TRACE, "--steps", "4", "--out", one, *options], check=True, capture_output=True)
        return one

    def check_copy(self, before, after):
        """Events are unchanged except for marks; each arrow has two ends, and each end lies in an event of its lane."""
        was, now = read(before), read(after)
        self.assertEqual({k: v for k, v in was.items() if k != "traceEvents"},
                         {k: v for k, v in now.items() if k != "traceEvents"})
        count = len(was["traceEvents"])
        marked, events = 0, []
        for event in now["traceEvents"][:count]:
            args = event.get("args", {})
            marked += args.pop("critical", 0) if isinstance(args, dict) else 0
            events.append(event)
        for a, b in zip(was["traceEvents"], events):
            if a != b:
                self.assertEqual({**a, "args": {}}, b)
        self.assertTrue(all(drawn(event) for event in now["traceEvents"][count:]))
        lanes, arrows, counters = collections.defaultdict(list), collections.defaultdict(list), collections.Counter()
        for event in was["traceEvents"]:
            if event["ph"] == "X":
                lanes[str(event["pid"]), str(event["tid"])].append((event["ts"], event["ts"] + event["dur"]))
        for event in now["traceEvents"][count:]:
            if event["ph"] in "sf":
                arrows[event["id"]].append(event)
                at = event["ts"]
                self.assertTrue(any(a - 0.001 <= at <= b + 0.001 for a, b in lanes[str(event["pid"]), str(event["tid"])]), event)
            elif event["ph"] == "C":
                counters[event["name"]] += 1
                self.assertEqual(len(event["args"]), 1)
        for ends in arrows.values():
            self.assertEqual([end["ph"] for end in ends], ["s", "f"])
            self.assertLessEqual(ends[0]["ts"], ends[1]["ts"])
        return marked, len(arrows), counters

    def test_a_generated_recording(self):
        one, copy = self.generated("--streams", "2"), self.path("copy.json.gz")
        said = run(PROGRAM, "overlay", one, "-o", copy).stderr
        marked, arrows, counters = self.check_copy(one, copy)
        self.assertIn(f"drew {marked} events, {arrows} arrows", said)
        self.assertGreater(marked, 10)
        self.assertGreater(arrows, 0)
        self.assertGreater(len(counters), 0)
        self.assertEqual(differences(answers(PROGRAM, one, ("event",)),
                                     {k: v.replace("copy.json.gz", "one.json") for k, v in
                                      answers(PROGRAM, copy, ("event",)).items()}), [])

    def check_overlay(self, path):
        copy = self.path("copy.json.gz")
        run(PROGRAM, "overlay", path, "--all-edges", "-o", copy)
        marked, _, _ = self.check_copy(path, copy)
        self.assertGreater(marked, 0)
        base, other = os.path.basename(path), os.path.basename(copy)
        self.assertEqual(differences(answers(PROGRAM, path, ("event",)),
                                     {k: v.replace(other, base) for k, v in
                                      answers(PROGRAM, copy, ("event",)).items()}), [])

    def test_samples(self):
        for name in ("test/data/generated_rocm_checkpointing.json.gz", "test/data/generated_2021_workers.json.gz",
                     "test/data/generated_inference.json.gz", "test/data/gloo_ranks/rank0.pt.trace.json.gz",
                     "test/data/generated_xpu_optimizer.json.gz"):
            with self.subTest(name):
                self.check_overlay(os.path.join(ROOT, name))

    def test_recordings(self):
        for name in ("critical_path/cuda_event_sync_multi_stream.json.gz", "h100_vit/trace.json.gz",
                     "critical_path/simple_add.json.gz", "tb_samples/resnet50_num_workers_0", "mi250_toy", "mtia_inference"):
            path = os.path.join(TRACES, name)
            if os.path.isdir(path):
                path = os.path.join(path, sorted(os.listdir(path))[0])
            if not os.path.exists(path):
                self.skipTest(f"{path} is not here")
            with self.subTest(name):
                self.check_overlay(path)

    def test_what_is_drawn_reaches_perfetto(self):
        one, copy, perfetto = self.generated(), self.path("copy.json"), self.path("copy.pftrace")
        run(PROGRAM, "overlay", one, "-o", copy)
        counts = []
        for path in (one, copy):
            run(PROGRAM, "merge", path, "-o", perfetto)
            with open(perfetto, "rb") as file:
                counts.append(check(file.read()))
        _, arrows, _ = self.check_copy(one, copy)
        self.assertEqual(counts[0]["begins"], counts[1]["begins"])
        self.assertGreater(counts[1]["whole_flows"], counts[0]["whole_flows"])
        self.assertGreater(counts[1].get("counters", 1), counts[0].get("counters", 0))
        self.assertGreater(arrows, 0)

    def test_only_what_is_critical(self):
        one, copy = self.generated(), self.path("copy.json")
        run(PROGRAM, "overlay", one, "--what", "critical_path", "--only-critical", "-o", copy)
        left = [event for event in read(copy)["traceEvents"] if event["ph"] == "X"]
        self.assertTrue(all(event["args"].get("critical") or event["cat"] in ("user_annotation", "python_function")
                            for event in left))
        whole = [event for event in read(one)["traceEvents"] if event["ph"] == "X"]
        self.assertTrue(0 < len(left) < len(whole))
        self.assertTrue(read(copy)["stepscope.overlay"]["only_critical"])
        rows = self.verdict(copy)
        self.assertEqual([row["outcome"] for row in rows["Verdict"]], ["cannot tell"])
        self.assertEqual(rows["Findings"], [])
        self.assertIn("only the events of a critical path", rows["Verdict"][0]["headline"])
        self.assertEqual([row["id"] for row in rows["Health"]], ["Q16"])
        self.assertIn("this copy holds only the events of a critical path",
                      " ".join(run(PROGRAM, "show", "overview", copy).stdout.split()))
        self.assertIn("copy with only a critical path", " ".join(run(PROGRAM, "gate", one, copy, ok=(3,)).stdout.split()))
        merged = self.path("merged.json")
        run(PROGRAM, "merge", copy, "-o", merged)
        self.assertEqual([row["id"] for row in self.verdict(merged)["Health"]], ["Q16"])

    def test_a_damaged_recording(self):
        one, copy = self.generated(), self.path("copy.json")
        os.truncate(one, os.path.getsize(one) - 2000)
        said = run(PROGRAM, "overlay", one, "-o", copy).stderr
        self.assertIn("it ends early", said)
        self.assertGreater(len(read(copy)["traceEvents"]), 10)
        for path in (one, copy):
            self.assertIn("damaged", run(PROGRAM, "validate", path, ok=(1,)).stdout)
            self.assertIn("Q07", [row["id"] for row in self.verdict(path)["Health"]])
        self.assertIn("of which this is a copy", " ".join(run(PROGRAM, "show", "overview", copy).stdout.split()))
        again = self.path("again.json")
        self.assertIn("was overlaid before", run(PROGRAM, "overlay", copy, "-o", again, ok=(1,)).stderr)

    def test_it_is_written_whole_or_not_at_all(self):
        one, copy = self.generated(), self.path("copy.json")
        with open(copy, "w") as file:
            file.write("was there before")
        done = subprocess.run([PROGRAM, "overlay", one, "-o", copy], capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)))
        self.assertEqual(done.returncode, 1)
        with open(copy) as file:
            self.assertEqual(file.read(), "was there before")
        self.assertEqual(sorted(os.listdir(self.folder)), ["copy.json", "one.json"])

    def test_misuse(self):
        one, copy = self.generated(), self.path("copy.json")
        for words, part in (
            ([], "needs one file"),
            ([one, one, "-o", copy], "is given twice"),
            ([one, MAKE_TRACE, "-o", copy], "takes one file, not a folder"),
            ([self.folder, "-o", copy], "takes one file, not a folder"),
            ([one], "-o overlaid.json.gz"),
            ([one, "-o", self.path("copy.pftrace")], "ends in .json.gz or .json"),
            ([one, "-o", one], "would be overwritten"),
            ([one, "-o", copy, "--what", "queue"], "not 'queue'"),
            ([one, "-o", copy, "--instance", "3-1"], "a range"),
            ([one, "-o", copy, "--all-edges", "--only-critical"], "give only one of them"),
            ([one, "-o", copy, "--what", ""], "--what is empty"),
            ([one, "-o", copy, "--what", "queue_length", "--only-critical"], "for the critical path"),
            ([self.path("none.json"), "-o", copy], "cannot be opened"),
        ):
            self.assertIn(part, run(PROGRAM, "overlay", *words, ok=(1, 2)).stderr)
            self.assertFalse(os.path.exists(copy))
        run(PROGRAM, "overlay", one, "-o", copy)
        self.assertIn("was overlaid before", run(PROGRAM, "overlay", copy, "-o", self.path("x.json"), ok=(1,)).stderr)
        merged = self.path("merged.json")
        run(PROGRAM, "merge", one, "-o", merged)
        self.assertIn("merge the copies", run(PROGRAM, "overlay", merged, "-o", self.path("x.json"), ok=(1,)).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
