"""Runs the program as a person would and looks at what comes out. Usage: cli_test.py PATH_TO_STEPSCOPE"""

import csv
import gzip
import html.parser
import io
import json
import os
import pty
import re
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def made_trace(steps=3):
    """Steps of 1 ms: an op that launches a kernel, and a name that attacks the terminal."""
    events = [
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main"}},
    ]
    for step in range(steps):
        at = step * 1000
        events += [
            {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": at, "dur": 990},
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at + 10, "dur": 100,
             "args": {"External id": step + 1}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 20, "dur": 10,
             "args": {"External id": step + 1, "correlation": step + 1}},
            {"ph": "X", "cat": "kernel", "name": "evil\x1b[31m<script>,\"quoted\"", "pid": 0, "tid": 7, "ts": at + 60,
             "dur": 400, "args": {"External id": step + 1, "correlation": step + 1, "device": 0, "stream": 7}},
        ]
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Test GPU"}], "traceEvents": events}


def run(*arguments, **options):
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "CLICOLOR_FORCE")}
    environment.update({"TERM": "xterm", "COLUMNS": "100"})
    environment.update(options.pop("env", {}))
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, env=environment, timeout=120, **options)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def on_terminal(*arguments, env=None):
    """What a terminal of 80 x 24 would get on stdout."""
    import fcntl
    import struct
    import termios

    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    environment.update({"TERM": "xterm"})
    environment.update(env or {})
    process = subprocess.Popen([PROGRAM, *arguments], stdout=child, stderr=subprocess.DEVNULL, env=environment)
    os.close(child)
    out = b""
    while True:
        ready, _, _ = select.select([parent], [], [], 60)
        if not ready:
            break
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    os.close(parent)
    return process.wait(timeout=60), out.decode()


class Folder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="stepscope_cli_")
        cls.trace = os.path.join(cls.folder, "trace.json")
        with open(cls.trace, "w") as out:
            json.dump(made_trace(), out)
        cls.ranks = os.path.join(cls.folder, "ranks")
        os.mkdir(cls.ranks)
        for rank in range(2):
            with gzip.open(os.path.join(cls.ranks, f"rank{rank}.json.gz"), "wt") as out:
                json.dump(dict(made_trace(), distributedInfo={"rank": rank, "world_size": 2, "backend": "nccl"}), out)
        cls.cut = os.path.join(cls.folder, "cut.json")
        with open(cls.trace) as whole, open(cls.cut, "w") as out:
            out.write(whole.read()[:-200])
        code, text, _ = run("list", "--format", "json")
        assert code == 0
        cls.analyses = [row[0] for row in json.loads(text)["tables"][0]["rows"]]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name)


