"""Opens one rank as a user of HTA does, without any analysis."""
import json
import sys
import time

from hta.trace_analysis import TraceAnalysis

begin = time.perf_counter()
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="/")
events = len(analysis.t.get_trace(0))
print(json.dumps({"inside_s": time.perf_counter() - begin, "events": events}))
