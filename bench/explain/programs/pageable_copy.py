"""Each batch is copied from pageable memory; healthy: from pinned memory, without waiting. For a device."""
import torch

import training


def build(healthy, draw):
    model, _ = training.linears(draw, 4096)
    width = model[0].in_features
    batches = [torch.randn(4096, width) for _ in range(4)]
    if healthy:
        batches = [batch.pin_memory() for batch in batches]

    def step(i):
        batch = batches[i % len(batches)].to(training.device(), non_blocking=healthy)
        model(batch).sum().backward()

    return step


if __name__ == "__main__":
    training.main()
