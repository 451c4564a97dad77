"""Answers are those of the command line; runs are watched."""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from server import PATIENCE, PROGRAM, SAMPLES, Server, printed

SLOW_INPUT = os.path.join(SAMPLES, "generated_slow_input.json.gz")
WORKERS = os.path.join(SAMPLES, "mlp_two_workers.pt.trace.json.gz")
RANKS = os.path.join(SAMPLES, "generated_exposed_comm")


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.paths = [SLOW_INPUT, WORKERS, RANKS]
        cls.server = Server(*cls.paths)

    @classmethod
    def tearDownClass(cls):
        code, errors = cls.server.end()
        assert code == 0, errors

    def same(self, address, *arguments):
        answer = self.server.ask(address)
        self.assertEqual(answer.status, 200, (address, answer.body[:300]))
        self.assertEqual(answer.body, printed(*arguments, "--format", "json"), address)

    def test_runs(self):
        runs = self.server.ask("api/runs").json()["runs"]
        self.assertEqual([run["run"] for run in runs], [0, 1, 2])
        self.assertEqual([run["files"] for run in runs], [1, 1, 2])
        self.assertEqual(runs[0]["bytes"], os.path.getsize(SLOW_INPUT))
        self.assertEqual(runs[2]["name"], "generated_exposed_comm")

    def test_analyses_are_listed(self):
        self.same("api/analyses", "list")

    def test_every_analysis(self):
        names = [row[0] for row in json.loads(printed("list", "--format", "json"))["tables"][0]["rows"]]
        self.assertGreater(len(names), 30)
        for run, path in enumerate(self.paths):
            for name in names:
                if name != "event":
                    self.same(f"api/runs/{run}/show/{name}", "show", name, path)
            event = next(str(i) for i in range(1000) if printed("show", "event", path, "--id", str(i)))
            self.same(f"api/runs/{run}/show/event?id={event}", "show", "event", path, "--id", event)

    def test_report(self):
        for run, path in enumerate(self.paths):
            self.same(f"api/runs/{run}/report", "report", path)
        self.same("api/runs/0/report?top=3", "report", SLOW_INPUT, "--top", "3")

    def test_options(self):
        self.same("api/runs/0/show/operators?top=3&sort=name", "show", "operators", SLOW_INPUT, "--top", "3", "--sort", "name")
        step = self.server.ask("api/runs/0/show/steps").json()["tables"][0]["rows"][1][0]
        self.same(f"api/runs/0/show/idle?step={step}", "show", "idle", SLOW_INPUT, "--step", str(step))
        self.same("api/runs/0/show/operators?tb-compat=", "show", "operators", SLOW_INPUT, "--tb-compat")
        self.same("api/runs/0/show/whatif?scale=comm=0&scale=copy%3D0.5", "show", "whatif", SLOW_INPUT,
                  "--scale", "comm=0", "--scale", "copy=0.5")

    def test_explain(self):
        for name in ("I01", "Q01"):
            self.same(f"api/runs/0/explain/{name}", "explain", name, SLOW_INPUT)

    def test_diff(self):
        self.same("api/runs/0/diff?base=1", "diff", WORKERS, SLOW_INPUT)
        self.same("api/runs/0/diff?base=0&what=operators", "diff", SLOW_INPUT, SLOW_INPUT, "--what", "operators")

    def test_the_command_lines_sentences(self):
        for address, status, part in (
            ("show/operators?tops=3", 400, "'--tops' is not an option here. Did you mean '--top'?"),
            ("show/operators?top=x", 400, "--top needs a whole number"),
            ("show/operators?top=1&top=2", 400, "--top is given twice"),
            ("show/operators?sort=nonsense", 400, "there is no column 'nonsense'"),
            ("show/operators?step=999999", 400, "999999"),
            ("show/event", 400, "needs --id"),
            ("show/event?id=99999999", 404, ""),
            ("show/operator", 404, "Did you mean 'operators'?"),
            ("explain/X99", 404, "there is no rule 'X99'"),
            ("diff", 400, "base needs a whole number"),
            ("diff?base=99", 404, "there is no run 99"),
            ("table/operators/99", 404, "there is no table 99"),
            ("nonsense", 404, "nothing at this address"),
        ):
            answer = self.server.ask(f"api/runs/0/{address}")
            self.assertEqual(answer.status, status, address)
            self.assertIn(part, answer.json()["error"])
        for run in ("99", "-1", "x", "0x0", "99999999999999999999"):
            self.assertIn(self.server.ask(f"api/runs/{run}/report").status, (400, 404), run)

    @staticmethod
    def rows_of(name, table, path, *options):
        answer = json.loads(printed("show", name, path, *options, "--format", "json"))
        columns = [column["name"] for column in answer["tables"][table]["columns"]]
        return [dict(zip(columns, row)) for row in answer["tables"][table]["rows"]]

    def test_critical_paths_are_those_of_the_command_line(self):
        for run, path in enumerate(self.paths):
            timeline = self.server.ask(f"api/runs/{run}/timeline").json()
            clock = {rank["rank"]: rank for rank in timeline["ranks"]}
            for rank in clock:
                lengths = {step["number"]: step["end"] - step["start"] for step in timeline["steps"] if step["rank"] == rank}
                self.assertGreater(len(lengths), 1)
                for instance, step in enumerate(list(lengths)[:3]):
                    own = [row for row in self.rows_of("critical_path", 2, path, "--instance", str(instance)) if row.get("rank", rank) == rank]
                    bounds = [row for row in self.rows_of("critical_path", 0, path, "--instance", str(instance)) if row.get("rank", rank) == rank]
                    answer = self.server.ask(f"api/runs/{run}/path?rank={rank}&step={step}").json()
                    self.assertEqual((answer["rank"], answer["step"]), (rank, step))
                    is_other = abs(answer["time"] - lengths[step]) > lengths[step] / 10
                    self.assertEqual([note[:15] for note in answer["notes"]], ["The step takes "] * is_other)
                    self.assertEqual(answer["time"], sum(row["time"] for row in own))
                    self.assertTrue(answer["summary"].startswith(f"Critical path of rank {rank}, step {step}: "), answer["summary"])
                    self.assertEqual([(one["bound_by"], one["time"]) for one in answer["bound_by"]],
                                     [(row["bound_by"], row["time"]) for row in bounds])
                    self.assertEqual(sum(part["time"] for part in answer["parts"]), answer["time"])
                    self.assertEqual(sum(part["count"] for part in answer["parts"]), len(own))
                    if answer["joined"] == 0:
                        self.assertEqual([part["id"] for part in answer["parts"]],
                                         [row["event"] if row["type"] == "operator" else None for row in own])
                    for part in answer["parts"]:
                        if part["id"] is not None and part["count"] == 1:
                            event = self.server.ask(f"api/runs/{run}/event?rank={rank}&id={part['id']}").json()
                            self.assertEqual((part["lane"], part["row"]), (event["lane"], event["row"]))
                            self.assertLessEqual(event["start"], part["start"])
                            self.assertLessEqual(part["end"], event["end"])
                            break

    def test_idle_stretches_are_those_of_the_command_line(self):
        for run, path in enumerate(self.paths):
            told = {}
            for row in self.rows_of("idle", 0, path):
                time_, pieces = told.get(row["cause"], (0, 0))
                told[row["cause"]] = (time_ + row["time"], pieces + row["pieces"])
            answer = self.server.ask(f"api/runs/{run}/idle").json()
            self.assertEqual({one["cause"]: (one["time"], one["pieces"]) for one in answer["causes"] if one["time"] > 0}, told)
            self.assertEqual(answer["time"], sum(time_ for time_, _ in told.values()))
            listed = sorted((part["end"] - part["start"] for part in answer["stretches"]), reverse=True)
            self.assertEqual(len(listed) + answer["shorter"], sum(pieces for _, pieces in told.values()))
            if answer["shorter"] == 0 and path != RANKS:  # the ranks' clocks are fitted
                self.assertEqual(sum(listed), answer["time"])
                longest = [row["length"] for row in self.rows_of("idle", 2, path)]
                self.assertEqual(listed[:len(longest)], longest)
            half = max((part["end"] for part in answer["stretches"]), default=2) // 2
            first = self.server.ask(f"api/runs/{run}/idle?from=0&to={max(1, half)}").json()
            self.assertEqual(first["causes"], answer["causes"])
            if answer["shorter"] == 0:
                self.assertEqual([part["start"] for part in first["stretches"]],
                                 [part["start"] for part in answer["stretches"] if part["start"] < half])

    def test_what_cannot_be_drawn_is_refused(self):
        for address, part in (
            ("path", "rank needs a whole number"), ("path?rank=9", "This run has no rank 9."), ("path?rank=x", "rank needs a whole number"),
            ("path?rank=0&step=999999", "Rank 0 has no step 999999."), ("path?rank=0&step=-1", "has no step -1"),
            ("path?rank=0&step=99999999999999999999", "step needs a whole number"), ("path?rank=0&from=5&to=5", "ends behind its begin"),
            ("path?rank=0&from=5", "to needs a whole number"), ("path?rank=0&lanes=1", "'lanes' is no parameter"),
            ("idle?from=-5&to=5", "ends behind its begin"), ("idle?from=0&to=9223372036854775807", "ends behind its begin"), ("idle?rank=0", "'rank' is no parameter"),
        ):
            answer = self.server.ask(f"api/runs/0/{address}")
            self.assertEqual(answer.status, 400, address)
            self.assertIn(part, answer.json()["error"])

    def test_tables_are_filtered_sorted_and_cut(self):
        whole = self.server.ask("api/runs/0/show/operators").json()["tables"][0]
        names = [column["name"] for column in whole["columns"]]
        page = self.server.ask("api/runs/0/table/operators/0?sort=calls&descending=&from=1&count=2&filter=ATEN").json()
        at = names.index("calls")
        rows = [row for row in whole["rows"] if any("aten" in str(cell).lower() for cell in row)]
        rows.sort(key=lambda row: -row[at])
        self.assertEqual(page["rows"], rows[1:3])
        self.assertEqual((page["total"], page["matching"], page["from"]), (len(whole["rows"]), len(rows), 1))
        self.assertEqual(page["columns"], whole["columns"])

    def test_an_answer_that_is_known_is_not_sent_again(self):
        run = self.server.runs()["generated_slow_input.json.gz"]
        first = self.server.ask("api/runs/0/show/steps")
        self.assertEqual(first.headers["ETag"], f'"{run["hash"]}"')
        self.assertEqual(first.headers["Cache-Control"], "no-cache")
        for address in ("api/runs/0/show/steps", "api/analyses", ""):
            etag = self.server.ask(address).headers["ETag"]
            again = self.server.ask(address, headers={"If-None-Match": f'"other", W/{etag}'})
            self.assertEqual((again.status, again.body), (304, b""), address)
            self.assertIn("default-src 'none'", again.headers["Content-Security-Policy"])
        fixed = self.server.ask(f"api/runs/0/show/steps?hash={run['hash']}")
        self.assertIn("immutable", fixed.headers["Cache-Control"])
        self.assertEqual(fixed.body, first.body)
        self.assertEqual(self.server.ask("api/runs/0/show/steps?hash=00000000").status, 409)

    def test_page_and_assets(self):
        page = self.server.ask("", token=False)
        self.assertEqual(page.headers["Content-Type"], "text/html; charset=utf-8")
        text = page.body.decode()
        for ending, kind in (("js", "text/javascript"), ("css", "text/css")):
            names = [part.split('"')[0] for part in text.split("assets/")[1:]]
            name = next(name for name in names if name.endswith(ending))
            self.assertRegex(name, rf"^app\.[0-9a-f]{{16}}\.{ending}$")
            asset = self.server.ask(f"assets/{name}", token=False)
            self.assertEqual(asset.status, 200)
            self.assertTrue(asset.headers["Content-Type"].startswith(kind))
            self.assertIn("immutable", asset.headers["Cache-Control"])
        self.assertEqual(self.server.ask("assets/app.js", token=False).status, 404)

    def test_head_and_one_connection_for_many_requests(self):
        connection = self.server.connect()
        whole = self.server.ask("api/analyses", connection=connection)
        head = self.server.ask("api/analyses", method="HEAD", connection=connection)
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertEqual(head.headers["Content-Length"], str(len(whole.body)))
        self.assertEqual(self.server.ask("api/analyses", connection=connection).body, whole.body)
        connection.close()

    def test_a_client_that_goes_away(self):
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", self.server.port)) as gone:
                gone.sendall(f"GET /api/runs/2/report HTTP/1.1\r\nHost: localhost:{self.server.port}\r\n"
                             f"Authorization: Bearer {self.server.token}\r\n\r\n".encode())
        self.assertEqual(self.server.ask("api/runs/2/report").status, 200)

    def test_ipv6(self):
        try:
            connection = socket.create_connection(("::1", self.server.port))
        except OSError:
            self.skipTest("this machine has no IPv6 loopback")
        with connection:
            connection.sendall(f"GET / HTTP/1.1\r\nHost: [::1]:{self.server.port}\r\nConnection: close\r\n\r\n".encode())
            self.assertTrue(connection.recv(100).startswith(b"HTTP/1.1 200 "))


