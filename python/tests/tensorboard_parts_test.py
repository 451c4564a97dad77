"""The parts of TensorBoard's tab that need no TensorBoard."""

import gzip
import os
import shutil
import threading
import time
import types

import pytest

from program import SAMPLES

pytest.importorskip("tensorboard")
from stepscope.tensorboard import _folders, _server  # noqa: E402


def context(logdir="", spec=""):
    return types.SimpleNamespace(logdir=logdir, flags=types.SimpleNamespace(logdir_spec=spec))


def test_log_folders(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert _folders.log_folders(context("/a,b:c")) == ["/a,b:c"]
    assert _folders.log_folders(context("~/runs")) == ["/home/me/runs"]
    assert _folders.log_folders(context("-x")) == [os.path.abspath("-x")]
    assert _folders.log_folders(context("gs://bucket/runs")) == []
    assert _folders.log_folders(context(spec="one:/a/b,/c:d,s3://x/y")) == ["/a/b", "/c:d"]
    assert _folders.log_folders(types.SimpleNamespace(logdir=None, flags=None)) == []


def test_what_is_a_recording(tmp_path):
    def written(name, text):
        (tmp_path / name).write_bytes(text)
        return str(tmp_path / name)

    assert _folders.is_recording(written("host_1.1.pt.trace.json", b""))
    assert _folders.is_recording(written("1.stepscope", b""))
    assert _folders.is_recording(written("a.json", b'{"traceEvents": []}'))
    assert _folders.is_recording(written("a.json.gz", gzip.compress(b'{"traceEvents": []}')))
    assert not _folders.is_recording(written("config.json", b'{"rate": 0.1}'))
    assert not _folders.is_recording(written("torn.json.gz", b"\x1f\x8b\x08nonsense"))
    assert not _folders.is_recording(written("events.out.tfevents.1", b'"traceEvents"'))
    os.mkfifo(tmp_path / "pipe.json")
    assert not _folders.is_recording(str(tmp_path / "pipe.json"))


def test_the_watch_does_not_wait(tmp_path, monkeypatch):
    monkeypatch.setattr(_folders, "MIN_PAUSE", 0.01)
    go_on = threading.Event()
    look = _folders.has_recordings
    monkeypatch.setattr(_folders, "has_recordings", lambda folders: go_on.wait(60) and look(folders))
    watch = _folders.Watch([str(tmp_path)])
    assert not watch.found()
    go_on.set()
    shutil.copy(SAMPLES / "generated_healthy.json.gz", tmp_path)
    deadline = time.monotonic() + 60
    while not watch.found():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_without_the_program(tmp_path, monkeypatch):
    monkeypatch.setattr(_server, "program", lambda: None)
    with pytest.raises(_server.Unavailable, match="is not where the package was installed") as raised:
        _server.Server([str(tmp_path)]).ask("GET", "/", {})
    assert "pip install" in raised.value.remedy
    with pytest.raises(_server.Unavailable, match="TensorBoard shows none"):
        _server.Server([]).ask("GET", "/", {})


@pytest.fixture
def scripted(tmp_path, monkeypatch):
    """A server whose program is a shell script."""
    def server(script):
        path = tmp_path / "program"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setattr(_server, "program", lambda: str(path))
        return _server.Server([str(tmp_path)])

    return server


def test_a_server_that_does_not_start(scripted):
    with pytest.raises(_server.Unavailable, match="did not start: no room here"):
        scripted("echo 'stepscope: no room here' >&2; exit 3").ask("GET", "/", {})
    with pytest.raises(_server.Unavailable, match="ended by SIGKILL, perhaps for lack of memory"):
        scripted("kill -9 $$").ask("GET", "/", {})


def test_a_slow_start_is_said(scripted, monkeypatch):
    monkeypatch.setattr(_server, "MAX_START", 0.1)
    server = scripted("cat")
    with pytest.raises(_server.Unavailable, match="still looks") as raised:
        server.ask("GET", "/", {})
    assert raised.value.starts
    server.close()


LISTENS = """exec python3 -c "
import socket
listener = socket.create_server(('127.0.0.1', 0))
print('http://127.0.0.1:%d/#token=abc' % listener.getsockname()[1], flush=True)
connection, _ = listener.accept()
connection.recv(1000)
ANSWERS
" """


def test_a_server_that_ends_while_it_answers(scripted):
    with pytest.raises(_server.Unavailable, match="ended while it answered: it ended with exit code 0"):
        scripted(LISTENS.replace("ANSWERS", "")).ask("GET", "/", {})


def test_a_server_that_ends_before_it_is_asked(scripted):
    with pytest.raises(_server.Unavailable, match="ended before it answered: it ended with exit code 0"):
        scripted("echo http://127.0.0.1:1/#token=abc; sleep 0.2").ask("GET", "/", {})
    answers = LISTENS.replace("ANSWERS", "connection.sendall(b'HTTP/1.1 200 OK' + bytes([13, 10, 13, 10]))")
    second = f"[ -e $0.first ] || {{ touch $0.first; echo http://127.0.0.1:1/#token=abc; exit; }}\n{answers}"
    assert scripted(second).ask("GET", "/", {}).status == 200
