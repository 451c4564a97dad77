"""Shared by the tests of `stepscope serve`: a running server and questions to it."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
import urllib.parse

PROGRAM = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLES = os.path.join(ROOT, "examples", "samples")
PATIENCE = 120  # seconds; only a failure takes so long


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    def json(self):
        return json.loads(self.body)


class Server:
    def __init__(self, *arguments, keeps_input=False):
        self.process = subprocess.Popen([PROGRAM, "serve", *arguments], stdin=subprocess.PIPE if keeps_input else subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        parts = urllib.parse.urlsplit(self.address)
        self.port, self.base = parts.port, parts.path
        self.token = parts.fragment.removeprefix("token=")

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(self, path, method="GET", token=True, headers=None, connection=None):
        """`path`: below the base; sent as it is."""
        used = connection or self.connect()
        sent = {"Authorization": f"Bearer {self.token}"} if token else {}
        sent.update(headers or {})
        used.putrequest(method, self.base + path, skip_host="Host" in sent)
        for name, value in sent.items():
            used.putheader(name, value)
        used.endheaders()
        answer = Answer(used.getresponse())
        if connection is None:
            used.close()
        return answer

    def runs(self):
        return {run["name"]: run for run in self.ask("api/runs").json()["runs"]}

    def wait_for(self, condition):
        """The runs, once they fulfil the condition."""
        deadline = time.monotonic() + PATIENCE
        while not condition(runs := self.runs()):
            assert time.monotonic() < deadline, runs
            time.sleep(0.1)
        return runs

    def end(self, how=signal.SIGINT):
        """The exit code and what was printed on standard error."""
        self.process.send_signal(how)
        _, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, errors


def printed(*arguments):
    """What the command line prints."""
    return subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=PATIENCE * 5, check=False).stdout
