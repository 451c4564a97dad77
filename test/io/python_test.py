#!/usr/bin/env python3
"""A Python program reads and writes in many ways: the same output with the collector, and the right records."""
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from recorded import HERE, Collector


def run(env, work, modules):
    work.mkdir()
    done = subprocess.run([sys.executable, HERE / "python_program.py", *modules], cwd=work, env=env,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def moved(events, name, functions):
    return sum(event["ret"] for event in events
               if event.get("fname", "").endswith("/" + name) and event["name"] in functions and event["ret"] > 0)


def main():
    collector = Collector(sys.argv[1])
    modules = [name for name in ("numpy", "h5py") if importlib.util.find_spec(name) is not None]
    with tempfile.TemporaryDirectory() as made:
        made = Path(made).resolve()
        plain = run(dict(os.environ), made / "work", modules)
        sizes = {path.name: path.stat().st_size for path in (made / "work").iterdir()}
        (made / "work").rename(made / "before")
        (made / "io").mkdir()
        traced = run(collector.environment(made / "io"), made / "work", modules)
        events = collector.events(made / "io")
        assert traced == plain, f"{plain}\nbecame\n{traced}"
        work = str(made / "work")
        ours = [event for event in events if event.get("fname", "").startswith(work)]
        names = {event["name"] for event in ours}
        for wanted in ("mmap64", "msync", "rename", "copy_file_range", "rmdir", "unlinkat", "mkdir", "readdir64"):
            assert wanted in names or wanted.removesuffix("64") in names, f"{wanted} is not among {sorted(names)}"
        text = sizes["text"]
        assert moved(ours, "work/text", {"write"}) == text
        assert moved(ours, "out", {"write"}) in (3, text + 3), "cat writes, or copies in the kernel"
        failed = [event for event in ours if event.get("errno") == 2 and event["name"] in ("open", "open64")]
        assert any(event["fname"] == f"{work}/none" for event in failed), failed
        assert len({event["thread"] for event in ours}) == 4, "the fork, cat, wc and the program itself"
        end = [event for event in ours if event["fname"] == f"{work}/out" and event["name"] == "write"
               and event["ret"] == 3]
        assert [event["offset"] for event in end] == [text], f"written behind what cat wrote: {end}"
        if "numpy" in modules:
            size = sizes["array.npy"]
            wrote = moved(ours, "array.npy", {"write", "fwrite"})
            assert wrote == size, f"array.npy has {size} bytes, recorded: {wrote}"
            raw = [event for event in ours if event["name"] == "fread" and event["fname"].endswith("/raw")]
            assert [(event["offset"], event["ret"]) for event in raw] == [(80, 80)], raw
        if "h5py" in modules:
            assert moved(ours, "file.h5", {"write", "pwrite", "pwrite64"}) > 5000 * 8
    print(f"{len(events)} calls; modules: {' '.join(modules) or 'none of numpy and h5py is installed'}")


if __name__ == "__main__":
    main()
