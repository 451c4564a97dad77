"""Reports in each format, and on a terminal."""

import csv
import html.parser
import io
import json

from program import Folder, on_terminal, run


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
        long = {"user_annotations", "kernel_sequences", "cupti_counters", "critical_path"}
        code, text, _ = run("report", self.trace, "--format", "json")
        self.assertEqual(code, 0)
        reports = json.loads(text)["reports"]
        names = [report["report"] for report in reports]
        self.assertEqual(names[0], "verdict")
        self.assertEqual([table["title"] for table in reports[0]["tables"]], ["Verdict", "Findings", "Health"])
        self.assertEqual(set(self.analyses) - {"event", "findings"} - long, set(names) - {"verdict"})

    def test_html_is_one_file_that_loads_nothing(self):
        path = self.path("page.html")
        self.assertEqual(run("report", self.trace, "-o", path)[:2], (0, ""))
        with open(path, encoding="utf-8") as file:
            text = file.read()
        scripts = []

        class Reader(html.parser.HTMLParser):
            def handle_starttag(self, tag, attributes):
                names = dict(attributes)
                outer.assertNotIn(tag, ("img", "iframe", "object"))
                outer.assertFalse([name for name in names if name.startswith("on") or name in ("src", "style")])
                if tag == "script":
                    scripts.append(names["type"])
                elif tag == "link":
                    outer.assertEqual(names, {"rel": "icon", "href": "data:,"})
                elif "href" in names:
                    outer.assertTrue(names["href"].startswith("#"), names)

        outer = self
        Reader().feed(text)
        self.assertEqual(scripts.count("module"), 1)
        self.assertEqual(set(scripts), {"module", "application/octet-stream"})
        self.assertIn("Content-Security-Policy", text)
        self.assertNotIn("\x1b", text)

    def test_options_of_a_file(self):
        path = self.path("small.html")
        code, _, said = run("report", self.trace, "-o", path, "--max-size", "1kB", "--redact", "paths,hosts,args")
        self.assertEqual(code, 0)
        self.assertIn("the file exceeds --max-size", said)
        code, _, said = run("report", self.trace, "-o", self.path("large.html"))
        self.assertEqual((code, "exceeds" in said), (0, False))
        with open(path, encoding="utf-8") as file:
            self.assertIn("Its timeline is left out", file.read())
        for words, told in ((("--max-size", "many"), "is not a size"), (("--redact", "names"), "none of paths, hosts and args")):
            code, _, error = run("report", self.trace, "-o", path, *words)
            self.assertEqual(code, 2)
            self.assertIn(told, error)
        code, _, error = run("report", self.trace, "--redact", "paths")
        self.assertEqual(code, 2)
        self.assertIn("-o report.html", error)

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
