"""Every epoch of five batches starts new workers; healthy: workers persist."""
from torch.utils.data import DataLoader

import training
from loader_in_main import Slow

BATCHES = 5


class Epoch(Slow):
    def __len__(self):
        return BATCHES


def build(healthy, draw):
    model, batch = training.linears(draw, 768)
    dataset = Epoch(0.005 * draw.uniform(0.9, 1.1))
    loader = DataLoader(dataset, num_workers=1, persistent_workers=healthy)
    state = {"batches": iter(())}

    def step(_):
        scale = next(state["batches"], None)
        if scale is None:
            state["batches"] = iter(loader)
            scale = next(state["batches"])
        model(batch * scale.mean()).sum().backward()

    return step


if __name__ == "__main__":
    training.main()
