"""Imports torch once, then runs the programs named on standard input, one per line, each in a process of its own.
The line {"program": NAME, "healthy": bool, "seed": N, "trace": FILE or null} gives {"steps_s": [...]} or {"failed": why}.
"""
import importlib
import json
import os
import sys
import tempfile
import traceback

import training


def forked(job):
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        os.dup2(2, 1)  # the program's own output is not an answer
        try:
            with tempfile.TemporaryDirectory() as compiled:  # no compiled code from earlier runs
                os.environ["TORCHINDUCTOR_CACHE_DIR"] = compiled
                result = training.run(importlib.import_module(job["program"]), job["healthy"], job["seed"], job["trace"])
        except Exception as error:
            traceback.print_exc()
            result = {"failed": f"{type(error).__name__}: {error}"[:300]}
        with os.fdopen(write_end, "w") as out:
            json.dump(result, out)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"failed": "the process ended without an answer"}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(forked(json.loads(line))), flush=True)
