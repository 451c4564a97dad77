"""Who is answered, and what no request can do."""

import collections
import contextlib
import os
import random
import shutil
import socket
import tempfile
import unittest

from answers import WORKERS
from server import PATIENCE, Server

TRAVERSALS = ("../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "..%2f..%2fetc%2fpasswd", "%252e%252e/etc/passwd",
              "..%5c..%5cetc/passwd", "....//....//etc/passwd", "%c0%ae%c0%ae/etc/passwd", "/etc/passwd", "//etc/passwd",
              "assets/../../etc/passwd", "assets/%2e%2e/%2e%2e/etc/passwd", "assets//etc/passwd", "assets/", "assets",
              "api/runs/..%2f..%2fetc/report", "api/runs/0/show/..%2f..%2fetc%2fpasswd", "api/../etc/passwd", "api", "api/",
              "api/runs/0", "api/runs/0/", "api/runs/0/table/steps", "api/runs/0/table/steps/..%2f0")
REFUSED = (400, 404)


class Security(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(WORKERS)

    @classmethod
    def tearDownClass(cls):
        code, errors = cls.server.end()
        assert code == 0, errors

    def raw(self, text):
        """The first line of the answer to these bytes; empty if the connection ends without one."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE) as connection:
            try:
                connection.sendall(text)
                return connection.makefile("rb").readline()
            except ConnectionError:
                return b""

    def all_of(self, text):
        """All answers to these bytes, after which nothing comes."""
        got = b""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE) as connection, contextlib.suppress(ConnectionError):
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(1 << 16):
                got += part
        return got

    def test_only_this_servers_names(self):
        port = self.server.port
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"):
            self.assertEqual(self.server.ask("api/runs", headers={"Host": host}).status, 200, host)
        for host in ("evil.example", f"evil.example:{port}", "localhost", "127.0.0.1", f"127.0.0.1:{port + 1}", "",
                     f"localhost:{port}.evil.example", f"127.0.0.1:{port}@evil.example", f"0.0.0.0:{port}"):
            for path in ("", "api/runs"):
                answer = self.server.ask(path, headers={"Host": host})
                self.assertEqual(answer.status, 421, host)
                self.assertNotIn(b"runs", answer.body.replace(b"api/runs", b""))
        for hosts in (b"", f"Host: localhost:{port}\r\nHost: evil.example\r\n".encode()):
            self.assertIn(self.raw(b"GET / HTTP/1.1\r\n" + hosts + b"\r\n").split(b" ")[1:2], ([b"421"], [b"400"]))

    def test_only_this_servers_pages(self):
        for site in ("cross-site", "same-site", "nonsense"):
            for path in ("", "api/runs"):
                self.assertEqual(self.server.ask(path, headers={"Sec-Fetch-Site": site}).status, 403, (site, path))
        for site in ("same-origin", "none"):
            self.assertEqual(self.server.ask("api/runs", headers={"Sec-Fetch-Site": site}).status, 200)
        link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        self.assertEqual(self.server.ask("", headers=link).status, 200)
        self.assertEqual(self.server.ask("api/runs", headers=link).status, 403)
        self.assertEqual(self.server.ask("", headers={**link, "Sec-Fetch-Dest": "iframe"}).status, 403)
        for origin in ("http://evil.example", "null", f"http://localhost:{self.server.port + 1}"):
            self.assertEqual(self.server.ask("api/runs", headers={"Origin": origin}).status, 403, origin)
        own = f"http://127.0.0.1:{self.server.port}"
        answer = self.server.ask("api/runs", headers={"Origin": own})
        self.assertEqual(answer.status, 200)
        self.assertFalse([name for name in answer.headers if name.lower().startswith("access-control")])

    def test_token(self):
        self.assertRegex(self.server.token, "^[0-9a-f]{32}$")
        self.assertEqual(self.server.ask("", token=False).status, 200)
        wrong = ["", "Bearer", "Bearer ", "Bearer 0", f"Basic {self.server.token}", self.server.token,
                 f"Bearer {self.server.token}0", f"Bearer {self.server.token[:-1]}", f"Bearer {self.server.token.upper()}x"]
        for path in ("api/runs", "api/analyses", "api/runs/0/report", "api/source?file=x", "api/nonsense", "%61pi/runs"):
            self.assertEqual(self.server.ask(path, token=False).status, 401, path)
            for value in wrong:
                self.assertEqual(self.server.ask(path, headers={"Authorization": value}).status, 401, value)
            self.assertEqual(self.server.ask(f"{path}?token={self.server.token}", token=False).status, 401)

    def test_traversal(self):
        for path in TRAVERSALS:
            for answer in (self.server.ask(path), self.server.ask(path, token=False)):
                self.assertIn(answer.status, (*REFUSED, 401), path)
                self.assertNotIn(b"root:", answer.body)
        for target in (b"http://evil.example/", b"*", b"x", b"/\x01", b"/%", b"/%zz", b"/%00", b"/?x=%00"):
            line = self.raw(b"GET " + target + f" HTTP/1.1\r\nHost: localhost:{self.server.port}\r\n\r\n".encode())
            self.assertIn(line.split(b" ")[1:2], ([b"400"], [b"404"]), target)

    def test_only_reading(self):
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "NONSENSE"):
            for path in ("", "api/runs"):
                answer = self.server.ask(path, method=method)
                self.assertEqual(answer.status, 405, method)
                self.assertEqual(answer.headers["Allow"], "GET, HEAD")
        host = f"Host: localhost:{self.server.port}\r\nAuthorization: Bearer {self.server.token}\r\n".encode()
        for method, status in ((b"POST", b"405"), (b"GET", b"413")):
            for body in (b"Content-Length: 5\r\n\r\nhello", b"Content-Length: 99999999999\r\n\r\nhello",
                         b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"):
                line = self.raw(method + b" /api/runs HTTP/1.1\r\n" + host + body)
                self.assertEqual(line.split(b" ")[1], status)

    def test_no_http(self):
        for text in (b"\r\n\r\n\r\n", b"nonsense\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/9.9\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n", b"\0" * 100, b"GET /" + b"\xff" * 10 + b" HTTP/1.1\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE) as connection:
                connection.sendall(text)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(4096)
        self.still_answers()

    def test_mutated_requests(self):
        """2,000 damaged requests: none is told a run without the token, and the server lives."""
        made = random.Random(1)
        whole = (f"GET {self.server.base}api/runs?x=%41 HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\nAccept: */*\r\n"
                 f"Content-Length: 3\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\nRange: bytes=0-9\r\n\r\n3\r\nabc\r\n0\r\n\r\n").encode()
        pieces = (b"\0", b"\r", b"\n", b"\r\n\r\n", b" ", b":", b"\xff" * 9, b"HTTP/9.9", b"Host: a\r\n", b"18446744073709551616", b"-1",
                  b"Authorization: Bearer \r\n", b"Upgrade: h2c\r\n", b"Expect: 100-continue\r\n", b"%", b"\t", b"GET / HTTP/1.1\r\n\r\n")
        seen = collections.Counter()
        for _ in range(2000):
            text = bytearray(whole)
            for _ in range(made.randint(1, 4)):
                at = made.randrange(len(text))
                how = made.randrange(3)
                if how == 0:
                    text[at:at] = made.choice(pieces)
                elif how == 1:
                    del text[at:at + made.randint(1, 12)]
                else:
                    text[at] = made.randrange(256)
            answer = self.all_of(bytes(text))
            seen[answer[9:12]] += 1
            self.assertNotIn(b'"runs"', answer, bytes(text))
        self.assertGreater(seen[b"400"], 100, seen)
        self.still_answers()

    def test_large_headers(self):
        host = f"Host: localhost:{self.server.port}\r\n".encode()
        for text in (b"GET / HTTP/1.1\r\n" + host + b"X: " + b"a" * 20_000 + b"\r\n\r\n",
                     b"GET / HTTP/1.1\r\n" + host + b"X: a\r\n" * 5_000 + b"\r\n", b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n",
                     b"a" * 1_000_000):
            self.assertIn(self.raw(text).split(b" ")[1:2], ([], [b"431"], [b"400"]))
        self.still_answers()

    def test_200_connections(self):
        connections = [socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE) for _ in range(200)]
        for i, connection in enumerate(connections):
            try:
                connection.sendall(b"GET / HTTP/1.1\r\n"[: i % 10])
            except ConnectionError:
                pass  # it made room for another
        self.still_answers()
        for connection in connections:
            connection.close()
        self.still_answers()

    def test_headers_on_every_answer(self):
        for path, headers in (("", {}), ("api/runs", {}), ("nonsense", {}), ("", {"Host": "evil.example"})):
            answer = self.server.ask(path, headers=headers)
            policy = answer.headers["Content-Security-Policy"]
            for part in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"):
                self.assertIn(part, policy)
            for name in ("X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy",
                         "Cross-Origin-Embedder-Policy", "Permissions-Policy"):
                self.assertTrue(answer.headers[name], (path, name))

    def test_a_slow_client_is_not_waited_for(self):
        connection = socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE)
        with connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
            self.still_answers()
            self.assertEqual(connection.recv(1), b"")  # ended after 30 s

    def test_only_a_program_that_embeds_it_may_frame_it(self):
        self.assertIn("frame-ancestors 'none'", self.server.ask("").headers["Content-Security-Policy"])
        embedded = Server(WORKERS, "--embed", keeps_input=True)
        try:
            for path in ("", "api/runs", "nonsense"):
                policy = embedded.ask(path).headers["Content-Security-Policy"]
                self.assertIn("frame-ancestors 'self'", policy)
                self.assertIn("default-src 'none'", policy)
            self.assertEqual(embedded.ask("api/runs", token=False).status, 401)
            self.assertEqual(embedded.ask("", headers={"Host": "evil.example"}).status, 421)
            self.assertEqual(embedded.ask("", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"}).status, 403)
            embedded.process.stdin.write("what is said is ignored\n" * 1000)
            embedded.process.stdin.flush()
            self.assertEqual(embedded.ask("api/runs").status, 200)
        finally:
            embedded.process.stdin.close()
        self.assertEqual(embedded.process.wait(PATIENCE), 0)
        embedded.process.stdout.close()
        embedded.process.stderr.close()
        at_end = Server(WORKERS, "--embed")  # its input is /dev/null
        self.assertEqual(at_end.process.wait(PATIENCE), 0)
        at_end.process.communicate()

    def still_answers(self):
        self.assertEqual(self.server.ask("api/runs").status, 200)


class Sources(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="stepscope-source-")
        cls.root = os.path.join(cls.folder, "root")
        os.makedirs(os.path.join(cls.root, "pkg"))
        cls.write("root/pkg/train.py", "".join(f"line {n}\n" for n in range(1, 101)).encode())
        cls.write("root/large.py", b"x" * (1 << 20) + b"\n")
        cls.write("root/binary.py", b"a\0b\n")
        cls.write("root/latin.py", b"caf\xe9\n")
        cls.write("secret.py", b"secret\n")
        os.symlink("../secret.py", os.path.join(cls.root, "up.py"))
        os.symlink(os.path.join(cls.folder, "secret.py"), os.path.join(cls.root, "absolute.py"))
        os.symlink("/etc", os.path.join(cls.root, "etc"))
        os.symlink("/proc/self/root", os.path.join(cls.root, "magic"))
        os.symlink("pkg/train.py", os.path.join(cls.root, "inside.py"))
        os.mkfifo(os.path.join(cls.root, "pipe.py"))
        cls.server = Server(WORKERS, "--source-root", cls.root, "--base", "/user/me", "--allow-host", "hub.example",
                            "--allow-host", "localhost:9999", "--no-token")

    @classmethod
    def tearDownClass(cls):
        code, errors = cls.server.end()
        shutil.rmtree(cls.folder)
        assert code == 0, errors

    @classmethod
    def write(cls, name, text):
        with open(os.path.join(cls.folder, name), "wb") as file:
            file.write(text)

    def lines(self, query):
        answer = self.server.ask(f"api/source?file={query}")
        self.assertEqual(answer.status, 200, (query, answer.body))
        self.assertEqual(answer.headers["Content-Type"], "text/plain; charset=utf-8")
        return answer.body.decode().splitlines()

    def test_lines(self):
        for name in ("pkg/train.py", f"{self.root}/pkg/train.py", "inside.py", "pkg/../pkg/train.py"):
            self.assertEqual(self.lines(f"{name}&line=50&around=1"), ["line 49", "line 50", "line 51"], name)
        self.assertEqual(self.lines("pkg/train.py&line=1&around=1"), ["line 1", "line 2"])
        self.assertEqual(self.lines("pkg/train.py&line=100&around=2"), ["line 98", "line 99", "line 100"])
        self.assertEqual(self.lines("pkg/train.py&line=5000"), [])
        self.assertEqual(self.lines("latin.py"), ["caf\ufffd"])

    def test_nothing_else(self):
        for name in ("up.py", "absolute.py", "etc/passwd", "magic/etc/passwd", "../secret.py", "..%2fsecret.py",
                     f"{self.folder}/secret.py", f"{self.root}/../secret.py", "/etc/passwd", "/proc/self/environ", "pipe.py",
                     "pkg", "", ".", "large.py", "binary.py", "gone.py", "pkg/train.py/", "/dev/zero"):
            answer = self.server.ask(f"api/source?file={name}")
            self.assertEqual(answer.status, 404, name)
            self.assertNotIn(b"secret\n", answer.body)
        self.assertEqual(self.server.ask("api/source?file=pkg/train.py&line=x").status, 400)
        self.assertEqual(self.server.ask("api/source?file=pkg%00/train.py").status, 400)

    def test_base_path_and_names(self):
        self.assertEqual(self.server.base, "/user/me/")
        self.assertEqual(self.server.address, f"http://127.0.0.1:{self.server.port}/user/me/")
        self.assertEqual(self.server.ask("", token=False).status, 200)
        for host in ("hub.example", f"hub.example:{self.server.port}", "localhost:9999"):
            self.assertEqual(self.server.ask("api/runs", token=False, headers={"Host": host}).status, 200, host)
        self.assertEqual(self.server.ask("api/runs", headers={"Host": "hub.example", "Origin": "https://hub.example"}).status, 200)
        self.assertEqual(self.server.ask("api/runs", headers={"Host": "other.example"}).status, 421)
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE) as connection:
            connection.sendall(f"GET /api/runs HTTP/1.1\r\nHost: localhost:{self.server.port}\r\n\r\n".encode())
            self.assertIn(b" 404 ", connection.makefile("rb").readline())
