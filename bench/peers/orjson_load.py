"""Loads a trace with orjson."""
import gzip
import json
import sys
import time

import orjson

begin = time.perf_counter()
path = sys.argv[1]
with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
    events = len(orjson.loads(file.read())["traceEvents"])
print(json.dumps({"inside_s": time.perf_counter() - begin, "events": events}))
