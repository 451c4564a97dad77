"""One worker loads batches of 80 ms; healthy: six workers do."""
from torch.utils.data import DataLoader

import training
from loader_in_main import Slow


def build(healthy, draw):
    model, batch = training.linears(draw, 832)
    dataset = Slow(0.02 * draw.uniform(0.9, 1.1))
    loader = iter(DataLoader(dataset, batch_size=4, num_workers=6 if healthy else 1, persistent_workers=True))

    def step(_):
        scale = next(loader).mean()
        model(batch * scale).sum().backward()

    return step


if __name__ == "__main__":
    training.main()
