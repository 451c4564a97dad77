"""Passes what the tab asks on to the server, and its answers back."""

from __future__ import annotations

import importlib.resources
import json
import urllib.parse
from collections.abc import Callable, Iterable
from typing import Any

from stepscope.tensorboard._server import Answer, Server, Unavailable

App = Callable[["dict[str, Any]", Callable[..., Any]], Iterable[bytes]]

PAGE = "/data/plugin/stepscope/page"
# The server judges by these whether the question comes from its own page.
ASKED = {"HTTP_SEC_FETCH_SITE": "Sec-Fetch-Site", "HTTP_SEC_FETCH_MODE": "Sec-Fetch-Mode", "HTTP_SEC_FETCH_DEST": "Sec-Fetch-Dest"}
# Of one connection, or set by TensorBoard's server.
OWN = frozenset(("connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"))


def page(server: Server) -> App:
    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        got = _asked(server, environ)
        headers = [(name, _policy(value) if name.lower() == "content-security-policy" else value)
                   for name, value in got.headers if name.lower() not in OWN]
        length = [value for name, value in got.headers if name.lower() == "content-length"] if environ["REQUEST_METHOD"] == "HEAD" else []
        headers.append(("Content-Length", length[0] if length else str(len(got.body))))
        start(f"{got.status} {got.reason}", headers)
        return [got.body]

    return answer


def script(name: str) -> App:
    body = (importlib.resources.files("stepscope.tensorboard") / name).read_bytes()

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        start("200 OK", _headers("text/javascript; charset=utf-8", body))
        return [body]

    return answer


def _asked(server: Server, environ: dict[str, Any]) -> Answer:
    if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
        return _refusal(405, "Method Not Allowed", "TensorBoard's stepscope tab answers GET and HEAD only.")
    path = environ["PATH_INFO"].removeprefix(PAGE)
    if not path:  # the page's own addresses are relative
        return Answer(302, "Found", [("Location", "page/"), *_headers("text/plain", b"")], b"")
    target = urllib.parse.quote(path.encode("latin-1"), safe="/")
    if environ.get("QUERY_STRING"):
        target += "?" + environ["QUERY_STRING"]
    headers = {name: environ[key] for key, name in ASKED.items() if key in environ}
    if not _is_from_here(environ):
        headers["Origin"] = environ["HTTP_ORIGIN"]
    try:
        return server.ask(environ["REQUEST_METHOD"], target, headers)
    except Unavailable as gone:
        return _refusal(503, "Service Unavailable", str(gone), gone.remedy, [("Retry-After", "1")] if gone.starts else [])


def _is_from_here(environ: dict[str, Any]) -> bool:
    """Whether the origin is TensorBoard's, which the server cannot know. Where Sec-Fetch-Site says it, a proxy may have changed the host."""
    origin = environ.get("HTTP_ORIGIN")
    return origin is None or "HTTP_SEC_FETCH_SITE" in environ or origin.partition("://")[2] == environ.get("HTTP_HOST")


def _refusal(status: int, reason: str, error: str, remedy: str = "", headers: Iterable[tuple[str, str]] = ()) -> Answer:
    body = json.dumps({"error": error, "remedy": remedy}).encode()
    return Answer(status, reason, [*_headers("application/json", body), *headers], body)


def _headers(kind: str, body: bytes) -> list[tuple[str, str]]:
    return [("Content-Type", kind), ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store")]


def _policy(value: str) -> str:
    """Without Trusted Types, which TensorBoard's own check of policies does not know: the page asks for them itself, too."""
    return "; ".join(part for part in value.split("; ") if not part.startswith("require-trusted-types-for"))
