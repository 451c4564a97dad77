"""Memory snapshots on the command line: compared, queried and written in other forms."""

import csv
import json
import os
import pickle
import subprocess

from program import PROGRAM, ROOT, Folder, run

SNAPSHOT = os.path.join(ROOT, "examples", "samples", "generated_leak_oom.pickle.gz")
KEEPING = "/workspace/quill/callbacks.py(28): collect"
KEPT_EACH = 52474637  # bytes_each of generated_leak_oom.truth.json


class Snapshots(Folder):
    def test_two_snapshots_are_compared_by_their_memory(self):
        part = self.path("part.pickle")
        self.assertEqual(run("export", SNAPSHOT, "--until", "5000", "-o", part)[0], 0)
        code, out, _ = run("diff", part, SNAPSHOT, "--format", "json")
        self.assertEqual(code, 0)
        held = json.loads(out)["tables"][1]
        names = [column["name"] for column in held["columns"]]
        changes = {row[names.index("place")]: row[names.index("bytes_change")] for row in held["rows"]}
        self.assertEqual(changes[KEEPING] % KEPT_EACH, 0)
        self.assertEqual(max(changes, key=changes.get), KEEPING)
        self.assertNotIn("no whole step", run("diff", part, SNAPSHOT)[1])

    def test_instants_that_are_not_there(self):
        code, _, err = run("export", SNAPSHOT, "--until", "7000", "-o", self.path("no.pickle"))
        self.assertEqual(code, 1)
        self.assertIn("has no event 7000: it has events 0 to 6329", err)
        self.assertFalse(os.path.exists(self.path("no.pickle")))
        code, _, err = run("export", SNAPSHOT, "--since", "50", "--until", "40", "-o", self.path("no.pickle"))
        self.assertEqual(code, 1)
        self.assertIn("--since is after --until", err)
        for words, said in (("--since 5 -o e.csv", "for a snapshot as a pickle"), ("--what memory_peak -o e.pickle", "leave out --what")):
            code, _, err = run("export", SNAPSHOT, *words.split(), cwd=self.folder)
            self.assertEqual((code, said in err), (2, True), err)
        code, _, err = run("export", self.trace, "-o", self.path("no.pickle"))
        self.assertEqual(code, 2)
        self.assertIn("only a memory snapshot becomes a pickle", err)

    def test_sql(self):
        query = """select s.place, sum(e.size_bytes) as kept_bytes, count(*) as n from allocator_event e
            join allocator_stack s on s.rank = e.rank and s.stack = e.stack
            where e.action = 'alloc' and e.partner is null group by 1 order by 2 desc limit 1"""
        code, out, _ = run("sql", SNAPSHOT, query, "--format", "json")
        self.assertEqual(code, 0)
        [[place, kept, count]] = json.loads(out)["tables"][0]["rows"]
        self.assertEqual((place, kept), (KEEPING, count * KEPT_EACH))
        # What the blocks hold is what the events leave.
        code, out, _ = run("sql", SNAPSHOT, """select (select sum(requested_bytes) from allocator_block where state = 'active'),
            (select requested_bytes from allocator_event order by event desc limit 1)""", "--format", "csv")  # fmt: skip
        blocks, events = list(csv.reader(out.splitlines()))[1]
        self.assertEqual(blocks, events)

    def test_tables_are_exported_by_name(self):
        code, out, _ = run("export", SNAPSHOT, "--what", "allocator_block", "--format", "csv")
        self.assertEqual(code, 0)
        rows = list(csv.DictReader(out.splitlines()))
        self.assertEqual({row["state"] for row in rows}, {"active", "inactive"})
        code, out, _ = run("export", self.trace, "--what", "step", "--format", "csv")
        self.assertEqual(code, 0)
        self.assertEqual([row["step"] for row in csv.DictReader(out.splitlines())], ["0", "1", "2"])
        code, _, err = run("export", self.trace, "--what", "kernel", "--format", "csv")
        self.assertEqual(code, 2)
        self.assertIn("`stepscope sql TRACE 'SELECT ...' -o FILE` writes any table", err)

    def test_folded_stacks(self):
        code, out, _ = run("show", "memory_peak", SNAPSHOT, "--format", "folded")
        self.assertEqual(code, 0)
        stack, size = out.splitlines()[0].rsplit(" ", 1)
        self.assertIn(KEEPING, stack.split(";"))
        self.assertEqual(int(size) % KEPT_EACH, 0)
        code, _, err = run("show", "steps", self.trace, "--format", "folded")
        self.assertEqual(code, 2)
        self.assertIn("steps has no stacks", err)

    def test_a_pickle_on_standard_output(self):
        done = subprocess.run([PROGRAM, "export", SNAPSHOT, "--format", "pickle"], check=True, stdout=subprocess.PIPE, timeout=60)
        self.assertEqual(len(pickle.loads(done.stdout)["device_traces"][0]), 6330)
