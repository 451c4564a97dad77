"""Help, wrong words, and invalid inputs or outputs."""

import os
import subprocess

from program import PROGRAM, Folder, run


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
        self.assertLess(len(lines), 50)  # at 80 columns, where answers wrap, it is longer
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
            (["show", "queue_length", self.trace], "ask launches with --hta-compat"),
            (["show", "steps", self.trace, "--tb-compat", "--hta-compat"], "ask for one of them"),
            (["show", "steps", self.trace, "--tpo", "3"], "Did you mean '--top'?"),
            (["show", "steps", self.trace, "--sort", "totl"], "Did you mean 'total'?"),
            (["show"], "stepscope list"),
            (["show", "steps"], "needs a trace"),
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
            (["export", self.trace], "csv, json, sqlite, pickle or pfw"),
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
            (["whatif", self.trace, "--scale", "matmul=0"], "'matmul' is not one of data_loading"),
            (["whatif", self.trace, "--scale", "comm"], "needs a factor"),
            (["whatif", self.trace, "--scale", "kernel:=0"], "'kernel:' needs a name"),
            (["whatif", self.trace, "--scale", "comm:x=0"], "comm takes no name"),
            (["whatif", self.trace, "--scale", "kernel:/gemm=0.5"], "write kernel:/gemm/ for names that contain gemm"),
            (["whatif", self.trace, "--scale", "kernel:gemm/=0.5"], "write kernel:/gemm/ for names that contain gemm"),
            (["explain"], "  N05  "),
            (["explain", self.trace], f"explain needs an id first, e.g. `stepscope explain N05 {self.trace}`"),
            (["overlay", os.path.dirname(self.trace), "-o", self.path("x.json")], "overlay each rank's file, then merge"),
            (["diff", self.trace], "two recordings"),
            (["diff", self.trace, self.trace, "--what", "operatrs"], "Did you mean 'operators'?"),
            (["gate", self.trace], "--base and --new"),
            (["gate", self.trace, self.trace, "--fail-on", "step.totl>5%"], "Did you mean 'total'?"),
            (["gate", self.trace, self.trace, "--fail-on", "step.total"], "step.total>5%"),
            (["gate", self.trace, self.trace, "--fail-on", "step.total>5 parsec"], "is not a limit"),
            (["diff", self.trace, self.trace, "-o", "x.md"], "stepscope gate"),
        ):
            code, out, err = run(*words)
            self.assertEqual((code, out), (2, ""), words)
            self.assertIn(hint, err)

    def test_an_analysis_is_a_command(self):
        shown = run("show", "user_annotations", self.trace)
        self.assertEqual(shown[0], 0)
        for name in "user_annotations", "user-annotations":
            self.assertEqual(run(name, self.trace), shown)
        self.assertEqual(run("user-annotations", "--help"), run("show", "user_annotations", "--help"))

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
        self.assertIn("a file name is empty", err)

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
                                 (["--annotation", "zzz"], "No range has a name that contains 'zzz'")):
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
