"""Deep Q-learning of a game: catch the falling balls with a paddle at the bottom of the screen."""
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

SEED = 12
SIDE = 20
GAMES = 16
WARM_UP_MOMENTS = 200
MOMENTS_PER_STEP = 4
STEPS = 70
BATCH_SIZE = 256
CAPACITY = 20000
DISCOUNT = 0.95
TARGET_EVERY = 10
LEARNING_RATE = 5e-4


class CatchGames:
    """Several games at once; a frame shows the ball and the paddle, and where the ball was before."""

    def __init__(self):
        self.ball_x = torch.randint(0, SIDE, (GAMES,))
        self.ball_y = torch.randint(0, SIDE - 1, (GAMES,))
        self.drift = torch.randint(-1, 2, (GAMES,))
        self.paddle = torch.full((GAMES,), SIDE // 2)

    def frames(self):
        frames = torch.zeros(GAMES, 2, SIDE, SIDE)
        game = torch.arange(GAMES)
        frames[game, 0, self.ball_y, self.ball_x] = 1.0
        frames[game, 1, (self.ball_y - 1).clamp(min=0), (self.ball_x - self.drift) % SIDE] = 1.0
        for shift in (-1, 0, 1):
            frames[game, 0, SIDE - 1, (self.paddle + shift).clamp(0, SIDE - 1)] = 1.0
        return frames

    def move(self, actions):
        self.paddle = (self.paddle + 2 * (actions - 1)).clamp(0, SIDE - 1)
        self.ball_x = (self.ball_x + self.drift) % SIDE
        self.ball_y = self.ball_y + 1
        done = self.ball_y == SIDE - 1
        caught = (self.ball_x - self.paddle).abs() <= 1
        rewards = torch.where(done, torch.where(caught, 1.0, -1.0), 0.0)
        self.ball_y = torch.where(done, 0, self.ball_y)
        self.ball_x = torch.where(done, torch.randint(0, SIDE, (GAMES,)), self.ball_x)
        self.drift = torch.where(done, torch.randint(-1, 2, (GAMES,)), self.drift)
        return rewards, done.float()


class ReplayMemory:
    def __init__(self):
        self.frames = torch.empty(CAPACITY, 2, SIDE, SIDE)
        self.following = torch.empty(CAPACITY, 2, SIDE, SIDE)
        self.actions = torch.empty(CAPACITY, dtype=torch.long)
        self.rewards = torch.empty(CAPACITY)
        self.done = torch.empty(CAPACITY)
        self.added = 0

    def add(self, frames, actions, rewards, following, done):
        rows = torch.arange(self.added, self.added + len(frames)) % CAPACITY
        self.frames[rows] = frames
        self.following[rows] = following
        self.actions[rows] = actions
        self.rewards[rows] = rewards
        self.done[rows] = done
        self.added += len(frames)

    def sample(self):
        rows = torch.randint(0, min(self.added, CAPACITY), (BATCH_SIZE,))
        return self.frames[rows], self.actions[rows], self.rewards[rows], self.following[rows], self.done[rows]


def make_network():
    return nn.Sequential(
        nn.Conv2d(2, 16, 5, stride=2, padding=2),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * (SIDE // 4) ** 2, 128),
        nn.ReLU(),
        nn.Linear(128, 3),
    )


def play(games, network, memory, curiosity):
    """Play one moment of all games and remember it."""
    frames = games.frames()
    with torch.no_grad():
        actions = network(frames).argmax(dim=1)
    actions = torch.where(torch.rand(GAMES) < curiosity, torch.randint(0, 3, (GAMES,)), actions)
    rewards, done = games.move(actions)
    memory.add(frames, actions, rewards, games.frames(), done)


def learn(network, target, optimizer, memory):
    frames, actions, rewards, following, done = memory.sample()
    with torch.no_grad():
        goal = rewards + DISCOUNT * (1 - done) * target(following).amax(dim=1)
    values = network(frames).gather(1, actions.unsqueeze(1)).squeeze(1)
    loss = F.smooth_l1_loss(values, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    games = CatchGames()
    network, target = make_network(), make_network()
    target.load_state_dict(network.state_dict())
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    memory = ReplayMemory()
    for _ in range(WARM_UP_MOMENTS):
        play(games, network, memory, curiosity=1.0)

    step_times = []
    losses = []
    for step in range(STEPS):
        started = time.perf_counter()
        for _ in range(MOMENTS_PER_STEP):
            play(games, network, memory, curiosity=max(0.1, 1 - step / STEPS))
        losses.append(learn(network, target, optimizer, memory))
        if step % TARGET_EVERY == 0:
            target.load_state_dict(network.state_dict())
        step_times.append(time.perf_counter() - started)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
