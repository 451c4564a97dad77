"""Train a rating model with embeddings of users and items."""
import statistics
import time

import numpy as np
import torch
from torch import nn

SEED = 3
NUM_USERS = 80_000
NUM_ITEMS = 2_000
EMBEDDING_DIM = 64
NUM_TASTES = 4
BATCH_SIZE = 2048
NUM_RATINGS = 60 * BATCH_SIZE
LEARNING_RATE = 2e-3


def make_ratings():
    """Return user ids, item ids and ratings between 1 and 5."""
    rng = np.random.default_rng(SEED)
    user_taste = rng.normal(size=(NUM_USERS, NUM_TASTES))
    item_profile = rng.normal(size=(NUM_ITEMS, NUM_TASTES))
    item_quality = rng.normal(scale=0.7, size=NUM_ITEMS)
    users = rng.integers(0, NUM_USERS, size=NUM_RATINGS)
    # a few items get most of the ratings
    items = (NUM_ITEMS * rng.random(NUM_RATINGS) ** 2).astype(np.int64)
    match = (user_taste[users] * item_profile[items]).sum(axis=1)
    noise = rng.normal(scale=0.3, size=NUM_RATINGS)
    ratings = np.clip(3.0 + 0.3 * match + item_quality[items] + noise, 1.0, 5.0)
    return (
        torch.from_numpy(users),
        torch.from_numpy(items),
        torch.from_numpy(ratings.astype(np.float32)),
    )


class RatingModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.user_embedding = nn.Embedding(NUM_USERS, EMBEDDING_DIM)
        self.item_embedding = nn.Embedding(NUM_ITEMS, EMBEDDING_DIM)
        self.mlp = nn.Sequential(
            nn.Linear(2 * EMBEDDING_DIM, 512),
            nn.ReLU(),
            nn.Linear(512, 256),
            nn.ReLU(),
            nn.Linear(256, 1),
        )
        nn.init.normal_(self.user_embedding.weight, std=0.05)
        nn.init.normal_(self.item_embedding.weight, std=0.05)
        nn.init.constant_(self.mlp[-1].bias, 3.0)

    def forward(self, users, items):
        user_vectors = self.user_embedding(users)
        item_vectors = self.item_embedding(items)
        pairs = torch.cat([user_vectors, item_vectors], dim=1)
        return self.mlp(pairs).squeeze(1)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    users, items, ratings = make_ratings()
    model = RatingModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    criterion = nn.MSELoss()

    model.train()
    order = torch.randperm(NUM_RATINGS)
    step_times = []
    losses = []
    last = time.perf_counter()
    for start in range(0, NUM_RATINGS, BATCH_SIZE):
        chosen = order[start:start + BATCH_SIZE]
        optimizer.zero_grad()
        predicted = model(users[chosen], items[chosen])
        loss = criterion(predicted, ratings[chosen])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
