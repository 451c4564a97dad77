"""Trains a two-tower recommender of recipes and then answers requests for recommendations with it."""
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 65
USERS = 20000
RECIPES = 40000
CUISINES = 30
INGREDIENTS = 2000
PER_RECIPE = 10
WIDTH = 32
BATCH_SIZE = 512
TRAIN_STEPS = 120
REQUESTS = 220
USERS_PER_REQUEST = 400
HISTORY = 15
TOP = 20
LEARNING_RATE = 4e-3


def make_kitchen():
    """Users cook mostly within two cuisines; a cuisine's recipes share many ingredients."""
    rng = np.random.default_rng(SEED)
    cuisine = rng.integers(CUISINES, size=RECIPES)
    typical = rng.integers(INGREDIENTS, size=(CUISINES, 60))
    ingredients = typical[cuisine[:, None], rng.integers(60, size=(RECIPES, PER_RECIPE))]
    minutes = rng.gamma(4, 10, size=RECIPES).astype(np.float32)
    by_cuisine = [np.flatnonzero(cuisine == number) for number in range(CUISINES)]
    tastes = rng.integers(CUISINES, size=(USERS, 2))
    cooked = np.empty((USERS, HISTORY + 1), dtype=np.int64)
    for user in range(USERS):
        for place, taste in enumerate(tastes[user, rng.integers(2, size=HISTORY + 1)]):
            cooked[user, place] = by_cuisine[taste][rng.integers(len(by_cuisine[taste]))]
    recipes = {
        "cuisine": torch.from_numpy(cuisine),
        "ingredients": torch.from_numpy(ingredients),
        "minutes": torch.from_numpy(minutes / 60).unsqueeze(1),
    }
    return recipes, torch.from_numpy(cooked)


class UserTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.history = nn.EmbeddingBag(RECIPES, WIDTH, mode="mean")
        self.layers = nn.Sequential(nn.Linear(WIDTH, 128), nn.ReLU(), nn.Linear(128, WIDTH))

    def forward(self, history):
        return F.normalize(self.layers(self.history(history)), dim=1)


class RecipeTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.cuisine = nn.Embedding(CUISINES, WIDTH)
        self.ingredients = nn.EmbeddingBag(INGREDIENTS, WIDTH, mode="mean")
        self.layers = nn.Sequential(nn.Linear(2 * WIDTH + 1, 192), nn.ReLU(), nn.Linear(192, WIDTH))

    def forward(self, cuisine, ingredients, minutes):
        parts = [self.cuisine(cuisine), self.ingredients(ingredients), minutes]
        return F.normalize(self.layers(torch.cat(parts, dim=1)), dim=1)


def train(user_tower, recipe_tower, recipes, cooked):
    """Each user's last recipe against those of the other users in the batch."""
    parameters = [*user_tower.parameters(), *recipe_tower.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=LEARNING_RATE)
    target = torch.arange(BATCH_SIZE)
    for step in range(TRAIN_STEPS):
        users = torch.randint(USERS, (BATCH_SIZE,))
        liked = cooked[users, HISTORY - 1]
        items = recipe_tower(*(column[liked] for column in recipes.values()))
        scores = user_tower(cooked[users, :HISTORY - 1]) @ items.T
        loss = F.cross_entropy(scores / 0.1, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class RecipeRetriever:
    """Finds for each user the recipes nearest to their taste that they have not cooked yet."""

    def __init__(self, user_tower, recipe_tower, recipes):
        self.user_tower = user_tower.eval()
        self.recipe_tower = recipe_tower.eval()
        self.recipes = recipes

    @torch.inference_mode()
    def recommend(self, history):
        users = self.user_tower(history)
        items = self.recipe_tower(**self.recipes)
        scores = users @ items.T
        scores.scatter_(1, history, -2.0)
        return scores.topk(TOP, dim=1).indices


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    recipes, cooked = make_kitchen()
    user_tower, recipe_tower = UserTower(), RecipeTower()
    train(user_tower, recipe_tower, recipes, cooked)
    retriever = RecipeRetriever(user_tower, recipe_tower, recipes)

    step_times = []
    hits = []
    last = time.perf_counter()
    for request in range(REQUESTS):
        users = torch.randint(USERS, (USERS_PER_REQUEST,))
        recommended = retriever.recommend(cooked[users, :HISTORY])
        wanted = recipes["cuisine"][cooked[users, HISTORY]]
        hits.append((recipes["cuisine"][recommended] == wanted[:, None]).float().mean().item())
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(hits):.6f}")


if __name__ == "__main__":
    main()
