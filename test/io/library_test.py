#!/usr/bin/env python3
"""Calls of HDF5 and MPI-IO: the programs see no difference, and each call is recorded once, around libc's."""
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from recorded import HERE, ROOT, Collector, compiled, skip

FIELDS = ("fname", "object", "offset", "size", "ret", "flags")
HDF5_FLAGS = ("-I/usr/include/hdf5/serial", "-L/usr/lib/x86_64-linux-gnu/hdf5/serial", "-lhdf5")


def functions():
    return set(re.findall(r"\bX\((\w+), \w+, \w+\)", (ROOT / "src/record/io/libraries.h").read_text()))


def run(command, env, work):
    """Lines that were printed, and each process's records as (pid, records)."""
    work.mkdir()
    prefix = work.parent / f"{work.name}.expected"
    done = subprocess.run(command, cwd=work, env={**env, "EXPECTED": str(prefix)}, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}{done.stdout[-300:]}"
    told = [path.read_text().splitlines() for path in sorted(work.parent.glob(f"{prefix.name}.*"))]
    err = re.sub("time = .*", "", done.stderr)  # HDF5 says when it could not open a file
    return (sorted(done.stdout.splitlines()) + err.splitlines(),
            [(lines[0], [record(line) for line in lines[1:]]) for lines in told])


def record(line):
    name, *values = line.split("\t")
    return {"name": name, **{key: value if key in ("fname", "object") else int(value)
                             for key, value in zip(FIELDS, values) if value != "-"}}


def stripped(event):
    return {key: event[key] for key in ("name", *FIELDS) if key in event}


def check(collector, made, title, command):
    """The same output with and without the collector; returns the names of the recorded calls."""
    plain, _ = run(command, dict(os.environ), made / title)
    shutil.rmtree(made / title)
    for path in made.glob(f"{title}.expected.*"):
        path.unlink()
    folder = made / f"{title}.io"
    folder.mkdir()
    traced, told = run(command, collector.environment(folder), made / title)
    different = [line for line in difflib.ndiff(plain, traced) if line[0] in "+-"]
    assert not different, f"{title}:\n" + "\n".join(different)
    assert told
    for pid, wanted in told:
        own = made / f"{title}.{pid}"
        own.mkdir()
        for recording in folder.glob(f"io-{pid}-*.stepscope"):
            shutil.copy(recording, own)
        found = collector.events(own, ("HDF5", "MPIIO"))
        for at, want in enumerate(wanted):
            got = stripped(found[at]) if at < len(found) else None
            assert got == want, f"{title}, record {at}: {got}\n  instead of {want}"
        assert len(found) == len(wanted), f"{title}: {len(found)} records instead of {len(wanted)}"
        check_nesting(title, found, collector.events(own))
    return {event["name"] for _, wanted in told for event in wanted}


