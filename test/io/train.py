"""Trains a small model on images in files, with one planted cause of slow loading: train.py DATA CAUSE [--steps N].

The data set is made below DATA at first use: 600 samples of 3 x 64 x 64 bytes. In one file each, in one file together, and each in
128 tiny files.
"""

import argparse
import os
import threading
import time
from pathlib import Path

import numpy
import torch
from torch import nn

SAMPLES, SHAPE, TILES, COLUMNS = 600, (3, 64, 64), 128, 48
BYTES = SHAPE[0] * SHAPE[1] * SHAPE[2]
CAUSES = ("healthy", "tiny_files", "slow_decode", "no_workers", "one_worker", "lock", "cold_cache", "metadata", "checkpoint", "logging")
LOCK = threading.Lock()


def make(data: Path) -> None:
    if (data / "whole.bin").exists():
        return
    random = numpy.random.default_rng(0)
    for folder in ("one", "tiny"):
        (data / folder).mkdir(parents=True, exist_ok=True)
    with open(data / "part.bin", "wb") as whole:
        for sample in range(SAMPLES):
            image = random.integers(0, 255, BYTES, dtype=numpy.uint8).tobytes()
            whole.write(image)
            (data / "one" / f"{sample}.img").write_bytes(image)
            folder = data / "tiny" / str(sample)
            folder.mkdir()
            for tile in range(TILES):
                size = BYTES // TILES
                (folder / f"{tile}.img").write_bytes(image[tile * size:(tile + 1) * size])
    os.rename(data / "part.bin", data / "whole.bin")


def decoded(image: bytes) -> torch.Tensor:
    return torch.from_numpy(numpy.frombuffer(image, dtype=numpy.uint8).reshape(SHAPE).copy()).float().div_(255)


class Images(torch.utils.data.Dataset):
    def __init__(self, data: Path, cause: str) -> None:
        self.data, self.cause = data, cause
        self.whole = os.open(data / "whole.bin", os.O_RDONLY)

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return decoded(self.read(index)), index % 10

    def read(self, index: int) -> bytes:
        if self.cause == "tiny_files":
            folder = self.data / "tiny" / str(index)
            return b"".join((folder / f"{tile}.img").read_bytes() for tile in range(TILES))
        if self.cause == "metadata":
            self.newest(index)
        if self.cause == "slow_decode":
            return self.unpacked((self.data / "one" / f"{index}.img").read_bytes())
        if self.cause in ("no_workers", "one_worker"):
            return self.smoothed((self.data / "one" / f"{index}.img").read_bytes())
        if self.cause == "cold_cache":
            parts = []
            os.posix_fadvise(self.whole, 0, 0, os.POSIX_FADV_DONTNEED)
            for part in range(COLUMNS):
                parts.append(os.pread(self.whole, BYTES // COLUMNS, (part * SAMPLES + index) * (BYTES // COLUMNS)))
            return b"".join(parts)
        return (self.data / "one" / f"{index}.img").read_bytes()

    def newest(self, index: int) -> str:
        """Looks at all files to find one of them."""
        folder = str(self.data / "one")
        return max(os.listdir(folder), key=lambda name: (os.path.getmtime(f"{folder}/{name}"), os.path.getsize(f"{folder}/{name}")))

    def unpacked(self, image: bytes) -> bytes:
        """Run lengths in pure Python."""
        out = bytearray()
        for byte in image:
            out.append(byte)
        value = 0
        for _ in range(4):
            for byte in image:
                value = (value * 31 + byte) % 65521
        return bytes(out)

    def smoothed(self, image: bytes) -> bytes:
        time.sleep(0.004)  # what a slow disk takes
        return image


class Threads:
    """A loader of its own: threads read samples, but hold one lock while they do."""

    def __init__(self, images: Images, batch: int) -> None:
        self.images, self.batch = images, batch

    def __iter__(self):
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(4) as pool:
            for first in range(0, SAMPLES - self.batch + 1, self.batch):
                with torch.profiler.record_function("enumerate(DataLoader)#Threads.__next__"):
                    found = list(pool.map(self.locked, range(first, first + self.batch)))
                yield torch.stack([image for image, _ in found]), torch.tensor([label for _, label in found])

    def locked(self, index: int):
        with LOCK:
            descriptor = os.open(self.images.data / "one" / f"{index}.img", os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            image = os.pread(descriptor, BYTES, 0)
            os.close(descriptor)
            return decoded(image), index % 10


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("cause", choices=CAUSES)
    parser.add_argument("--steps", type=int, default=40)
    given = parser.parse_args()
    make(given.data)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, stride=2), nn.ReLU(), nn.Flatten(),
                          nn.Linear(16 * 31 * 31, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images = Images(given.data, given.cause)
    batch = 16
    if given.cause == "lock":
        loader = Threads(images, batch)
    else:
        workers = 0 if given.cause == "no_workers" else 2 if given.cause in ("checkpoint", "logging") else 1
        loader = torch.utils.data.DataLoader(images, batch, shuffle=True, num_workers=workers,
                                             persistent_workers=workers > 0)
    log = open(given.data / "log.txt", "w")
    step = 0
    while step < given.steps:
        for inputs, labels in loader:
            loss = nn.functional.cross_entropy(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if given.cause == "logging":
                for line in range(20):
                    log.write(f"step {step} line {line} loss {loss.item()}\n")
                    log.flush()
                    os.fsync(log.fileno())
            if given.cause == "checkpoint" and step % 4 == 0:
                with open(given.data / "checkpoint.pt", "wb") as file:
                    torch.save({"model": model.state_dict(), "more": torch.zeros(4_000_000)}, file)
                    file.flush()
                    os.fsync(file.fileno())
            if step == given.steps:
                break


if __name__ == "__main__":
    main()