class Watching(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="stepscope-serve-")
        self.addCleanup(shutil.rmtree, self.folder)

    def serve(self, *arguments):
        server = Server(self.folder, *arguments)
        self.addCleanup(lambda: server.process.poll() is not None or server.end())
        return server

    def put(self, sample, name):
        """In one piece, as a profiler's rename does."""
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy(sample, path + ".part")
        os.replace(path + ".part", path)
        return path

    def test_new_changed_and_damaged_runs(self):
        server = self.serve()
        self.assertEqual(server.runs(), {})
        path = self.put(WORKERS, "a.json.gz")
        first = server.wait_for(lambda runs: "a.json.gz" in runs)["a.json.gz"]
        self.assertEqual(first["state"], "new")
        address = f"api/runs/{first['run']}/show/steps"
        self.assertEqual(server.ask(address).body, printed("show", "steps", path, "--format", "json"))
        self.assertEqual(server.runs()["a.json.gz"]["state"], "ok")

        self.put(SLOW_INPUT, "a.json.gz")
        second = server.wait_for(lambda runs: runs["a.json.gz"]["state"] == "changed")["a.json.gz"]
        self.assertEqual(second["run"], first["run"])
        self.assertEqual(server.ask(f"{address}?hash={first['hash']}").status, 409)
        self.assertEqual(server.ask(address).body, printed("show", "steps", path, "--format", "json"))
        self.assertEqual(server.runs()["a.json.gz"]["state"], "ok")

        with open(os.path.join(self.folder, "damaged.json"), "w", encoding="utf-8") as damaged:
            damaged.write("no trace")
        bad = server.wait_for(lambda runs: "damaged.json" in runs)["damaged.json"]
        for _ in range(2):
            answer = server.ask(f"api/runs/{bad['run']}/report")
            self.assertEqual(answer.status, 422)
            self.assertIn("damaged.json", answer.json()["error"])
        listed = server.runs()["damaged.json"]
        self.assertEqual(listed["state"], "unreadable")
        self.assertIn("damaged.json", listed["error"])

        os.remove(path)
        server.wait_for(lambda runs: "a.json.gz" not in runs)
        self.assertEqual(server.ask(address).status, 404)

    def test_folders(self):
        self.put(WORKERS, "alone/b.json.gz")
        for rank in (0, 1):
            self.put(os.path.join(RANKS, f"rank{rank}.pt.trace.json.gz"), f"job/rank{rank}.pt.trace.json.gz")
        os.symlink("/etc/passwd", os.path.join(self.folder, "alone", "out.json"))
        os.symlink(SAMPLES, os.path.join(self.folder, "samples"))
        os.symlink(WORKERS, os.path.join(self.folder, "away.json.gz"))
        os.mkfifo(os.path.join(self.folder, "pipe.json"))
        runs = self.serve().runs()
        self.assertEqual({name: run["files"] for name, run in runs.items()}, {"alone/b.json.gz": 1, "job": 2})

    def test_ends_at_once(self):
        self.put(WORKERS, "a.json.gz")
        for how in (signal.SIGINT, signal.SIGTERM):
            server = self.serve("--verbose")
            with socket.create_connection(("127.0.0.1", server.port)) as waiting:
                waiting.sendall(f"GET {server.base}api/runs/0/report HTTP/1.1\r\nHost: localhost:{server.port}\r\n"
                                f"Authorization: Bearer {server.token}\r\n\r\n".encode())
                began = time.monotonic()
                code, errors = server.end(how)
            self.assertEqual(code, 0, errors)
            self.assertLess(time.monotonic() - began, PATIENCE / 2)

    def test_log(self):
        server = self.serve("--verbose")
        server.ask("api/runs?secret=1")
        _, errors = server.end()
        self.assertIn("GET /api/runs 200", errors)
        self.assertNotIn(server.token, errors)
        self.assertNotIn("secret", errors)

    def test_wrong_usage(self):
        for arguments, part in (([], "needs a path"), (["gone"], "gone"), (["-"], "standard input"),
                                ([self.folder, "--port", "70000"], "65535"),
                                ([self.folder, "--bind", "127.0.0.1", "--no-token"], "--no-token"),
                                ([self.folder, "--bind", "nonsense"], "is no IP address"),
                                ([self.folder, "--source-root", "gone"], "--source-root")):
            done = subprocess.run([PROGRAM, "serve", *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False)
            self.assertIn(done.returncode, (1, 2), arguments)
            self.assertIn(part, done.stderr)

    def test_a_port_that_is_taken(self):
        first = self.serve()
        done = subprocess.run([PROGRAM, "serve", self.folder, "--port", str(first.port)], capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--port", done.stderr)

    def test_bind(self):
        server = self.serve("--bind", "127.0.0.1")
        self.assertEqual(server.ask("api/runs").status, 200)
        self.assertEqual(server.ask("api/runs", token=False).status, 401)
        _, errors = server.end()
        self.assertIn("nothing is encrypted", errors)
        self.assertIn("ssh -L", errors)

    def test_open(self):
        programs = os.path.join(self.folder, "bin")
        os.mkdir(programs)
        opened = os.path.join(self.folder, "opened")
        with open(os.path.join(programs, "xdg-open"), "w", encoding="utf-8") as script:
            script.write(f'#!/bin/sh\nstat -c %a "$1" >{opened}.part\ncat "$1" >>{opened}.part\necho "$1" >>{opened}.part\n'
                         f"mv {opened}.part {opened}\n")
        os.chmod(os.path.join(programs, "xdg-open"), 0o755)
        path = os.environ["PATH"]
        os.environ["PATH"] = f"{programs}:{path}"
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        server = self.serve("--open")
        deadline = time.monotonic() + PATIENCE
        while not os.path.exists(opened):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        with open(opened, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[0], "600")
        self.assertIn(server.address, "\n".join(lines))
        self.assertTrue(os.path.exists(lines[-1]))
        server.end()
        self.assertFalse(os.path.exists(lines[-1]))
