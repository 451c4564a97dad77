"""The batch comes from numpy in double precision, and the model runs in it too; healthy: float32."""
import numpy as np
import torch

import training


def build(healthy, draw):
    width = int(640 * draw.uniform(0.9, 1.1)) // 8 * 8
    array = np.random.default_rng(1).normal(size=(width, width))
    batch = torch.from_numpy(array.astype(np.float32) if healthy else array).to(training.device())
    model = torch.nn.Sequential(*[torch.nn.Linear(width, width, dtype=batch.dtype) for _ in range(3)]).to(training.device())

    def step(_):
        model(batch).sum().backward()

    return step


if __name__ == "__main__":
    training.main()
