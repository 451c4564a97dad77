"""HTA's type and short name of each device event's name in trace files, as JSON: test/data/hta_names.json.

    hta_names.py FILE...        under the Python that bench/peer_setup.py prepares
"""
import gzip
import json
import sys

from hta.utils.utils import get_kernel_type, shorten_name

names = set()
for path in sys.argv[1:]:
    with gzip.open(path, "rt") as file:
        names |= {event["name"] for event in json.load(file)["traceEvents"]
                  if event.get("cat", "").lower() in ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")}
rows = (f"{json.dumps(name)}: {json.dumps([shorten_name(name), get_kernel_type(name)])}" for name in sorted(names))
print('{"result": {\n' + ",\n".join(rows) + "\n}}")