class Advice(Folder):
    """Findings, why a rule spoke, and what a change would save, of the generated sample whose input is slow."""

    sample = os.path.join(ROOT, "examples", "samples", "generated_slow_input.json.gz")

    def rows(self, *words):
        code, out, _ = run(*words, "--format", "json")
        self.assertEqual(code, 0, words)
        return {
            table["title"]: [dict(zip([c["name"] for c in table["columns"]], row)) for row in table["rows"]]
            for table in json.loads(out)["tables"]
        }

    def test_findings_are_a_ranked_table(self):
        found = self.rows("show", "findings", self.sample)["Findings"]
        self.assertEqual((found[0]["rank"], found[0]["id"], found[0]["per"], found[0]["when"]), (1, "I01", "step", "now"))
        for name in ("title", "category", "saving_low", "saving_high", "after_low", "after_high", "confidence", "evidence",
                     "remedy", "verify"):
            self.assertIsNotNone(found[0][name], name)
        everything = self.rows("show", "findings", self.sample, "--all")["Findings"]
        self.assertEqual(everything[: len(found)], found)
        self.assertTrue(all(row["when"] == "small" for row in everything[len(found):]))
        _, out, _ = run("sql", self.sample, "SELECT id FROM findings", "--format", "csv")
        self.assertEqual(out.split(), ["id", *(row["id"] for row in found)])

    def test_the_plugins_recommendations(self):
        rules = self.rows("show", "findings", self.sample, "--tb-compat")
        self.assertEqual([row["rule"] for rows in rules.values() for row in rows][0], "data_loading")

    def test_explain_what_fired(self):
        tables = self.rows("explain", "i01", self.sample)
        self.assertEqual(self.rows("explain", self.sample, "I01"), tables)
        self.assertEqual(tables["Outcome"][0]["outcome"], "fires")
        read = {row["asked"]: row["number"] for row in tables["Inputs"]}
        self.assertGreater(read["idle(input)"], 0)
        numbers = {row["number_of"]: row["number"] for row in tables["Numbers"]}
        found = self.rows("show", "findings", self.sample)["Findings"][0]
        self.assertEqual(numbers["alone, high"], found["saving_high"])
        self.assertLessEqual(numbers["alone, high"], numbers["bound: T - compute time"])
        self.assertEqual(tables["Confidence"][0]["confidence"], found["confidence"])

    def test_explain_what_is_silent(self):
        tables = self.rows("explain", "S01", self.sample)
        self.assertEqual(tables["Outcome"][0]["outcome"], "silent")
        self.assertIn("idle(sync)", [row["asked"] for row in tables["Inputs"]])
        self.assertIn("It fires from kScalarShare (0.02) of the window on", tables["Outcome"][0]["sentence"])
        self.assertEqual(self.rows("explain", "Q04", self.sample)["Outcome"][0]["outcome"], "silent")
        self.assertEqual(list(self.rows("explain", "S01")), ["Rule", "Constants"])

    def test_whatif_that_finds_nothing_is_no_answer(self):
        code, out, _ = run("whatif", self.sample, "--scale", "kernel:nosuch=0.5")
        self.assertEqual(code, 1)
        self.assertIn("nothing of that kind", out)
        code, out, _ = run("whatif", self.sample, "--scale", "kernel:nosuch=0.5", "--format", "json")
        self.assertEqual(code, 1)
        self.assertIn("Nothing in the recording is what kernel:nosuch=0.5 speaks of.", json.loads(out)["notes"])

    def test_explain_says_once_what_all_ranks_share(self):
        _, out, _ = run("explain", "S01", self.ranks)
        self.assertEqual(out.count("Not asked."), 1, out)
        self.assertIn("ranks 0 and 1: Not asked.", out)

    def test_whatif_says_what_a_change_costs(self):
        _, out, _ = run("whatif", self.sample, "--scale", "launch=100")
        self.assertRegex(out, r" → .*, costs [0-9.]+ ms \([0-9.]+ %\)")

    def test_whatif_names_the_ranks_that_could_be_meant(self):
        code, out, _ = run("whatif", self.ranks, "--scale", "straggler:9=0")
        self.assertEqual(code, 1)
        self.assertIn("Nothing in the recording is what straggler:9=0 speaks of. The ranks are 0 and 1.", out)

    def test_whatif_takes_several_scales(self):
        words = ("whatif", self.sample, "--scale", "data_loading=0", "--scale", "kernel:nosuch=0.5")
        rows = self.rows(*words)["What would change"]
        self.assertEqual([row["change"] for row in rows], ["data_loading=0", "kernel:nosuch=0.5", "all together"])
        self.assertEqual(rows[0]["saving"], rows[2]["saving"])
        _, out, _ = run(*words)
        self.assertIn("replayed without changes", out)
        self.assertRegex(out, r"data_loading=0 +\S+ ms → \S+ ms, saves \S+ ms")
        self.assertIn("nothing of that kind", out)
        self.assertEqual(run("show", *words)[0], 0)

    def test_the_verdict_is_one_screen(self):
        screen = run("report", self.sample, env={"COLUMNS": "80"})[1].splitlines()[:24]
        for word in ("Host-bound", " 1  I01", "What to change"):
            self.assertIn(word, "\n".join(screen))
        self.assertTrue(any(line.startswith(("! Q", "How and why")) for line in screen), screen)


