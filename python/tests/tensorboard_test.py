"""The tab of a real TensorBoard."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from embedded import look
from program import SAMPLES, said

pytest.importorskip("tensorboard")
PAGE = "/data/plugin/stepscope/page/"
PATIENCE = 60  # seconds; only a failure takes so long


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    def json(self):
        return json.loads(self.body)


class TensorBoard:
    def __init__(self, logdir, *options):
        command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--port", "0", "--host", "127.0.0.1", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.log = ""
        while (found := re.search(r" at (http://[^:]+:(\d+)(\S*)/) ", self.log)) is None:
            line = self.process.stdout.readline()
            assert line, self.log
            self.log += line
        self.address, self.port, self.prefix = found[1].replace("localhost", "127.0.0.1"), int(found[2]), found[3]

    def ask(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request(method, self.prefix + path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = Answer(connection.getresponse())
        connection.close()
        return answer

    def tab(self):
        return self.ask("/data/plugins_listing").json()["stepscope"]

    def children(self):
        """Process ids of its `stepscope serve`."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has just ended
                parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == self.process.pid and b"serve" in (process / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(process.name))
        return found

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        out, _ = self.process.communicate(timeout=PATIENCE)
        self.log += out


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return value


@contextlib.contextmanager
def running(logdir, *options):
    board = TensorBoard(logdir, *options)
    try:
        yield board
    finally:
        board.end()


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    """As torch.profiler's tensorboard_trace_handler writes it."""
    folder = tmp_path_factory.mktemp("logs")
    names = {"slow/host_1.1700000000000.pt.trace.json.gz": "generated_slow_input.json.gz",
             "ranks/host_1.1700000000001.pt.trace.json.gz": "generated_exposed_comm/rank0.pt.trace.json.gz",
             "ranks/host_2.1700000000001.pt.trace.json.gz": "generated_exposed_comm/rank1.pt.trace.json.gz"}
    for name, sample in names.items():
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(SAMPLES / sample, folder / name)
    return folder


@pytest.fixture(scope="module")
def board(logdir):
    with running(logdir) as started:
        yield started


def test_the_tab_is_active(board):
    tab = wait_for(lambda: (tab := board.tab())["enabled"] and tab)
    assert tab["tab_name"] == "stepscope" and tab["loading_mechanism"]["module_path"] == "/data/plugin/stepscope/entry.js"
    assert b"render" in board.ask("/data/plugin/stepscope/entry.js").body


def test_answers_are_the_servers(board, logdir):
    runs = {run["name"]: run for run in board.ask(f"{PAGE}api/runs").json()["runs"]}
    assert set(runs) == {"ranks", "slow/host_1.1700000000000.pt.trace.json.gz"}
    slow = runs["slow/host_1.1700000000000.pt.trace.json.gz"]
    answer = board.ask(f"{PAGE}api/runs/{slow['run']}/show/kernels?top=3")
    _, printed, _ = said("show", "kernels", logdir / slow["name"], "--top", "3", "--format", "json")
    assert answer.body.decode() == printed and answer.headers["Content-Type"] == "application/json"
    assert board.ask(f"{PAGE}api/runs/{slow['run']}/show/kernel").status == 404
    head = board.ask(f"{PAGE}api/analyses", method="HEAD")
    assert head.status == 200 and head.body == b"" and int(head.headers["Content-Length"]) > 1000


def test_only_this_origin_may_frame_and_ask(board):
    page = board.ask(PAGE)
    assert page.status == 200 and b"require-trusted-types-for 'script'" in page.body
    assert "frame-ancestors 'self'" in page.headers["Content-Security-Policy"]
    assert not [name for name in page.headers if name.lower().startswith("access-control")]
    bare = board.ask(PAGE[:-1])
    assert bare.status == 302 and bare.headers["Location"] == "page/"
    assert board.ask(f"{PAGE}api/runs", Sec_Fetch_Site="cross-site").status == 403
    assert board.ask(f"{PAGE}api/runs", Origin="http://evil.example").status == 403
    assert board.ask(f"{PAGE}api/runs", Origin="null").status == 403
    assert board.ask(f"{PAGE}api/runs", Origin=f"http://127.0.0.1:{board.port}").status == 200
    assert board.ask(f"{PAGE}api/runs", Origin="http://evil.example", Sec_Fetch_Site="cross-site").status == 403
    assert board.ask(f"{PAGE}api/runs", Sec_Fetch_Site="same-origin").status == 200
    for method in ("POST", "PUT", "DELETE"):
        assert board.ask(f"{PAGE}api/runs", method=method).status == 405
    for path in ("../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "api/source?file=/etc/passwd", "assets/x"):
        answer = board.ask(PAGE + path)
        assert answer.status in (400, 404) and b"root:" not in answer.body, path


def test_a_server_that_dies_is_started_again(board):
    assert board.ask(f"{PAGE}api/runs").status == 200
    [first] = board.children()
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: first not in board.children())
    assert board.ask(f"{PAGE}api/runs").status == 200
    [second] = board.children()
    assert second != first


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_the_server_ends_with_tensorboard(logdir, how):
    board = TensorBoard(logdir)
    assert board.ask(f"{PAGE}api/runs").status == 200
    [child] = board.children()
    board.end(how)
    wait_for(lambda: not os.path.exists(f"/proc/{child}"))
    assert "Illegal Content-Security-Policy" not in board.log and "Traceback" not in board.log


def test_a_log_folder_without_recordings(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with running(tmp_path) as board:
        time.sleep(1)
        assert board.tab()["enabled"] is False
        assert board.ask(f"{PAGE}api/runs").status == 200


def test_a_log_folder_that_is_not_there_yet(tmp_path):
    with running(tmp_path / "later") as board:
        answer = board.ask(f"{PAGE}api/runs")
        assert answer.status == 503 and "No such file" in answer.json()["error"]
        (tmp_path / "later").mkdir()
        assert board.ask(f"{PAGE}api/runs").json()["runs"] == []


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_tab_in_a_browser(board, mode):
    found = look(f"{board.address}#stepscope", "tensorboard", mode)
    check(board, found)


def test_behind_a_path_prefix(logdir):
    with running(logdir, "--path_prefix", "/user/me/proxy") as board:
        assert board.address.endswith("/user/me/proxy/")
        check(board, look(f"{board.address}#stepscope", "tensorboard_prefix"))


def check(board, found):
    first, timeline = found["shown"]
    assert found["frame"].startswith(f"{board.address}{PAGE[1:]}#/timeline")
    assert first["view"] == "page-verdict" and "bound" in first["text"] and timeline["view"] == "page-timeline"
    assert first["failures"] == timeline["failures"] == 0
    assert [one for one in found["said"] if "stepscope" in one["from"] or one["from"] == "script"] == []
    asked = [url for url in found["requests"] if "stepscope/page/api/" in url]
    assert any("/timeline" in url for url in asked) and not any("token" in url for url in found["requests"])
