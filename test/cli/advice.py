"""Findings, explanations and what-ifs."""

import json
import os

from program import Folder, ROOT, run


class Advice(Folder):
    """Findings, why a rule applied, and what a change would save, for the generated sample with slow input."""

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
        sentence = " ".join(tables["Outcome"][0]["sentence"].split())
        self.assertIn("It fires when the cost of these waits is at least kScalarShare (0.02) of the window", sentence)
        self.assertEqual(self.rows("explain", "Q04", self.sample)["Outcome"][0]["outcome"], "silent")
        self.assertEqual(list(self.rows("explain", "S01")), ["Rule", "Constants"])

    def test_explain_names_the_rule_that_fires_instead(self):
        workers = os.path.join(ROOT, "test", "data", "generated_lost_records.json.gz")
        sentence = self.rows("explain", "I01", workers)["Outcome"][0]["sentence"]
        self.assertTrue(sentence.startswith("Silent. I02, to which it leaves such cases, fires: "), sentence)

    def test_whatif_that_finds_nothing_is_no_answer(self):
        code, out, _ = run("whatif", self.sample, "--scale", "kernel:nosuch=0.5")
        self.assertEqual(code, 1)
        self.assertIn("nothing of that kind", out)
        code, out, _ = run("whatif", self.sample, "--scale", "kernel:nosuch=0.5", "--format", "json")
        self.assertEqual(code, 1)
        self.assertIn("Nothing in the recording matches kernel:nosuch=0.5.", json.loads(out)["notes"])

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
        self.assertIn("Nothing in the recording matches straggler:9=0. The ranks are 0 and 1.", out)

    def test_whatif_takes_several_scales(self):
        words = ("whatif", self.sample, "--scale", "data_loading=0", "--scale", "kernel:nosuch=0.5")
        rows = self.rows(*words)["What would change"]
        self.assertEqual([row["change"] for row in rows], ["data_loading=0", "kernel:nosuch=0.5", "all together"])
        self.assertEqual(rows[0]["saving"], rows[2]["saving"])
        _, out, _ = run(*words)
        self.assertIn("replay without changes: ", out)
        self.assertRegex(out, r"data_loading=0 +\S+ ms → \S+ ms, saves \S+ ms")
        self.assertIn("nothing of that kind", out)
        self.assertEqual(run("show", *words)[0], 0)

    def test_the_verdict_is_one_screen(self):
        screen = run("report", self.sample, env={"COLUMNS": "80"})[1].splitlines()[:24]
        for word in ("Host-bound", " 1  I01", "What to change"):
            self.assertIn(word, "\n".join(screen))
        self.assertTrue(any(line.startswith(("! Q", "How and why")) for line in screen), screen)
