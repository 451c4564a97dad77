#!/usr/bin/env python3
"""Unusual paths, descriptors and lists of paths: the program's results are the same, and what is recorded is right.

    unusual_test.py STEPSCOPE
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from recorded import HERE, Collector, compiled, skip

C_CASES = ("child_closes", "long_paths", "overwritten_paths", "closed_inside", "path_without_end")
HANDLER = """#include <cstdio>
#include <cstdlib>
#include <exception>
int main() {
  std::set_terminate([] { std::puts("handler"); std::fflush(stdout); std::_Exit(5); });
  throw 1;
}
"""


def run(command, folder, env):
    folder.mkdir()
    done = subprocess.run([str(word) for word in command], cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def both(collector, made, name, command):
    """Runs a program without and with the collector; returns its output and its recording."""
    out = made / f"{name}-io"
    out.mkdir()
    plain = run(command, made / f"{name}-plain", dict(os.environ))
    traced = run(command, made / f"{name}-traced", collector.environment(out, STEPSCOPE_IO_INCLUDE=made))
    assert plain == traced, f"{name}: {plain}\n{traced}"
    return plain, out


def check_c(collector, made):
    program = compiled(made, "unusual", [HERE / "unusual.c"], "-w")
    if program is None:
        skip("there is no C compiler")
    for name in C_CASES:
        (code, said, _), out = both(collector, made, name, [program, name])
        assert code == 0, (name, code)
        words = said.splitlines()[-1].split()
        events = collector.events(out)
        for function, wanted in zip(words[::2], words[1::2]):
            found = [event for event in events if event["name"] == function]
            assert len(found) == int(wanted), f"{name}: {wanted} of {function}, but recorded: {found}"
            assert all(event.get("fname", "").startswith(str(made)) for event in found), f"{name}: {found}"


def check_terminate(collector, made):
    """The library brings its own copy of the C++ library, which must not take the place of the program's."""
    source = made / "handler.cpp"
    source.write_text(HANDLER)
    program = compiled(made, "handler", [source], compiler="c++")
    if program is not None:
        (code, said, _), _ = both(collector, made, "terminate", [program])
        assert (code, said) == (5, "handler\n"), (code, said)
    names = subprocess.run(["nm", "-D", "--defined-only", collector.library], capture_output=True, text=True, check=True).stdout
    foreign = re.findall(r" (?:_Z|_Unwind|__cxa_|__gxx|__gcc|stepscope_).*", names)
    assert not foreign, foreign


def check_many_prefixes(collector, made):
    """The last of many counts, too; more than there is room for are refused."""
    (made / "last").mkdir()
    (made / "last/f").write_text("x")
    read = [sys.executable, "-c", f"open({str(made / 'last/f')!r}).read()"]

    def recorded(name, count, option):
        listed = ":".join([f"/nowhere/{i}" for i in range(count - 1)] + [str(made / "last")])
        out = made / name
        done = subprocess.run([collector.program, "record", "--io", option, listed, "-o", out, "--", *read],
                              capture_output=True, text=True)
        return done, collector.events(out) if done.returncode == 0 else None

    _, events = recorded("included", 200, "--io-include")
    assert {event["fname"] for event in events} == {str(made / "last/f")}, events
    _, events = recorded("excluded", 200, "--io-exclude")
    assert str(made / "last/f") not in {event.get("fname") for event in events}
    done, _ = recorded("refused", 201, "--io-include")
    assert done.returncode != 0 and "at most 200" in done.stderr, done


def main():
    collector = Collector(sys.argv[1])
    with tempfile.TemporaryDirectory() as made:
        for check in (check_c, check_terminate, check_many_prefixes):
            check(collector, Path(made).resolve())
            print(check.__name__.removeprefix("check_"), flush=True)


if __name__ == "__main__":
    main()
