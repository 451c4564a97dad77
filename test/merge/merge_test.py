"""Merged files: the same answers as from the original files, and a Perfetto trace that keeps Perfetto's rules.
Usage: merge_test.py PATH_TO_STEPSCOPE PATH_TO_MAKE_TRACE"""
import collections
import gzip
import json
import os
import re
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
SAMPLES = os.path.join(ROOT, "examples", "samples")
DATA = os.path.join(ROOT, "test", "data")
# Analyses that compare times of several ranks.
BETWEEN_RANKS = ("clock_alignment", "collectives", "communication", "stragglers")


def recorded(name):
    path = os.path.join(TRACES, name)
    return path if os.path.exists(path) else None


def slices(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        return sum(event.get("ph") == "X" for event in json.load(file)["traceEvents"])


class Merge(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def generated(self, *options):
        folder = self.path("ranks")
        subprocess.run([MAKE_TRACE, "--steps", "4", "--out", folder, *options], check=True, capture_output=True)
        return folder

    def assert_same(self, folder, merged, leave_out=()):
        self.assertEqual(differences(answers(PROGRAM, folder, leave_out), answers(PROGRAM, merged, leave_out)), [])

    def test_ranks_with_clocks_of_their_own(self):
        folder = self.generated("--ranks", "4", "--clock-skew", "5000")
        raw, aligned = self.path("raw.json"), self.path("aligned.json.gz")
        run(PROGRAM, "merge", folder, "--no-align", "-o", raw)
        self.assert_same(folder, raw)
        run(PROGRAM, "merge", folder, "-o", aligned)
        self.assert_same(folder, aligned, BETWEEN_RANKS)
        with gzip.open(aligned, "rt") as file:
            head = json.load(file)
        self.assertEqual({a["method"] for a in head["stepscope.alignment"]}, {"collectives"})
        self.assertEqual({event["args"]["name"].split(" · ")[0] for event in head["traceEvents"]
                          if event["name"] == "process_name"}, {"rank 0", "rank 1", "rank 2", "rank 3"})
        clocks = json.loads(run(PROGRAM, "show", "clock_alignment", aligned, "--format", "json").stdout)
        table = clocks["tables"][0]
        offset = [column["name"] for column in table["columns"]].index("offset")
        self.assertTrue(all(abs(row[offset]) < 5_000 for row in table["rows"]), table["rows"])

    def test_four_sources_with_the_same_ids(self):
        one, folder = self.path("one.json"), self.path("four")
        subprocess.run([MAKE_TRACE, "--steps", "3", "--out", one], check=True, capture_output=True)
        os.mkdir(folder)
        with open(one) as file:
            text = file.read()
        info = '"distributedInfo": {"backend": "nccl", "rank": %d, "world_size": 4},'
        text = re.sub(r'"distributedInfo":\s*\{[^}]*\},?', "", text)
        for rank in range(4):
            with open(os.path.join(folder, f"r{rank}.json"), "w") as file:
                file.write(text.replace("{", "{" + info % rank, 1))
        merged = self.path("merged.json")
        run(PROGRAM, "merge", folder, "-o", merged)
        self.assert_same(folder, merged)
        with open(merged) as file:
            events = json.load(file)["traceEvents"]
        owners = collections.defaultdict(set)
        source = None
        for event in events:
            if event["name"] == "stepscope.section":
                source = event["args"]["source"]
            elif source:
                owners["pid", event["pid"]].add(source)
                if event["ph"] in "sf":
                    owners["flow", event["id"]].add(source)
                if event.get("args", {}).get("correlation"):
                    owners["correlation", event["args"]["correlation"]].add(source)
        self.assertTrue(all(len(of) == 1 for of in owners.values()))

    def check_ranks(self, folder):
        merged, perfetto = self.path("merged.json.gz"), self.path("merged.pftrace")
        run(PROGRAM, "merge", folder, "-o", merged)
        self.assert_same(folder, merged)
        run(PROGRAM, "merge", folder, "-o", perfetto)
        with open(perfetto, "rb") as file:
            count = check(file.read())
        self.assertEqual(count["begins"], slices(merged))
        self.assertEqual(count["ends"], count["begins"])

    def test_two_ranks_on_cpus(self):
        self.check_ranks(os.path.join(DATA, "gloo_ranks"))

    def test_two_recorded_ranks(self):
        self.check_ranks(recorded("two_ranks") or self.skipTest("../shared/traces/two_ranks is not here"))

    def check_torch_and_dftracer(self, torch, io, flows):
        merged, perfetto = self.path(os.path.basename(torch)), self.path("merged.pftrace")
        run(PROGRAM, "merge", torch, io, "-o", merged)
        before, after = answers(PROGRAM, torch), answers(PROGRAM, merged)
        for name, text in after.items():  # the merged file has one more note
            after[name] = re.sub(r',?"1 of the merged sources[^"]*"', "", text)
        self.assertEqual(differences(before, after), [])
        run(PROGRAM, "merge", torch, io, "-o", perfetto)
        with open(perfetto, "rb") as file:
            count = check(file.read())
        self.assertEqual(count["begins"], slices(merged))
        self.assertGreater(count["whole_flows"], flows)

    def test_torch_and_dftracer(self):
        self.check_torch_and_dftracer(os.path.join(SAMPLES, "cnn.pt.trace.json.gz"), os.path.join(DATA, "reads.pfw"), 50)

    def test_recorded_torch_and_dftracer(self):
        torch = recorded("h100_vit/trace.json.gz") or self.skipTest("../shared/traces/h100_vit is not here")
        self.check_torch_and_dftracer(torch, recorded("pfw/test.pfw"), 100)

    def test_perfetto_of_generated_ranks(self):
        folder = self.generated("--ranks", "2", "--stacks", "--memory", "--streams", "2")
        perfetto, merged = self.path("merged.pftrace"), self.path("merged.json")
        run(PROGRAM, "merge", folder, "-o", perfetto)
        run(PROGRAM, "merge", folder, "-o", merged)
        with open(perfetto, "rb") as file:
            count = check(file.read())
        self.assertEqual(count["begins"], slices(merged))
        run(PROGRAM, "merge", merged, "-o", perfetto)
        with open(perfetto, "rb") as file:
            self.assertEqual(check(file.read())["begins"], count["begins"])

    def test_drift_that_is_left_is_said(self):
        folder, merged = self.generated("--ranks", "4", "--clock-skew", "5000", "--clock-drift", "20"), self.path("m.json")
        fitted = json.loads(run(PROGRAM, "show", "clock_alignment", folder, "--format", "json").stdout)["tables"][0]
        place = [column["name"] for column in fitted["columns"]].index("drift_ppm")
        said = run(PROGRAM, "merge", folder, "-o", merged).stderr
        with open(merged) as file:
            alignment = json.load(file)["stepscope.alignment"]
        for rank, source in enumerate(alignment):
            left = source.get("drift_left_ppm", 0)
            self.assertTrue(left == 0 or source["drift_ppm"] == 0)
            self.assertAlmostEqual(left + source["drift_ppm"], fitted["rows"][rank][place], places=3)
        drifts = {rank: source["drift_left_ppm"] for rank, source in enumerate(alignment)
                  if abs(source.get("drift_left_ppm", 0)) >= 0.05}
        most = max(drifts, key=lambda rank: abs(drifts[rank]))
        self.assertIn(f"{len(drifts)} of 4 clocks, the most on rank {most}, {drifts[most]:+.1f} ppm", said)

    def test_damage_is_not_merged_away(self):
        folder, merged = self.generated("--ranks", "2"), self.path("m.json")
        path = os.path.join(folder, sorted(os.listdir(folder))[1])
        os.truncate(path, os.path.getsize(path) // 2)
        run(PROGRAM, "merge", folder, "-o", merged)
        said = run(PROGRAM, "validate", merged, ok=(1,)).stdout
        self.assertIn("1 of 2 files is damaged", said)
        self.assertIn("it ends early", said)

    def write(self, name, events):
        with open(self.path(name), "w") as file:
            json.dump({"traceEvents": events}, file)
        return self.path(name)

    def test_a_merge_that_fails_leaves_what_was_there(self):
        folder, before = self.generated("--ranks", "2"), b"was there before"
        for name in ("keep.json", "keep.json.gz", "keep.pftrace", "new.json"):
            if name.startswith("keep"):
                with open(self.path(name), "wb") as file:
                    file.write(before)
            done = subprocess.run([PROGRAM, "merge", folder, "-o", self.path(name)], capture_output=True, text=True,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("could not be written completely", done.stderr)
            if name.startswith("keep"):
                with open(self.path(name), "rb") as file:
                    self.assertEqual(file.read(), before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["keep.json", "keep.json.gz", "keep.pftrace", "ranks"])
        os.symlink(self.path("keep.json"), self.path("link.json"))
        os.chmod(self.path("keep.json"), 0o640)
        run(PROGRAM, "merge", folder, "-o", self.path("link.json"))
        self.assertTrue(os.path.islink(self.path("link.json")))
        self.assertEqual(os.stat(self.path("keep.json")).st_mode & 0o777, 0o640)
        self.assertGreater(slices(self.path("keep.json")), 0)

    def test_a_source_without_usable_times(self):
        event = {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "dur": 1}
        good = self.write("good.json", [{**event, "ts": 1}, {**event, "ts": 3}])
        far = self.write("far.json", [{**event, "ts": 9e15}, {**event, "ts": -9.2e18}])
        for name in ("m.json", "m.pftrace"):
            said = run(PROGRAM, "merge", good, far, "-o", self.path(name)).stderr
            self.assertIn("Not merged: far.json: none of its events has a usable time.", said)
            self.assertIn("merged 1 rank: 2 events", said)

    def test_nothing_to_merge(self):
        empty, perfetto = self.path("empty.json"), self.path("p.pftrace")
        open(empty, "w").close()
        said = run(PROGRAM, "merge", empty, "-o", self.path("x.json"), ok=(1,)).stderr
        self.assertIn("nothing was written. Not merged: empty.json: no event could be read", said)
        self.assertNotIn("The readable part is merged", said)
        self.assertFalse(os.path.exists(self.path("x.json")))
        run(PROGRAM, "merge", self.generated("--ranks", "2"), "-o", perfetto)
        for words in (("merge", perfetto, "-o", self.path("x.json")), ("validate", perfetto)):
            self.assertIn("is a Perfetto trace, which only Perfetto reads", run(PROGRAM, *words, ok=(1, 2)).stderr)

    def test_alias(self):
        folder = self.generated("--ranks", "2")
        files = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".json"))
        link = self.path("merge_trace")
        os.symlink(PROGRAM, link)
        run(PROGRAM, "merge", *files, "-o", self.path("a.json"))
        run(PROGRAM, "merge_trace", "--inputs", *files, "--output", self.path("b.json"))
        run(link, "--inputs", *files, "--output", self.path("c.json"))
        texts = []
        for name in ("a.json", "b.json", "c.json"):
            with open(self.path(name)) as file:
                texts.append(file.read())
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(texts[0], texts[2])

    def test_misuse(self):
        one = self.path("one.json")
        with open(one, "w") as file:
            file.write('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]}')
        for words, part in (
            ([], "needs files"),
            ([one], "-o merged.json.gz"),
            ([one, "-o", "x.txt"], "end in .json.gz, .json or .pftrace"),
            ([one, one, "-o", self.path("x.json")], "given twice"),
            ([one, "-o", one], "would be overwritten"),
            ([self.path("none.json"), "-o", self.path("x.json")], "cannot be opened"),
        ):
            self.assertIn(part, run(PROGRAM, "merge", *words, ok=(1, 2)).stderr)
        self.assertFalse(os.path.exists(self.path("x.json")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
