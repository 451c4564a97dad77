"""Deep Q-learning: steer a barge between the drifting logs of a river, from pictures."""
import random
import statistics
import time
from collections import deque, namedtuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 83
SIZE = 32
LOGS = 6
ACTIONS = 3
MEMORY = 4000
BATCH_SIZE = 32
WARM_UP = 200
STEPS = 90
GAMMA = 0.97
EPSILON = 0.2
TARGET_EVERY = 20
LEARNING_RATE = 5e-4

Transition = namedtuple("Transition", "state action reward next_state done")


class River:
    """The barge is at the bottom; logs drift down; a picture shows this moment and the last."""

    def __init__(self):
        self.rng = np.random.default_rng(SEED)
        self.reset()

    def reset(self):
        self.barge = SIZE // 2
        self.logs = np.stack([self.rng.integers(0, SIZE // 2, LOGS), self.rng.integers(1, SIZE - 1, LOGS)], 1)
        self.before = self.draw()
        return np.stack([self.before, self.before])

    def draw(self):
        picture = np.zeros((SIZE, SIZE), dtype=np.float32)
        for row, column in self.logs:
            picture[row, column - 1:column + 2] = 0.5
        picture[SIZE - 2:, self.barge - 1:self.barge + 2] = 1.0
        return picture

    def step(self, action):
        self.barge = int(np.clip(self.barge + 2 * (action - 1), 1, SIZE - 2))
        self.logs[:, 0] += 1
        hit = bool(np.any((self.logs[:, 0] >= SIZE - 2) & (np.abs(self.logs[:, 1] - self.barge) <= 2)))
        gone = self.logs[:, 0] >= SIZE - 1
        self.logs[gone, 0] = 0
        self.logs[gone, 1] = self.rng.integers(1, SIZE - 1, gone.sum())
        picture = self.draw()
        state = np.stack([self.before, picture])
        self.before = picture
        return state, -1.0 if hit else 0.1, hit


class Memory:
    def __init__(self):
        self.transitions = deque(maxlen=MEMORY)
        self.random = random.Random(SEED)

    def add(self, *transition):
        self.transitions.append(Transition(*transition))

    def sample(self):
        batch = Transition(*zip(*self.random.sample(self.transitions, BATCH_SIZE)))
        states = torch.tensor(batch.state, dtype=torch.float32)
        actions = torch.tensor(batch.action).unsqueeze(1)
        rewards = torch.tensor(batch.reward, dtype=torch.float32)
        next_states = torch.tensor(batch.next_state, dtype=torch.float32)
        done = torch.tensor(batch.done, dtype=torch.float32)
        return states, actions, rewards, next_states, done


def make_network():
    return nn.Sequential(
        nn.Conv2d(2, 32, 5, stride=2, padding=2), nn.ReLU(),
        nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(64 * (SIZE // 4) ** 2, 128), nn.ReLU(), nn.Linear(128, ACTIONS),
    )


class Agent:
    def __init__(self):
        self.network = make_network()
        self.target = make_network()
        self.target.load_state_dict(self.network.state_dict())
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=LEARNING_RATE, fused=True)
        self.random = random.Random(SEED + 1)

    @torch.no_grad()
    def act(self, state):
        if self.random.random() < EPSILON:
            return self.random.randrange(ACTIONS)
        return self.network(torch.from_numpy(state).unsqueeze(0)).argmax().item()

    def learn(self, states, actions, rewards, next_states, done):
        values = self.network(states).gather(1, actions).squeeze(1)
        with torch.no_grad():
            wanted = rewards + GAMMA * (1 - done) * self.target(next_states).max(dim=1).values
        loss = F.smooth_l1_loss(values, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    river, memory, agent = River(), Memory(), Agent()
    state = river.reset()

    step_times = []
    losses = []
    last = time.perf_counter()
    for step in range(WARM_UP + STEPS):
        action = agent.act(state)
        next_state, reward, done = river.step(action)
        memory.add(state, action, reward, next_state, done)
        state = river.reset() if done else next_state
        if step < WARM_UP:
            last = time.perf_counter()
            continue
        losses.append(agent.learn(*memory.sample()))
        if step % TARGET_EVERY == 0:
            agent.target.load_state_dict(agent.network.state_dict())
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
