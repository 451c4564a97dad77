"""Records ops where no compiler is. Run by tools/wheel-test.sh in a virtual environment of its own, whose package it changes."""

import json
import pathlib
import shutil
import subprocess
import sys

import stepscope

RECORD = """
import warnings
import torch
from stepscope.profiler import profile
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with profile(record_shapes=True) as prof:
        torch.mm(torch.ones(2, 3), torch.ones(3, 4))
shapes = [event.input_shapes for event in prof.events() if event.name == "aten::mm"]
print(type(prof).__module__, shapes, [line.split()[-1] for line in open("/proc/self/maps") if "observers/torch-" in line][:1])
print(*[warning.message for warning in caught if "stepscope" in str(warning.message)])
"""


def record() -> list[str]:
    """What recorded, with which observer; the warnings."""
    return subprocess.run([sys.executable, "-c", RECORD], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


assert not any(shutil.which(name) for name in ("c++", "g++", "clang++", "ld"))
observers = pathlib.Path(stepscope.__file__).parent / "observers"
used, said = record()
assert used.startswith(f"stepscope.profiler._profile [[[2, 3], [3, 4]]] ['{observers}/torch-"), used
assert said == "", said
assert not (pathlib.Path.home() / ".cache" / "stepscope").exists(), "something was compiled"

for description in observers.glob("*.json"):  # as if each had been compiled from other headers
    told = json.loads(description.read_text())
    description.write_text(json.dumps({**told, "digest": told["digest"][::-1]}))
used, said = record()
assert used == "torch.profiler.profiler [[[2, 3], [3, 4]]] []", used
assert "install g++" in said, said