class Usage(Folder):
    def test_nothing_given_teaches(self):
        code, out, err = run()
        self.assertEqual(code, 2)
        self.assertEqual(out, "")
        self.assertEqual(sum(line.startswith("  stepscope ") for line in err.splitlines()), 3)

    def test_version_and_help(self):
        self.assertRegex(run("--version")[1], r"^stepscope \d+\.\d+\.\d+\n$")
        for words in (["--help"], ["-h"], ["help"]):
            code, out, err = run(*words)
            self.assertEqual((code, err), (0, ""))
            self.assertIn("Commands:", out)

    def test_help_of_every_command(self):
        for command in ("report", "show", "explain", "whatif", "diff", "gate", "list", "validate", "export", "merge", "overlay", "sql", "completion",
                        "man"):
            for words in ([command, "--help"], ["help", command]):
                code, out, err = run(*words)
                self.assertEqual((code, err), (0, ""), words)
                self.assertTrue(out.startswith(f"Usage: stepscope {command}"), out)
                for line in out.splitlines():
                    self.assertLessEqual(len(line), 100, line)

    def test_the_list_fits_a_screen(self):
        lines = run("list")[1].splitlines()
        self.assertLess(len(lines), 40)
        for columns in (60, 80, 100):
            text = run("list", env={"COLUMNS": str(columns)})[1]
            self.assertLessEqual(max(map(len, text.splitlines())), columns)
            for name in self.analyses:
                self.assertRegex(text, rf"  {name} ")
        self.assertTrue(lines[0].startswith("What should I       findings  "))

    def test_help_of_every_analysis(self):
        self.assertIn("steps", self.analyses)
        for name in self.analyses:
            code, out, err = run("show", name, "--help")
            self.assertEqual((code, err), (0, ""), name)
            self.assertIn("--top N", out)
            for mark in ("|---", "\n| ", "**", "`"):
                self.assertNotIn(mark, out, name)
            for columns in (40, 80):
                for line in run("show", name, "--help", env={"COLUMNS": str(columns)})[1].splitlines():
                    self.assertLessEqual(len(line), columns, line)

    def test_wrong_words_are_answered_with_the_right_ones(self):
        for words, hint in (
            (["shwo", "steps"], "Did you mean 'show'?"),
            (["show", "stesp", self.trace], "Did you mean 'steps'?"),
            (["show", "steps", self.trace, "--tpo", "3"], "Did you mean '--top'?"),
            (["show", "steps", self.trace, "--sort", "totl"], "Did you mean 'total'?"),
            (["show"], "stepscope list"),
            (["show", "steps"], "needs a trace"),
            (["steps", self.trace], "stepscope show steps"),
            (["report"], "needs a trace"),
            (["show", "steps", self.trace, "--top", "many"], "whole number"),
            (["show", "steps", self.trace, "--tpo=3"], "Did you mean '--top'?"),
            (["show", "steps", self.trace, "--top"], "--top needs a value"),
            (["show", "steps", self.trace, "--top="], "--top needs a value"),
            (["show", "steps", self.trace, "--top=1", "--top", "2"], "--top is given twice"),
            (["show", "steps", self.trace, "--tb-compat=no"], "--tb-compat takes no value"),
            (["show", "steps", self.trace, "-x"], "'-x' is not an option here"),
            (["report", self.trace, "-o"], "--output needs a value"),
            (["show", "steps", self.trace, "--format", "xml"], "text|csv|json|html"),
            (["export", self.trace], "csv, json or sqlite"),
            (["export", self.trace, "--format", "csv", "--what", "stpes"], "Did you mean 'steps'?"),
            (["export", self.trace, "--format", "sqlite"], "-o trace.sqlite"),
            (["sql", self.trace], "SELECT"),
            (["completion", "bsah"], "Did you mean 'bash'?"),
            (["show", "steps", self.trace, "-o", "x.sqlite"], "export"),
            (["report", self.trace, "-o", self.path("x.pdf")], ".html, .json, .csv or .txt"),
            (["show", "call_tree", self.trace, "--min-share", "abc"], "percentage"),
            (["show", self.trace], f"stepscope show steps {self.trace}"),
            (["show", self.trace], "synchronizations"),
            (["explain"], "I01"),
            (["explain", "IO1", self.trace], "Did you mean 'I01'?"),
            (["whatif"], "needs a trace"),
            (["whatif", self.trace, "--scale", "matmul=0"], "'matmul' is none of data_loading"),
            (["whatif", self.trace, "--scale", "comm"], "needs a factor"),
            (["whatif", self.trace, "--scale", "kernel:=0"], "'kernel:' lacks a name"),
            (["whatif", self.trace, "--scale", "comm:x=0"], "comm takes no name"),
            (["whatif", self.trace, "--scale", "kernel:/gemm=0.5"], "write kernel:/gemm/ for names that contain gemm"),
            (["whatif", self.trace, "--scale", "kernel:gemm/=0.5"], "write kernel:/gemm/ for names that contain gemm"),
            (["explain"], "  N05  "),
            (["explain", self.trace], f"explain needs an id first, e.g. stepscope explain N05 {self.trace}"),
            (["overlay", os.path.dirname(self.trace), "-o", self.path("x.json")], "overlay each rank's file, then merge"),
            (["diff", self.trace], "two recordings"),
            (["diff", self.trace, self.trace, "--what", "operatrs"], "Did you mean 'operators'?"),
            (["gate", self.trace], "--base and --new"),
            (["gate", self.trace, self.trace, "--fail-on", "step.totl>5%"], "Did you mean 'total'?"),
            (["gate", self.trace, self.trace, "--fail-on", "step.total"], "step.total>5%"),
            (["gate", self.trace, self.trace, "--fail-on", "step.total>5 parsec"], "is no limit"),
            (["diff", self.trace, self.trace, "-o", "x.md"], "stepscope gate"),
        ):
            code, out, err = run(*words)
            self.assertEqual((code, out), (2, ""), words)
            self.assertIn(hint, err)

    def test_spellings_of_a_flag(self):
        expected = run("show", "steps", self.trace, "--top", "1")
        self.assertEqual(expected[0], 0)
        for words in (["--top=1", self.trace], [self.trace, "--top", "1", "-j", "1"], ["-j1", "--top=1", self.trace],
                      ["-j=1", "--top=1", "--", self.trace]):
            self.assertEqual(run("show", "steps", *words), expected, words)
        for words in (["-o", "a.html"], ["-oa.html"], ["-o=a.html"], ["--output=a.html"], ["--output", "a.html"]):
            self.assertEqual(run("report", self.trace, *words, cwd=self.folder)[0], 0, words)
            os.remove(self.path("a.html"))

    def test_files_that_cannot_be_what_is_read_and_written(self):
        linked = self.path("linked.json")
        os.symlink(self.trace, linked)
        for words, hint in (
            (["report", "-", "-"], "standard input can be read only once"),
            (["diff", "-", "-"], "standard input can be read only once"),
            (["report", self.trace, linked], f"{linked}: is given twice"),
            (["show", "steps", self.ranks, os.path.join(self.ranks, "rank0.json.gz")], "is given twice"),
            (["whatif", self.trace, self.trace], "is given twice"),
            (["report", self.trace, "-o", self.trace], "would be overwritten"),
            (["report", self.ranks, "-o", os.path.join(self.ranks, "rank1.json.gz"), "--format", "html"], "overwritten"),
            (["gate", self.trace, self.cut, "-o", self.cut], "would be overwritten"),
            (["gate", self.trace, self.cut, "--base", linked], "given twice for one side"),
        ):
            code, out, err = run(*words, stdin=subprocess.DEVNULL)
            self.assertEqual((code, out), (2, ""), words)
            self.assertIn(hint, err)
        self.assertEqual(run("validate", self.trace)[0], 0)
        code, _, err = run("show", "steps", "")
        self.assertEqual(code, 1)
        self.assertIn("the name of a file is empty", err)

    def test_a_folder_the_recorder_cannot_be_told(self):
        code, _, err = run("record", "-o", os.fsencode(self.folder) + b"/\xff", "--", "true")
        self.assertEqual(code, 1)
        self.assertIn("is not UTF-8; choose another folder with -o", err)
        self.assertNotIn(b"\xff", os.listdir(os.fsencode(self.folder)))

    def test_a_file_or_a_step_that_is_not_there_is_named(self):
        gone = self.path("gone.json")
        for words in (["report"], ["validate"], ["show", "steps"], ["whatif"]):
            code, out, err = run(*words, self.trace, gone)
            self.assertEqual((code, out), (1, ""), words)
            self.assertIn(f"{gone}: cannot be opened", err)
        for words, rc in ((["report", self.trace], 1), (["diff", self.trace, self.cut], 1), (["gate", self.trace, self.cut], 2)):
            code, out, err = run(*words, "--step", "99")
            self.assertEqual((code, out), (rc, ""), words)
            self.assertIn(f"{self.trace}: The trace has no step 99", err)
        code, out, _ = run("diff", self.trace, self.trace, "--skip", "10")
        self.assertEqual(code, 1)
        self.assertIn("has no whole step to compare", out)

    def test_what_cannot_be_read_or_written(self):
        code, out, err = run("report", "/nowhere/trace.json")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("/nowhere/trace.json", err)
        code, out, err = run("show", "steps", self.trace, "-o", "/nowhere/out.csv")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("/nowhere/out.csv", err)
        if os.path.exists("/dev/full"):
            code, _, err = run("show", "steps", self.trace, "-o", "/dev/full", "--format", "json")
            self.assertEqual(code, 1)
            self.assertIn("No space left", err)

    def test_help_that_cannot_be_written_is_a_failure(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for words in (["--help"], ["--version"], ["show", "steps", "--help"], ["list"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(b"standard output", done.stderr)

    def test_the_ending_chooses_the_format(self):
        for ending, begins in ((".html", "<!doctype"), (".json", "{"), (".csv", "# "), (".txt", "trace.json"), ("", "trace.json")):
            path = self.path("page" + ending)
            self.assertEqual(run("report", self.trace, "-o", path)[0], 0)
            with open(path, encoding="utf-8") as file:
                self.assertTrue(file.read().startswith(begins), ending)
        self.assertFalse(os.path.exists(self.path("x.pdf")))

    def test_a_device_nobody_knows_is_said(self):
        _, out, _ = run("show", "operators", self.trace, "--device-name", "nosuch")
        self.assertIn("no peaks are known for 'nosuch'", out)
        self.assertIn("H100", out)
        self.assertNotIn("no peaks", run("show", "operators", self.trace, "--device-name", "H100")[1])

    def test_a_range_that_is_not_there_is_no_success(self):
        copy = self.path("no_range.json")
        for words in (["show", "critical_path", self.trace], ["overlay", self.trace, "-o", copy]):
            for chosen, hint in ((["--instance", "99"], "There is no range number 99: 3 ranges have"),
                                 (["--annotation", "zzz"], "No range has a name that holds 'zzz'")):
                code, out, err = run(*words, *chosen)
                self.assertEqual((code, out), (1, ""), words)
                self.assertIn(hint, err)
        self.assertFalse(os.path.exists(copy))
        self.assertEqual(run("show", "critical_path", self.trace, "--instance", "2")[0], 0)

    def test_an_event_that_is_not_there_is_no_success(self):
        code, _, error = run("show", "event", self.trace)
        self.assertEqual(code, 2)
        self.assertIn("--id N", error)
        code, out, error = run("show", "event", self.trace, "--id", "99999")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("No event has the id 99999", error)
        self.assertEqual(run("show", "event", self.trace, "--id", "1")[0], 0)

    def test_a_reader_that_goes_away_is_no_error(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([PROGRAM, "export", self.trace, "--format", "csv"], stdout=writer, stderr=subprocess.PIPE, timeout=60)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (0, b""))


class Reports(Folder):
    def test_a_path_alone_is_report(self):
        self.assertEqual(run(self.trace), run("report", self.trace))

    def test_standard_input(self):
        with open(self.trace, "rb") as trace:
            code, out, _ = run("show", "steps", "-", "--format", "csv", stdin=trace)
        self.assertEqual(code, 0)
        self.assertEqual(out, run("show", "steps", self.trace, "--format", "csv")[1])

    def test_first_screen_fits(self):
        code, out, err = run(self.trace, env={"COLUMNS": "80"})
        self.assertEqual((code, err), (0, ""))
        self.assertLessEqual(len(out.splitlines()), 40)
        for line in out.splitlines():
            self.assertLessEqual(len(line), 80, line)
        self.assertIn("next  stepscope show", out)

    def test_several_files_are_ranks(self):
        code, out, _ = run("show", "steps", self.ranks, "--format", "json")
        self.assertEqual(code, 0)
        table = json.loads(out)["tables"][0]
        rank = [column["name"] for column in table["columns"]].index("rank")
        self.assertEqual({row[rank] for row in table["rows"]}, {0, 1})

    def test_json_is_strict_and_csv_has_the_same_rows(self):
        def refuse(constant):
            raise ValueError(constant)

        for name in self.analyses:
            if name == "event":
                continue
            code, text, err = run("show", name, self.trace, "--format", "json")
            self.assertEqual((code, err), (0, ""), name)
            report = json.loads(text, parse_constant=refuse)
            self.assertEqual(report["report"], name)
            self.assertEqual(set(report), {"report", "tables", "notes"})
            code, text, _ = run("show", name, self.trace, "--format", "csv")
            self.assertEqual(code, 0)
            rows = list(csv.reader(io.StringIO(text, newline="")))
            at = 0
            for table in report["tables"]:
                self.assertEqual(set(table), {"title", "shape", "columns", "rows"})
                if len(report["tables"]) > 1:
                    self.assertEqual(rows[at], ["# " + table["title"]] if "," not in table["title"] else rows[at])
                    at += 1
                self.assertEqual(rows[at], [column["name"] for column in table["columns"]])
                for row in table["rows"]:
                    at += 1
                    for cell, value in zip(rows[at], row, strict=True):
                        if value is None:
                            self.assertEqual(cell, "")
                        elif isinstance(value, str):
                            self.assertEqual(cell, value.replace("\x1b", "\ufffd"))
                        else:
                            self.assertEqual(float(cell), float(value))
                at += 2

    def test_report_as_json_holds_every_analysis_but_the_long_ones(self):
        long = {"kernel_breakdown", "idle_breakdown", "queue_length", "memory_bandwidth", "launch_stats", "user_annotations",
                "kernel_sequences", "op_launches", "cupti_counters", "critical_path", "hta_trace"}
        code, text, _ = run("report", self.trace, "--format", "json")
        self.assertEqual(code, 0)
        reports = json.loads(text)["reports"]
        names = [report["report"] for report in reports]
        self.assertEqual(names[0], "verdict")
        self.assertEqual([table["title"] for table in reports[0]["tables"]], ["Verdict", "Findings", "Health"])
        self.assertEqual(set(self.analyses) - {"event", "findings"} - long, set(names) - {"verdict"})

    def test_html_is_one_file_without_scripts(self):
        path = self.path("page.html")
        self.assertEqual(run("report", self.trace, "-o", path)[:2], (0, ""))
        with open(path, encoding="utf-8") as file:
            text = file.read()

        class Reader(html.parser.HTMLParser):
            def handle_starttag(self, tag, attributes):
                names = dict(attributes)
                outer.assertNotIn(tag, ("script", "link", "img", "iframe", "object"))
                outer.assertFalse([name for name in names if name.startswith("on")])
                if "href" in names:
                    outer.assertTrue(names["href"].startswith("#"), names)

        outer = self
        Reader().feed(text)
        self.assertIn("Content-Security-Policy", text)
        self.assertNotIn("\x1b", text)

    def test_top_and_sort(self):
        code, out, _ = run("show", "steps", self.trace, "--top", "1", "--format", "json")
        self.assertEqual(code, 0)
        self.assertEqual(len(json.loads(out)["tables"][0]["rows"]), 1)

    def test_step_chooses(self):
        _, out, _ = run("show", "steps", self.trace, "--step", "1", "--format", "json")
        self.assertEqual([row[0] for row in json.loads(out)["tables"][0]["rows"]], ["1"])


class Terminal(Folder):
    def test_colour_only_where_it_helps(self):
        self.assertNotIn("\x1b", run(self.trace)[1])
        self.assertNotIn("\x1b", run(self.trace, env={"CLICOLOR_FORCE": "1"})[1])
        code, out = on_terminal(self.trace)
        self.assertEqual(code, 0)
        self.assertIn("\x1b[1m", out)
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\x1b", on_terminal(self.trace, env=env)[1])

    def test_names_cannot_reach_the_terminal(self):
        query = "SELECT name FROM event WHERE kind = 'kernel'"
        for format in ("text", "csv", "json"):
            code, out = on_terminal("sql", self.trace, query, "--format", format, env={"NO_COLOR": "1"})
            self.assertEqual(code, 0)
            self.assertIn("evil", out)
            self.assertNotIn("\x1b", out, format)

    def test_text_fits_the_terminal(self):
        for name in self.analyses:
            if name == "event":
                continue
            _, out = on_terminal("show", name, self.trace, env={"NO_COLOR": "1"})
            for line in out.split("\r\n"):
                self.assertLessEqual(len(line), 80, line)

    def test_no_progress_where_nobody_looks(self):
        self.assertEqual(run("report", self.ranks)[2], "")


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
        self.assertIn("1 begin event (ph B) had no end and is taken to last", " ".join(out.split()))
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


if __name__ == "__main__":
    unittest.main(verbosity=1)
