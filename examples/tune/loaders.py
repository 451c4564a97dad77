"""Real loaders for `stepscope.tune`: images, text, augmentation, and data in memory.

    python examples/tune/loaders.py jpeg|text|augment|memory [--again]

Prints what tune.dataloader() finds. With --again, the gain is measured once more by a plain loop, and compared with the range it states.
Needs torch, numpy and, for jpeg, Pillow.
"""

from __future__ import annotations

import argparse
import io
import random
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

from stepscope import tune

ROUNDS = 7


class Jpegs(Dataset[torch.Tensor]):
    """Images that are decoded and resized, as from files: (3, 96, 96), from 0 to 1."""

    def __init__(self, number: int = 320) -> None:
        from PIL import Image

        numbers = np.random.default_rng(0)
        self.files = []
        for _ in range(number):
            file = io.BytesIO()
            small = Image.fromarray(numbers.integers(0, 255, (24, 32, 3), dtype=np.uint8))
            small.resize((512, 384), Image.Resampling.BICUBIC).save(file, "JPEG", quality=90)
            self.files.append(file.getvalue())

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> torch.Tensor:
        from PIL import Image

        with Image.open(io.BytesIO(self.files[index])) as image:
            return torch.from_numpy(np.array(image.resize((96, 96)))).permute(2, 0, 1) / 255


class Sentences(Dataset[torch.Tensor]):
    """Text that pure Python turns into numbers: pairs of letters that are often together become one token. (256,)"""

    WORDS = ("loader", "worker", "step", "batch", "memory", "kernel", "stream", "tensor", "epoch", "gradient")

    def __init__(self, number: int = 640) -> None:
        words = random.Random(0)
        self.texts = [" ".join(words.choice(self.WORDS) for _ in range(120)) for _ in range(number)]
        self.merges = ["er", "st", "ep", "or", "te", "at", "in", "ea", "lo", "ke", "ste", "step", "ter", "wor", "work"]
        self.numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, index: int) -> torch.Tensor:
        tokens: list[str] = []
        for word in re.findall(r"\w+", self.texts[index]):
            letters = list(word)
            for merge in self.merges:
                place = 0
                while place + 1 < len(letters):
                    if letters[place] + letters[place + 1] == merge:
                        letters[place : place + 2] = [merge]
                    place += 1
            tokens += letters
        numbers = [sum(ord(letter) for letter in token) % 4096 for token in tokens[:256]]
        return torch.tensor(numbers + [0] * (256 - len(numbers))) / 4096


class Augmented(Dataset[torch.Tensor]):
    """Arrays that NumPy blurs, brightens and cuts without Python's lock: (3, 96, 96)"""

    def __init__(self, number: int = 320) -> None:
        self.images = np.random.default_rng(0).random((number, 3, 128, 128), dtype=np.float32)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> torch.Tensor:
        numbers = np.random.default_rng(index)
        image = self.images[index]
        waves = np.fft.rfft2(image)
        image = np.fft.irfft2(waves * np.exp(-np.hypot(*np.meshgrid(np.fft.rfftfreq(128), np.fft.fftfreq(128))) * numbers.uniform(0, 8)))
        image = image * numbers.uniform(0.8, 1.2) + numbers.normal(0, 0.05, image.shape)
        top, left = numbers.integers(0, 32, 2)
        return torch.from_numpy(np.ascontiguousarray(image[:, top : top + 96, left : left + 96], dtype=np.float32))


def in_memory() -> TensorDataset:
    return TensorDataset(torch.randn(8192, 64))


MAKERS: dict[str, Callable[[], Any]] = {"jpeg": Jpegs, "text": Sentences, "augment": Augmented, "memory": in_memory}


def step_on(batch: Any) -> Callable[[Any], None]:
    """A small training step for batches like this one."""
    first = batch[0] if isinstance(batch, list) else batch
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(first[0].numel(), 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(batch: Any) -> None:
        optimizer.zero_grad()
        model(batch[0] if isinstance(batch, list) else batch).square().mean().backward()
        optimizer.step()

    return step


def pass_over(loader: Any, step: Callable[[Any], None]) -> float:
    """Seconds per step of a whole pass, the start and the end of workers included."""
    begun = time.perf_counter()
    steps = 0
    for batch in loader:
        step(batch)
        steps += 1
    return (time.perf_counter() - begun) / steps


def again(dataset: Any, given: dict[str, Any], found: tune.Result, step: Callable[[Any], None]) -> str:
    """The recommended loader beside the first one, in a plain loop."""
    before, after = DataLoader(dataset, **given), DataLoader(dataset, **{**given, **found.arguments})
    pass_over(after, step)
    shares = []
    for _ in range(ROUNDS):
        a, b = pass_over(before, step), pass_over(after, step)
        shares.append(1 - b / a)
    share = sorted(shares)[ROUNDS // 2]
    low, high = found.gain
    where = "within" if low <= share <= high else "outside"
    return f"A plain loop saves {100 * share:.0f} %: {where} the range of {100 * low:.0f} – {100 * high:.0f} %."


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("loader", choices=list(MAKERS))
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dataset = MAKERS[options.loader]()
    given = {"batch_size": 16, "shuffle": True}
    loader = DataLoader(dataset, **given)
    step = step_on(torch.utils.data.default_collate([dataset[0], dataset[1]]))
    found = tune.dataloader(loader, step=step)
    print(found)
    if options.again and found.line:
        print(again(dataset, given, found, step))


if __name__ == "__main__":
    main()
