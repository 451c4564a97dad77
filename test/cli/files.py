"""Files that are checked, exported and queried; scripts and pages that are generated."""

import csv
import json
import os
import re
import resource
import shutil
import subprocess
import unittest

from program import ROOT, Folder, made_trace, run


class Files(Folder):
    def test_validate(self):
        code, out, _ = run("validate", self.trace)
        self.assertEqual(code, 0)
        self.assertIn("without loss", out)
        code, out, _ = run("validate", self.cut)
        self.assertEqual(code, 1)
        self.assertIn("1 of 1 file is damaged", out)
        self.assertEqual(run("validate", self.cut, "--format", "json")[0], 1)

    def test_ends_without_a_begin_are_a_loss(self):
        halves = self.path("halves.json")
        document = made_trace()
        half = {"name": "half", "pid": 1, "tid": 1, "ts": 5}
        document["traceEvents"].append({"ph": "B", **half})
        with open(halves, "w") as out:
            json.dump(document, out)
        code, out, _ = run("validate", halves)
        self.assertEqual(code, 0)
        self.assertIn("1 begin event (ph B) had no end and is extended to", " ".join(out.split()))
        document["traceEvents"][-1] = {"ph": "E", **half}
        with open(halves, "w") as out:
            json.dump(document, out)
        code, out, _ = run("validate", halves)
        self.assertEqual(code, 1)
        self.assertNotIn("without loss", out)
        self.assertIn("1 end event (ph E) had no begin and is left out.", " ".join(out.split()))

    def test_absurd_times_are_no_damage(self):
        absurd = self.path("absurd.json")
        document = made_trace()
        document["traceEvents"][-1]["dur"] = -5
        with open(absurd, "w") as out:
            json.dump(document, out)
        code, out, _ = run("validate", absurd)
        self.assertEqual(code, 1)
        self.assertNotIn("damaged\n", out.replace(" stretches", ""))
        self.assertIn("1 event had a missing, negative or absurd time", " ".join(out.split()))

    def test_what_is_no_trace_is_said_once(self):
        folder = self.path("mixed")
        os.mkdir(folder)
        shutil.copy(self.trace, os.path.join(folder, "a.json"))
        with open(os.path.join(folder, "a.truth.json"), "w") as out:
            out.write('{"steps": 3}')
        for words in (["report"], ["validate"], ["show", "steps"], ["show", "overview"], ["export", "--format", "csv"]):
            _, out, err = run(*words, folder)
            said = "".join((out + err).lower().replace("│", "").split())
            self.assertEqual(said.count("notread:"), 1, (words, out, err))

    def test_standard_input_has_a_name(self):
        with open(self.trace, "rb") as trace:
            _, out, _ = run("validate", "-", stdin=trace)
        self.assertIn("standard input", out)

    def test_a_cut_file_still_answers(self):
        self.assertEqual(run(self.cut)[0], 0)

    def test_export_events(self):
        paths = {kind: self.path("events." + kind) for kind in ("csv", "json", "sqlite")}
        for path in paths.values():
            code, out, err = run("export", self.trace, "-o", path)
            self.assertEqual((code, out), (0, ""))
            self.assertRegex(err, rf"^wrote {re.escape(path)}, [0-9.]+ Ki?B\n$")
        with open(paths["csv"], newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        with open(paths["json"], encoding="utf-8") as file:
            table = json.load(file)["tables"][0]
        names = [column["name"] for column in table["columns"]]
        self.assertEqual(names, list(rows[0]))
        self.assertEqual(len(rows), len(table["rows"]))
        self.assertEqual(len(rows), 12)
        kernels = [row for row in rows if row["kind"] == "kernel"]
        self.assertEqual([row["duration_ns"] for row in kernels], ["400000"] * 3)
        self.assertEqual(kernels[0]["name"], "evil\ufffd[31m<script>,\"quoted\"")
        self.assertEqual(json.loads(kernels[1]["args"])["correlation"], 2)
        import sqlite3

        with sqlite3.connect(paths["sqlite"]) as database:
            self.assertEqual(database.execute("SELECT count(*) FROM event").fetchone(), (12,))
            self.assertEqual(database.execute("SELECT count(*) FROM steps").fetchone(), (3,))
            tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
        self.assertTrue({"event", "arg", "track", "rank", "step", "device", "flow"} <= tables, tables)

    def test_a_database_is_written_whole_or_not_at_all(self):
        folder = self.path("databases")
        os.mkdir(folder)
        path = os.path.join(folder, "o.db")
        with open(path, "w") as file:
            file.write("was there before")
        code, _, err = run("export", self.trace, "-o", path,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)))
        self.assertEqual(code, 1)
        self.assertIn(path, err)
        with open(path) as file:
            self.assertEqual(file.read(), "was there before")
        self.assertEqual(os.listdir(folder), ["o.db"])

    def test_export_for_dftracer(self):
        reads = os.path.join(ROOT, "test/data/reads.pfw")
        for ending in (".pfw", ".pfw.gz"):
            path = self.path("reads" + ending)
            code, out, err = run("export", reads, "-o", path)
            self.assertEqual((code, out), (0, ""))
            self.assertRegex(err, rf"^wrote {re.escape(path)}, [0-9.]+ (B|KiB)\n$")
            self.assertEqual(run("show", "io", path), run("show", "io", reads))
        code, out, err = run("export", self.trace, "--format", "pfw")
        self.assertEqual(code, 0)
        self.assertEqual(err, "note: no file I/O is recorded: the file has 3 ranges and 3 operators only. "
                              "`stepscope record --io` records I/O.\n")
        lines = out.splitlines()
        self.assertEqual((lines[0], lines[-1]), ("[", "]"))
        events = [json.loads(line) for line in lines[1:-1]]
        self.assertEqual([event["cat"] for event in events if event["ph"] == "X"], ["user_annotation", "compute"] * 3)
        code, _, err = run("export", reads, "--what", "steps", "-o", self.path("no.pfw"))
        self.assertEqual(code, 2)
        self.assertIn("leave out --what", err)

    def test_export_of_an_analysis_is_what_show_prints(self):
        path = self.path("steps.json")
        self.assertEqual(run("export", self.trace, "--what", "steps", "-o", path)[:2], (0, ""))
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), run("show", "steps", self.trace, "--format", "json")[1])

    def test_sql(self):
        code, out, err = run("sql", self.trace, "SELECT kind, count(*) AS n FROM event GROUP BY kind ORDER BY kind", "--format", "csv")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, "kind,n\r\nannotation,3\r\nkernel,3\r\nop,3\r\nruntime,3\r\n")
        code, out, err = run("sql", self.trace, "SELECT count(*) AS n FROM STEPS", "--format", "csv")
        self.assertEqual((code, out), (0, "n\r\n3\r\n"), err)
        rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) SELECT i FROM n"
        code, out, err = run("sql", self.trace, rows, "--format", "csv")
        self.assertEqual((code, len(out.splitlines())), (0, 1001))
        self.assertIn("The first 1000 of 1500 rows are shown", err)
        code, out, err = run("sql", self.trace, rows, "--format", "csv", "--top", "0")
        self.assertEqual((code, len(out.splitlines()), err), (0, 1501, ""))
        several = "SELECT count(*) AS n FROM step; SELECT op_name, launch_name FROM kernel LIMIT 1"
        code, out, _ = run("sql", self.trace, several, "--format", "json")
        tables = json.loads(out)["tables"]
        self.assertEqual([table["rows"] for table in tables], [[[3]], [["aten::mm", "cudaLaunchKernel"]]])
        code, out, err = run("sql", self.trace, "SELECT * FROM evnt")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("Did you mean 'event'?", err)
        self.assertIn("The tables are event, arg, track", err)
        for query in ("DELETE FROM event", "ATTACH 'x' AS x", "PRAGMA journal_mode"):
            self.assertEqual(run("sql", self.trace, query)[0], 1, query)
        code, out, _ = run("sql", self.trace, "--tables", "--format", "csv")
        self.assertEqual(code, 0)
        self.assertIn("event,duration_ns,integer", out)


