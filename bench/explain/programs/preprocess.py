"""Images are augmented in the loop; healthy: by the loader's workers."""
import torch
from torch.utils.data import DataLoader, Dataset

import training


def augment(images):
    for _ in range(3):
        images = images.flip(-1).sub(0.5).div(0.25)
        images = images.add(torch.randn_like(images) * 0.1).tanh()
    return images


class Images(Dataset):
    def __init__(self, count, augmented):
        self.count, self.augmented = count, augmented

    def __len__(self):
        return 10000

    def __getitem__(self, index):
        torch.set_num_threads(1)
        images = torch.ones(self.count, 3, 224, 224)
        return augment(images) if self.augmented else images


def build(healthy, draw):
    model, batch = training.linears(draw, 896)
    dataset = Images(int(8 * draw.uniform(0.9, 1.1)), healthy)
    loader = iter(DataLoader(dataset, batch_size=None, num_workers=1, persistent_workers=True))

    def step(_):
        images = next(loader)
        if not healthy:
            images = augment(images)
        model(batch * images[0, 0, 0, 0]).sum().backward()

    return step


if __name__ == "__main__":
    training.main()