def check_copies(collector, made):
    """Two copies in one process, that callers are linked with in several ways: each call goes to the caller's copy."""
    source = HERE / "library_copies.c"

    def library(name, *flags):
        return compiled(made, name, [source] if "-lcaller" not in flags else [], "-Wall", "-shared", "-fPIC", f"-L{made}",
                        f"-Wl,-rpath,{made}", *flags)
    for number, copy in ((1, "one"), (2, "two")):
        library(f"lib{copy}.so", f"-DLIBRARY={number}")
        library(f"{copy}.so", "-DCALLER", f"-l{copy}")
        library(f"{copy}_now.so", "-DCALLER", f"-l{copy}", "-Wl,-z,now")
    library("libcaller.so", "-DCALLER")  # linked with none: it finds the copy of the library that loads it
    library("loader.so", "-Wl,--no-as-needed", "-lcaller", "-ltwo")
    program = compiled(made, "copies.program", [source], "-Wall")
    (made / "data").write_text("data")
    # The last one looks for its functions when it calls them first. Of two copies nobody can tell then which one it
    # will find, so that the first call of each function is passed on unseen.
    uses = (("lazy:one.so", 1, 10), ("now:two_now.so", 2, 10), ("now:loader.so", 2, 10), ("lazy:one_now.so", 1, 10),
            ("lazy:two.so", 2, 5))
    command = [program, *[f"{use.split(':')[0]}:{made}/{use.split(':')[1]}" for use, _, _ in uses]]
    io = made / "copies.io"
    io.mkdir()
    for env in (dict(os.environ), collector.environment(io)):
        done = subprocess.run(command, cwd=made, env=env, capture_output=True, text=True, timeout=60)
        wanted = "".join(f"H5Fopen is nowhere\n{copy} {copy}\n" for _, copy, _ in uses)
        assert (done.returncode, done.stdout, done.stderr) == (0, wanted, ""), done
    found = iter([stripped(event) for event in collector.events(io, ("HDF5",))])
    for use, copy, calls in uses:
        for _ in range(calls // 5):
            file, object = {"fname": f"{made}/data"}, {"object": f"/{copy}"}
            for want in ({"name": "H5Fopen", **file, "ret": 0, "flags": 0}, {"name": "H5Dopen2", **file, **object, "ret": 0},
                         {"name": "H5Dread", **file, **object, "size": 4 * copy, "ret": 4 * copy},
                         {"name": "H5Dclose", **file, **object, "ret": 0}, {"name": "H5Fclose", **file, "ret": 0}):
                got = next(found, None)
                assert got == want, f"{use}: {got}\n  instead of {want}"
    assert next(found, None) is None


def check_nesting(title, calls, libc):
    """Writes to the file are in calls of the library, until the first one that MPI may write in MPI_Wait."""
    later = next((call["begin"] for call in calls if call["name"].startswith("MPI_File_i")), float("inf"))
    own = [call for call in libc if call.get("fname") == calls[0]["fname"] and "write" in call["name"]
           and call["begin"] < later]
    inside = [call for call in own if any(around["begin"] <= call["begin"] and call["end"] <= around["end"]
                                          for around in calls)]
    assert own and inside == own, f"{title}: {len(inside)} of {len(own)} writes are in calls of the library"


def main():
    collector = Collector(sys.argv[1])
    called, absent = set(), []
    with tempfile.TemporaryDirectory() as made:
        made = Path(made).resolve()
        if shutil.which("cc") is None:
            skip("there is no C compiler")
        check_copies(collector, made)
        for title, find, build, start in programs():
            if not find:
                absent.append(title)
                continue
            program = build(made)
            called |= check(collector, made, title, [*start, str(program)])
    names = functions()
    left_out = {name for name in names if any(name[:3] == done[:3] for done in called)} - called
    newer = {name for name in left_out if name.endswith(("_c", "_multi"))}  # than what is installed
    assert not left_out - newer, f"not called: {left_out}"
    print(f"{len(called)} of {len(names)} functions of HDF5 and MPI-IO are recorded"
          + (f"; not in what is installed: {' '.join(sorted(newer))}" if newer else "")
          + (f"; not installed: {', '.join(absent)}" if absent else ""))


def programs():
    """Title, whether it can be built, how, and what starts it."""
    hdf5 = HERE / "library_hdf5.c"
    yield ("hdf5", Path("/usr/include/hdf5/serial/hdf5.h").exists() and shutil.which("cc"),
           lambda made: compiled(made, "hdf5.program", [hdf5], "-Wall", *HDF5_FLAGS), [])
    yield ("hdf5 bound at once", Path("/usr/include/hdf5/serial/hdf5.h").exists() and shutil.which("cc"),
           lambda made: compiled(made, "hdf5.now", [hdf5], "-Wall", *HDF5_FLAGS, "-Wl,-z,relro,-z,now"), [])
    for mpi, options in (("openmpi", ["--allow-run-as-root", "--oversubscribe"]), ("mpich", [])):
        compiler, start = f"mpicc.{mpi}", f"mpirun.{mpi}"
        yield (mpi, shutil.which(compiler) and shutil.which(start),
               lambda made, compiler=compiler: compiled(made, compiler, [HERE / "library_mpi.c"], "-Wall",
                                                        compiler=compiler), [start, *options, "-n", "2"])


if __name__ == "__main__":
    main()