class Generated(Folder):
    def test_completion(self):
        for shell in ("bash", "zsh", "fish"):
            code, out, err = run("completion", shell)
            self.assertEqual((code, err), (0, ""))
            for name in ("report", "validate", "sql", *self.analyses):
                self.assertIn(name, out)
            check = shutil.which(shell)
            if check is None:
                continue
            flag = ["-n"] if shell != "fish" else ["--no-execute"]
            done = subprocess.run([check, *flag, "/dev/stdin"], input=out.encode(), capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, b""), shell)

    @unittest.skipUnless(shutil.which("bash"), "bash is not here")
    def test_bash_completes(self):
        script = self.path("completion.bash")
        with open(script, "w") as out:
            out.write(run("completion", "bash")[1])

        def completed(*words):
            body = f"source {script}; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}"
            body = body.replace("()", "('')")
            done = subprocess.run(["bash", "-c", body + "; _stepscope; printf '%s\\n' \"${COMPREPLY[@]}\""],
                                  capture_output=True, timeout=60, cwd=self.folder)
            return done.stdout.decode().split()

        self.assertEqual(completed("stepscope", "val"), ["validate"])
        self.assertEqual(completed("stepscope", "show", "ste"), ["steps"])
        self.assertEqual(completed("stepscope", "show", "steps", "--form"), ["--format"])
        self.assertIn("json", completed("stepscope", "show", "steps", "--format", "j"))
        self.assertIn("trace.json", completed("stepscope", "report", "tr"))

    def test_manual_page(self):
        code, out, err = run("man")
        self.assertEqual((code, err), (0, ""))
        for word in (".TH STEPSCOPE 1", ".SH NAME", ".SH EXIT STATUS", "NO_COLOR"):
            self.assertIn(word, out)
        if shutil.which("mandoc"):
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=out.encode(), capture_output=True, timeout=60)
            self.assertEqual(done.stdout.decode() + done.stderr.decode(), "")
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z"], input=out.encode(), capture_output=True, timeout=60)
            self.assertEqual(done.stderr.decode(), "")

    def test_docs(self):
        code, out, _ = run("docs", "advice")
        self.assertEqual(code, 0)
        for word in ("### I01: ", "## Constants", "kLoaderShare", "| Q04 |"):
            self.assertIn(word, out)
        code, out, _ = run("docs", "analyses")
        self.assertEqual(code, 0)
        for name in self.analyses:
            self.assertIn(f"\n### {name}\n", out)
