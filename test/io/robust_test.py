#!/usr/bin/env python3
"""Programs in trouble: the same results with the I/O collector, and what is recorded is right.

    robust_test.py STEPSCOPE [--long] [CASE ...]      --long: repeats what depends on chance
"""
import argparse
import ctypes.util
import glob
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from recorded import HERE, Collector, compiled, has_header, skip

SOURCES = sorted(HERE.glob("robust*.c"))


class Robust:
    FORBIDDING = ("filter", "filter_by_syscall", "only_read_and_write", "without_clock")

    def __init__(self, program, made, rounds):
        self.collector, self.made, self.rounds = Collector(program), made, rounds
        self.robust = compiled(made, "robust", SOURCES, "-Wall", "-pthread")
        if self.robust is None:
            skip("there is no C compiler")
        self.turn = 0

    def fresh(self):
        self.turn += 1
        work, folder = self.made / f"work{self.turn}", self.made / f"io{self.turn}"
        work.mkdir()
        folder.mkdir()
        return work, folder

    def run(self, command, env, timeout=120):
        work, _ = self.fresh()
        done = subprocess.run([str(word) for word in command], cwd=work, env=env, capture_output=True, text=True,
                              timeout=timeout)
        return done.returncode, done.stdout, "" if command[-1] == "jumps" else done.stderr

    def traced(self, command, folder=None, preload="", **more):
        folder = folder or self.fresh()[1]
        env = self.collector.environment(folder, **more)
        if preload:
            env["LD_PRELOAD"] = preload.replace("OURS", str(self.collector.library))
        return self.run(command, env), folder

    def counts(self, folder):
        names = [event["name"] for event in self.collector.events(folder)]
        return {name: names.count(name) for name in set(names)}

    def same(self, name, program=None, **more):
        """Runs a case both ways; returns what is recorded, after the count that the program told was found."""
        program = program or self.robust
        plain = self.run([program, name], {**os.environ, **{k: v for k, v in more.items() if k.endswith("OPTIONS")}})
        traced, folder = self.traced([program, name], **more)
        wanted = traced[1].splitlines()[-1].split() if traced[1] else ["nothing", "0"]
        random_count = name == "storm"
        assert plain[0] == traced[0] and plain[2] == traced[2], f"{name}: {plain}\n{traced}"
        assert random_count or plain[1] == traced[1], f"{name}: {plain[1]}{traced[1]}"
        assert plain[0] == 0, plain
        found = self.counts(folder)
        assert found.get(wanted[0], 0) == int(wanted[1]), f"{name}: {wanted}, but recorded: {found}"
        return found

    def case_processes(self):
        self.same("processes")

    def case_forks(self):
        self.same("forks")

    def case_execs(self):
        self.same("execs")

    def case_threads(self):
        found = self.same("threads")
        assert found["rename"] == 10000, found

    def case_storm(self):
        found = self.same("storm")
        assert found["fstat"] == found["pread"], found

    def case_jumps(self):
        found = self.same("jumps")
        assert found["pread"] > 10000, f"recording ended with the first jump: {found}"

    def case_cancel(self):
        self.same("cancel")

    def case_cancel_anywhere(self):
        self.same("cancel_anywhere")

    def case_descriptors(self):
        self.same("descriptors")

    def said(self, folder):
        done = subprocess.run([self.collector.program, "report", str(folder)], capture_output=True, text=True)
        return " ".join(done.stdout.split())

    def case_files(self):
        self.same("files")
        _, folder = self.traced([self.robust, "files"])
        said = self.said(folder)
        assert "The program's limit of file sizes was reached after" in said and "damaged" not in said, said

    def case_no_descriptors(self):
        """The report names the true reason, also of several processes."""
        plain, (traced, folder) = self.run([self.robust, "no_descriptors"], dict(os.environ)), \
            self.traced([self.robust, "no_descriptors"])
        assert plain == traced and plain[0] == 0, (plain, traced)
        self.traced([self.robust, "no_descriptors"], folder)
        assert 2 * 1000 < self.counts(folder)["lseek"] < 2 * 20000, self.counts(folder)
        said = self.said(folder)
        assert "The program could not open its recording any more after" in said and "damaged" not in said, said

    def case_memory(self):
        self.same("memory")

    def case_many(self):
        self.same("many")

    def events_of(self, name):
        """Runs a case both ways; returns what is recorded."""
        plain, (traced, folder) = self.run([self.robust, name], dict(os.environ)), self.traced([self.robust, name])
        assert plain == traced and plain[0] == 0, (plain, traced)
        return self.collector.events(folder)

    def case_shared_position(self):
        reads = [event for event in self.events_of("shared_position") if event["name"] == "read"]
        ours = reads[0]["thread"]
        assert [event["offset"] for event in reads if event["thread"] == ours] == [0, 3, 6, 8], reads

    def case_unnamed_files(self):
        found = [(event["name"], Path(event["fname"])) for event in self.events_of("unnamed_files")]
        here = found[0][1].parent
        assert found[1:5] == [("open", here / "a"), ("pwrite", here / "a"), ("open", here / "a"), ("pread", here / "a")], found
        assert [name for name, path in found[5:7] if path.parent == here and path.name.startswith("#")] == ["open", "pwrite"], found

    def case_zeros_in_lines(self):
        lines = [event["ret"] for event in self.events_of("zeros_in_lines") if event["name"] == "fgets"]
        assert lines == [6, 3, 0], lines

    def case_renamed_folder(self):
        opened = [event["fname"].split("/")[-2:] for event in self.events_of("renamed_folder") if event["name"] == "open"]
        assert opened == [["first", "a"], ["second", "b"]], opened

    def case_addresses(self):
        found = self.same("addresses")
        assert found == {"stat": 1 + 2, "open": 1, "pwrite": 1, "close": 1, "access": 3, "symlink": 1, "rename": 1}, found

    def case_filter(self):
        """Recording ends before the program forbids it; the report says so, also of another process of the run."""
        plain = [self.run([self.robust, name], dict(os.environ)) for name in self.FORBIDDING]
        folder = self.fresh()[1]
        traced = [self.traced([self.robust, name], folder)[0] for name in self.FORBIDDING]
        assert plain == traced, (plain, traced)
        assert [done[0] for done in traced] == [0, 0, 0, 0], traced
        found = self.counts(folder)
        assert found == {"stat": 4, "open": 4, "pwrite": 4, "lseek": 200}, found
        said = self.said(folder)
        assert said.count("forbade itself system calls") == said.count("forbade itself the time stamp counter") == 1, said

    def case_filter_first(self):
        """A program without I/O so far leaves a sentence and no recording."""
        (_, folder) = self.traced([sys.executable, "-c", "import ctypes; ctypes.CDLL(None).prctl(22, 2, 8, 0, 0)"],
                                  STEPSCOPE_IO_INCLUDE="/nowhere")
        assert ["seccomp" in path.read_text() for path in folder.iterdir()] == [True], list(folder.iterdir())

    def case_kill(self):
        for _ in range(8 * self.rounds):
            work, folder = self.fresh()
            env = self.collector.environment(folder)
            with subprocess.Popen([self.robust, "kill"], cwd=work, env=env) as process:
                time.sleep(0.02 + random.random() * 0.03)
                process.send_signal(signal.SIGKILL)
            done, = struct.unpack("<q", (work / "count").read_bytes()[:8])
            found = self.counts(folder).get("pread", 0)
            assert done <= found <= done + 1, f"{done} calls were made, {found} are recorded"

    def case_static(self):
        program = compiled(self.made, "static", SOURCES, "-static", "-pthread")
        done = subprocess.run([self.collector.program, "record", "--io", "-o", self.made / "s", "--", program, "many"],
                              capture_output=True, text=True)
        assert done.returncode != 0 and "linked statically" in done.stderr, done
        assert self.traced([program, "many"])[0][0] == 0
        told, folder = self.traced([self.robust, "starts", program])
        assert told == self.run([self.robust, "starts", program], dict(os.environ))
        assert "fstat" not in self.counts(folder), "looking at the program is recorded"
        note, = folder.glob("not-seen-*")
        assert note.read_text() == f"{program}, which is linked statically\n"
        done = subprocess.run([self.collector.program, "record", "--io", "-o", self.made / "sh", "--", "sh", "-c", f"{program} many; {program} many"],
                              cwd=self.fresh()[0], capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr.count("linked statically") == 1, done

    def case_own_files(self):
        """Files that stepscope keeps while it records are not the program's."""
        work = self.fresh()[0]
        own = work / f"stepscope-{os.getuid()}"
        own.mkdir()
        (own / "loader-1").write_text("x")
        (work / "data").write_text("x")
        read = "import sys; [open(name).read() for name in sys.argv[1:]]"
        done = subprocess.run([self.collector.program, "record", "--io", "-o", work / "rec", "--io-exclude", work / "rec", "--",
                               sys.executable, "-c", read, own / "loader-1", work / "data"],
                              env={**os.environ, "TMPDIR": str(work)}, capture_output=True, text=True)
        assert done.returncode == 0, done
        found = {event["fname"] for event in self.collector.events(work / "rec")}
        assert {name for name in found if name.startswith(str(work))} == {str(work / "data")}, found

    def case_inside_libc(self):
        """What libc writes or replaces by calls of its own: later offsets and files are right all the same."""
        source = self.made / "inside.c"
        source.write_text("#define _GNU_SOURCE\n#include <fcntl.h>\n#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
                          "int main(void) { int f = open(\"inside\", O_RDWR | O_CREAT, 0600); write(f, \"abc\", 3); dprintf(f, \"%011d\", 1);\n"
                          "write(f, \"def\", 3); dup2(f, 1); write(1, \"g\", 1); if (fork() == 0) { daemon(1, 0); write(1, \"lost\", 4); _exit(0); }\n"
                          "wait(NULL); return 0; }\n")
        program = compiled(self.made, "inside", [source], "-w")
        (code, *_), folder = self.traced([program])
        assert code == 0
        time.sleep(0.2)  # the daemon's end
        writes = [(event["offset"], event["ret"]) for event in self.collector.events(folder)
                  if event["name"] == "write" and event.get("fname", "").endswith("/inside")]
        assert writes == [(0, 3), (14, 3), (17, 1)], writes

    def case_missing_are_counted(self):
        """Of a full recording, calls on files that are opened later are counted, too."""
        work, folder = self.fresh()
        code = "import os\nfor i in range(20000): f = os.open('f', os.O_RDWR | os.O_CREAT); os.write(f, b'x'); os.close(f)"
        env = self.collector.environment(folder, STEPSCOPE_IO_MEGABYTES="1", STEPSCOPE_IO_INCLUDE=str(work))
        subprocess.run([sys.executable, "-c", code], cwd=work, env=env, check=True)
        recorded = sum(self.counts(folder).values())
        said = subprocess.run([self.collector.program, folder], capture_output=True, text=True, check=True).stdout
        missing = int(re.search(r"([0-9,]+) later records", " ".join(said.split()))[1].replace(",", ""))
        assert 0 <= 60000 - recorded - missing < 10, (recorded, missing)

    def case_starts(self):
        plain = self.run([self.robust, "starts", "/bin/sh"], dict(os.environ))
        traced, folder = self.traced([self.robust, "starts", "/bin/sh"])
        assert traced == plain and not list(folder.glob("not-seen-*")), traced
        assert plain[1].count("a 1 b none") == 4 and plain[1].count("a 1 b 1") == 5, plain

    def case_no_python(self):
        work, _ = self.fresh()
        (work / "file").write_text("text")
        done = subprocess.run([self.collector.program, "record", "--io", "-o", self.made / "c", "--", "cat", str(work / "file")],
                              capture_output=True, text=True)
        assert done.returncode == 0 and "File I/O takes" in done.stdout and "show io" in done.stdout, done

    def record(self, *words, program=None, **more):
        """Runs `record --io` in a fresh folder; returns how it ended and what it said."""
        done = subprocess.run([str(word) for word in (program or self.collector.program, "record", "--io", *words)],
                              cwd=self.fresh()[0], env={**os.environ, **more}, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def case_installed_anywhere(self):
        """The dynamic linker splits its list of libraries at spaces and colons."""
        home = self.made / "a b:c"
        home.mkdir()
        for path in (self.collector.program, self.collector.library):
            shutil.copy(path, home)
        temporary = self.made / "temporary"
        temporary.mkdir()
        code, said = self.record("-o", "out", "--", self.robust, "many", program=home / "stepscope", TMPDIR=str(temporary))
        assert code == 0 and "200,0" in said and "ld.so" not in said, said
        assert not os.listdir(temporary)

    def case_nothing(self):
        code, said = self.record("-o", "a/b/out", "--", "true")
        assert code == 0 and "nothing was recorded: the program did no I/O on files outside" in said, said
        code, said = self.record("--", "false")
        assert code == 1 and "nothing was recorded" in said, said
        code, said = self.record("--io-include", "/nowhere", "--", self.robust, "many")
        assert code == 0 and "nothing was recorded: the program did no I/O on files below the folders" in said, said

    def case_sanitizers(self):
        for compiler in ("gcc", "clang-19"):
            for kind in ("address", "thread", "undefined"):
                if shutil.which(compiler) is None:
                    print(f"  {compiler} is not installed")
                    continue
                try:
                    program = compiled(self.made, f"{compiler}-{kind}", SOURCES, f"-fsanitize={kind}",
                                       "-pthread", compiler=compiler)
                except subprocess.CalledProcessError:
                    print(f"  {compiler} has no -fsanitize={kind}")
                    continue
                for name in ("many", "processes", "forks", "execs", "cancel"):
                    if (kind, name) == ("thread", "cancel"):
                        continue  # its own wrapper of lseek differs
                    self.same(name, program, ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0",
                              TSAN_OPTIONS="report_bugs=1")

    def case_allocators(self):
        for name in ("jemalloc", "tcmalloc_minimal"):
            library = next(iter(glob.glob(f"/usr/lib/*/lib{name}.so.*")), None) or ctypes.util.find_library(name)
            if library is None:
                print(f"  lib{name} is not installed")
                continue
            for order in (f"OURS:{library}", f"{library}:OURS"):
                for case in ("many", "threads", "processes", "storm") if self.rounds > 1 else ("threads", "processes"):
                    self.same(case, preload=order)

    def case_disabled(self):
        folder = self.fresh()[1]
        done, _ = self.traced([self.robust, "many"], folder, STEPSCOPE_DISABLE="torch,io")
        assert done[0] == 0 and not list(folder.iterdir())

    def case_folders(self):
        folder = self.fresh()[1]
        nobody = self.made / "readonly"
        nobody.mkdir(mode=0o555)
        for where in (self.made / "none", nobody / "none", "relative", "/proc/none", "/" + "x" * 4090):
            done, _ = self.traced([self.robust, "many"], where)
            assert done[0] == 0 and done[2] == "", done
        assert not list(folder.iterdir())

    def case_full_disk(self):
        script = (f"mount -t tmpfs -o size=600k none {self.made}/io_full && STEPSCOPE_IO={self.made}/io_full "
                  f"LD_PRELOAD={self.collector.library} {self.robust} many; echo $?; cp {self.made}/io_full/* {{}}")
        (self.made / "io_full").mkdir()
        folder = self.fresh()[1]
        done = subprocess.run(["unshare", "-rm", "sh", "-c", script.format(folder)], cwd=self.fresh()[0],
                              capture_output=True, text=True)
        if "unshare" in done.stderr or "mount" in done.stderr:
            return print(f"  no disk can be filled here: {done.stderr.strip()}")
        assert done.stdout == "0\nlseek 200000\n0\n" and not done.stderr, done
        found = self.counts(folder)
        assert 1000 < found["lseek"] < 200000, found
        # Two more programs find no room for a recording of their own.
        shutil.rmtree(self.made / "io_full")
        (self.made / "io_full").mkdir()
        fill = f"STEPSCOPE_DISABLE=io cat /dev/zero >{self.made}/io_full/rest 2>/dev/null"
        script = f"{self.robust} many; {fill}; {self.robust} many; {self.robust} many"
        done = subprocess.run(["unshare", "-rm", "sh", "-c", f"mount -t tmpfs -o size=600k none {self.made}/io_full && "
                               f"{self.collector.program} record --io -o {self.made}/io_full/out -- sh -c '{script}'"],
                              cwd=self.fresh()[0], capture_output=True, text=True)
        said = " ".join((done.stderr + done.stdout).split())
        assert done.returncode == 0 and ("I/O was not recorded in 2 processes: The disk was full: record to another disk."
                                        in said), done
        assert "The disk was full after" in said and "damaged" not in said, said

    def case_late_library(self):
        """Loaded into a program that runs, it can replace nothing, and says so."""
        folder = self.fresh()[1]
        env = {**os.environ, "STEPSCOPE_IO": str(folder)}
        done = self.run([sys.executable, "-c", f"import ctypes; ctypes.CDLL('{self.collector.library}'); print(1)"], env)
        assert done == (0, "1\n", ""), done
        assert ["comes first" in path.read_text() for path in folder.iterdir()] == [True], list(folder.iterdir())

    def case_private_library(self):
        """A Python module has libaio to itself: the function that it is linked with is found all the same."""
        if not has_header("libaio.h"):
            return print("  libaio is not installed")
        source = self.made / "module.c"
        source.write_text("#include <libaio.h>\nint submit(void) { io_context_t c = 0; if (io_setup(1, &c)) return -99;\n"
                          "struct iocb one, *all[] = {&one}; io_prep_pread(&one, -1, 0, 1, 0);\n"
                          "int r = io_submit(c, 1, all); io_destroy(c); return r; }\n")
        module = compiled(self.made, "module.so", [source], "-shared", "-fPIC", "-laio")
        code = f"import ctypes; print(ctypes.CDLL('{module}').submit(), hasattr(ctypes.CDLL(None), 'no_such'))"
        plain, (traced, _) = self.run([sys.executable, "-c", code], dict(os.environ)), \
            self.traced([sys.executable, "-c", code])
        assert plain == traced, (plain, traced)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--long", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        robust = Robust(asked.program, Path(made).resolve(), 20 if asked.long else 1)
        repeated = ("case_storm", "case_jumps", "case_cancel", "case_cancel_anywhere", "case_threads", "case_processes")
        for name in [name for name in dir(robust) if name.startswith("case_")]:
            if asked.cases and name.removeprefix("case_") not in asked.cases:
                continue
            begin = time.monotonic()
            for _ in range(robust.rounds if name in repeated else 1):
                getattr(robust, name)()
            print(f"{name.removeprefix('case_')}: {time.monotonic() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    main()
