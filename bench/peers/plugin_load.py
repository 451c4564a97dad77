"""What the TensorBoard plugin does with one file before it can show a page: parse, then make the profile.

RunLoader starts a process per file for these two calls; here they run in this process, so the figure includes neither
TensorBoard nor a queue between processes.
"""
import json
import sys
import tempfile
import time

from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.run_generator import RunGenerator

begin = time.perf_counter()
with tempfile.TemporaryDirectory() as folder:
    data = RunProfileData.parse("worker0", None, sys.argv[1], folder)
    RunGenerator("worker0", None, data).generate_run_profile()
    events = len(data.events)
print(json.dumps({"inside_s": time.perf_counter() - begin, "events": events}))
