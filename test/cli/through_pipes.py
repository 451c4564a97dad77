"""Recordings that come through pipes: every command reads all of them."""

import gzip
import json
import os
import subprocess
import threading

from program import PROGRAM, Folder, made_trace, run


class Pipes(Folder):
    def fed(self, path, data):
        """Makes `path` a named pipe that gives `data` once."""
        if os.path.exists(path):
            os.remove(path)
        os.mkfifo(path)

        def feed():
            try:
                with open(path, "wb") as pipe:
                    pipe.write(data)
            except BrokenPipeError:
                pass  # the answer of the command shows it

        writer = threading.Thread(target=feed, daemon=True)
        writer.start()
        return writer

    def big(self, **extra):
        """More than what recognises a format, and more than a pipe holds."""
        return json.dumps(dict(made_trace(400), **extra)).encode()

    def same_as_a_file(self, words, data, feed=None, **options):
        """Runs `words`, in which {} is the recording, on a file and on a pipe, and expects the same answer."""
        plain = self.path("rank7.json")
        if os.path.exists(plain):
            os.remove(plain)
        with open(plain, "wb") as out:
            out.write(data)
        expected = run(*[word.format(plain) for word in words], **options)
        os.remove(plain)
        writer = self.fed(plain, feed or data)
        answer = run(*[word.format(plain) for word in words], **options)
        writer.join(10)
        os.remove(plain)
        self.assertEqual(answer, expected, words)
        self.assertEqual(answer[0], 0, (words, answer))
        return answer

    def test_commands_that_print(self):
        big = self.big()
        base = self.path("base.json")
        with open(base, "w") as out:
            json.dump(made_trace(401), out)
        for words in (["report"], ["show", "steps"], ["show", "steps", "--by-rank"], ["validate"], ["whatif"],
                      ["export", "--format", "csv"], ["diff", base], ["gate", base]):
            self.same_as_a_file([*words, "{}"], big)
            self.same_as_a_file([*words, "{}"], big, gzip.compress(big))
        for query, count in (("select count(*) from event", "1600"), ("select name from step", "ProfilerStep#399")):
            out = self.same_as_a_file(["sql", "{}", query], big)[1]
            self.assertIn(count if "count" in query else "ProfilerStep#3", out.replace(" ", "").replace(",", ""))

    def test_commands_that_write_a_file(self):
        big = self.big(distributedInfo={"rank": 7, "world_size": 8})
        output = self.path("written.json")
        for command in ("merge", "overlay"):
            written = []

            def keep():
                with open(output) as file:
                    written.append(json.load(file))

            for feed in (big, gzip.compress(big)):
                self.same_as_a_file([command, "{}", "-o", output], big, feed)
                keep()
            with open(self.path("rank7.json"), "wb") as out:
                out.write(big)
            self.assertEqual(run(command, self.path("rank7.json"), "-o", output)[0], 0)
            keep()
            self.assertEqual(written[0], written[2])
            self.assertEqual(written[1], written[2])
            with open(self.path("rank7.json"), "rb") as file:
                code, _, err = run(command, "-", "-o", output, input=file.read())
            self.assertEqual(code, 0, err)
            keep()
            self.assertEqual(len(written[3]["traceEvents"]), len(written[2]["traceEvents"]))

    def test_merged_files_and_execution_traces(self):
        merged = self.path("merged.json")
        self.assertEqual(run("merge", self.ranks, "-o", merged)[0], 0)
        with open(merged, "rb") as file:
            data = file.read()
        out = self.same_as_a_file(["show", "steps", "{}"], data)[1]
        self.assertEqual(run("show", "steps", "-", input=data)[1], out)
        self.same_as_a_file(["merge", "{}", "-o", self.path("again.json")], data)
        execution = json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "time": "", "start_ts": 1,
                                "nodes": [{"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1}]})
        code, _, err = run("report", "-", input=execution.encode())
        self.assertEqual(code, 1)
        self.assertIn("execution trace", err)

    def test_processes_of_the_shell(self):
        with open(self.path("big.json"), "wb") as out:
            out.write(self.big())
        with gzip.open(self.path("big.json.gz"), "wb") as out:
            out.write(self.big())
        expected = run("show", "steps", self.path("big.json"))[1]
        for words in ("<(cat big.json)", "<(cat big.json.gz)", "<(zcat big.json.gz)", "/dev/stdin < <(cat big.json)",
                      "/dev/fd/3 3< <(cat big.json)", "- < big.json", "/dev/stdin < big.json", "- < big.json.gz",
                      "/proc/self/fd/0 < <(zcat big.json.gz)"):
            done = subprocess.run(["bash", "-c", f"'{PROGRAM}' show steps {words}"], capture_output=True, timeout=60,
                                  cwd=self.folder, env={**os.environ, "COLUMNS": "100", "TERM": "xterm"})
            self.assertEqual(done.returncode, 0, (words, done.stderr))
            self.assertEqual(done.stdout.decode(), expected, words)
        ranks = "<(zcat ranks/rank0.json.gz) <(zcat ranks/rank1.json.gz)"
        done = subprocess.run(["bash", "-c", f"'{PROGRAM}' merge {ranks} -o both.json && '{PROGRAM}' validate both.json"],
                              capture_output=True, timeout=60, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"merged 2 ranks", done.stderr)

    def test_a_pipe_needs_no_folder_for_its_copy(self):
        big = self.big()
        expected = run("show", "steps", "-", input=big)
        self.assertEqual(expected[0], 0)
        self.assertEqual(run("show", "steps", "-", input=big, env={"TMPDIR": "/proc/self"}), expected)
