"""Records two ranks of data-parallel training on a CPU, reduced by gloo, and reads of a file in DFTracer's format:
gloo_ranks/ and reads.pfw beside this file.

usage: python record.py [FOLDER]      under the PyTorch of tools/pypi-torch.txt
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "examples"))
import record  # noqa: E402

PROGRAM = """
import sys
import torch
import torch.distributed as dist
from torch.profiler import ProfilerActivity, profile, schedule

rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
torch.manual_seed(0)
torch.set_num_threads(1)
layers = [layer for _ in range(2) for layer in (torch.nn.Linear(256, 256), torch.nn.ReLU())]
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
steps = schedule(wait=1, warmup=1, active=3, repeat=1)
with profile(activities=[ProfilerActivity.CPU], schedule=steps, record_shapes=True, profile_memory=True) as profiler:
    for _ in range(5):
        loss = model(torch.randn(128, 256)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        profiler.step()
profiler.export_chrome_trace(f"rank{rank}.pt.trace.json")
dist.destroy_process_group()
"""


def reads():
    """The lines of a .pfw: a file of 1 MB is written, and read in pieces."""
    lines = []

    def timed(name, call, **args):
        begin = time.time_ns()
        result = call()
        event = {"id": len(lines), "name": name, "cat": "POSIX", "pid": 7, "tid": 7, "ts": begin // 1000,
                 "dur": (time.time_ns() - begin) // 1000, "ph": "X", "args": {"hhash": "demo", "fname": "samples.bin", **args}}
        lines.append(json.dumps(event, separators=(",", ":")) + "\n")
        return result

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "samples.bin")
        for flags in (os.O_CREAT | os.O_WRONLY, os.O_RDONLY):
            file = timed("open64", lambda: os.open(path, flags), flags=flags)
            for _ in range(16):
                if flags == os.O_RDONLY:
                    timed("read", lambda: os.read(file, 65536), count=65536)
                else:
                    timed("write", lambda: os.write(file, bytes(65536)), count=65536)
            timed("close", lambda: os.close(file))
    return "[\n" + "".join(lines) + "]\n"


def main():
    target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE).resolve() / "gloo_ranks"
    (target.parent / "reads.pfw").write_text(reads())
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "train.py").write_text(PROGRAM)
        ranks = [subprocess.Popen([sys.executable, "train.py", str(rank), temporary + "/meet"], cwd=folder, stderr=subprocess.DEVNULL)
                 for rank in range(2)]
        if any([rank.wait() for rank in ranks]):
            raise SystemExit("a rank failed")
        for trace in sorted(folder.glob("*.json")):
            text = record.scrubbed(trace.read_text(), folder)
            record.check(text, folder)
            (target / f"{trace.name}.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
