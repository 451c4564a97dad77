#!/usr/bin/env python3
"""Every function that the I/O collector replaces: the program sees no difference, and each call is recorded."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from dftracer import REASONS, VERSION_1, VERSION_2
from recorded import HERE, ROOT, Collector, compiled, has_header, skip

FIELDS = ("fname", "to", "fd", "offset", "size", "ret", "errno")
QUEUES = {"io_submit", "io_uring_submit", "io_uring_submit_and_wait"}


def functions():
    text = (ROOT / "src/record/io/functions.h").read_text()
    return re.findall(r"\bX\((\w+), \w+\)", text)


def run(program, env, work):
    work.mkdir()
    ends = os.pipe()
    env = {**env, "EXPECTED": str(ends[1])}
    env.pop("PWD", None)  # the shells that the program starts would look at it
    with subprocess.Popen([program], cwd=work, env=env, pass_fds=[ends[1]], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        os.close(ends[1])
        import threading
        told = []
        reader = threading.Thread(target=lambda: told.append(os.fdopen(ends[0], "rb").read()))
        reader.start()
        out, err = process.communicate(timeout=120)
        reader.join()
    if process.returncode != 0 or err:
        raise AssertionError(f"exit {process.returncode}: {err.decode()}{out.decode()[-300:]}")
    return out.decode(), told[0].decode()


def expected(told):
    for line in told.splitlines():
        name, *values, detail = line.split("\t")
        record = {"name": name}
        for key, value in zip(FIELDS, values):
            if value != "-":
                record[key] = value if key in ("fname", "to") else int(value)
        if detail != "-":
            key, value = detail.split(":")
            record[key] = int(value)
        yield record


def differences(wanted, found):
    """The started shell's own calls come last and are looked at separately."""
    for at, want in enumerate(wanted):
        if at >= len(found):
            yield f"{want} is missing"
            continue
        got = found[at]
        details = set(want) - set(FIELDS)
        got = {key: got[key] for key in got if key in FIELDS or key in details or key == "name"}
        if got != want:
            yield f"record {at}: {got}\n  instead of {want}"
            return


def main():
    collector = Collector(sys.argv[1])
    with tempfile.TemporaryDirectory() as made:
        made = Path(made).resolve()
        sources = [HERE / f"conformance{part}.c" for part in ("", "_files", "_names", "_streams", "_processes")]
        flags = ["-Wall", "-pthread", "-ldl"]
        has_queues = has_header("liburing.h") and has_header("libaio.h")
        if has_queues:
            sources.append(HERE / "conformance_queues.c")
            flags += ["-DHAS_QUEUES", "-luring", "-laio"]
        program = compiled(made, "conformance", sources, *flags)
        if program is None:
            skip("there is no C compiler")
        plain, _ = run(program, dict(os.environ), made / "plain")
        (made / "io").mkdir()
        # Its folder is told with the results, so both runs have the same one.
        (made / "plain").rename(made / "before")
        traced, told = run(program, collector.environment(made / "io"), made / "plain")
        assert traced == plain, "\n".join(
            f"- {a}\n+ {b}" for a, b in zip(plain.splitlines(), traced.splitlines()) if a != b) or "lengths differ"
        wanted, found = list(expected(told)), collector.events(made / "io")
        wrong = list(differences(wanted, found))
        assert not wrong, "\n".join(wrong)
        shell = [event for event in found[len(wanted):] if event.get("fname", "").endswith("/plain/p")]
        assert [event["offset"] for event in shell if event["name"] == "read"] == list(range(17)), shell
        names = functions()
        left_out = set(names) - {event["name"] for event in found} - {"pclose"}
        if not has_queues:
            left_out -= QUEUES
            print("liburing and libaio are not installed: their calls are not tested")
        assert not left_out, f"not called: {left_out}"
    report(names)


def report(names):
    ours = set(names) | {"_exit", "vfork"}
    print(f"{len(names)} functions recorded; DFTracer 1.0.8: {len(VERSION_1)}, 2.x: {len(VERSION_1 | VERSION_2)}")
    for group, theirs in (("1.0.8", VERSION_1), ("2.x", VERSION_2)):
        missing = sorted(theirs - ours)
        for why in sorted({REASONS[name] for name in missing}):
            print(f"not here, of {group}: {' '.join(n for n in missing if REASONS[n] == why)}: {why}")


if __name__ == "__main__":
    main()
