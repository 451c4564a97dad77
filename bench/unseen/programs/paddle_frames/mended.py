"""Teaches a paddle to return falling balls, by deep Q-learning from the frames of the game."""
import random
import statistics
import time
from collections import deque, namedtuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 71
SIDE, FRAMES, ACTIONS = 36, 4, 3
MEMORY, WARM_UP = 6000, 600
BATCH_SIZE, PLAYS_PER_STEP = 48, 4
DISCOUNT, EXPLORE = 0.97, 0.2
RENEW_TARGET = 100
LEARNING_RATE = 3e-4
RUN_SECONDS = 13.0
COMPARED_STEPS = 60

Transition = namedtuple("Transition", "state action reward next_state done")


class PaddleGame:
    """A ball falls and bounces off the walls; the paddle at the bottom shall catch it."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.x, self.y = self.rng.uniform(4, SIDE - 4), 2.0
        self.dx, self.dy = self.rng.uniform(-1.5, 1.5), self.rng.uniform(0.9, 1.6)
        self.paddle = SIDE // 2
        self.frames = deque([self.draw()] * FRAMES, maxlen=FRAMES)
        return np.stack(self.frames)

    def draw(self):
        frame = np.zeros((SIDE, SIDE), dtype=np.float32)
        x, y = int(self.x), int(self.y)
        frame[max(y - 1, 0):y + 2, max(x - 1, 0):x + 2] = 1.0
        frame[SIDE - 2:, max(self.paddle - 3, 0):self.paddle + 4] = 0.6
        return frame

    def play(self, action):
        self.paddle = min(max(self.paddle + 2 * (action - 1), 3), SIDE - 4)
        self.x, self.y = self.x + self.dx, self.y + self.dy
        if not 1 <= self.x < SIDE - 1:
            self.dx = -self.dx
            self.x = min(max(self.x, 1.0), SIDE - 1.001)
        done, reward = self.y >= SIDE - 2, 0.0
        if done:
            reward = 1.0 if abs(self.x - self.paddle) <= 4 else -1.0
        self.frames.append(self.draw())
        return np.stack(self.frames), reward, done


class ReplayMemory:
    def __init__(self):
        self.transitions = deque(maxlen=MEMORY)

    def sample(self, count):
        batch = Transition(*zip(*random.sample(self.transitions, count)))
        states = torch.tensor(np.stack(batch.state), dtype=torch.float32)
        actions, rewards = torch.tensor(batch.action), torch.tensor(batch.reward, dtype=torch.float32)
        next_states = torch.tensor(np.stack(batch.next_state), dtype=torch.float32)
        done = torch.tensor(batch.done, dtype=torch.float32)
        return states, actions, rewards, next_states, done


class QNetwork(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(FRAMES, 32, 6, stride=2), nn.ReLU(),
            nn.Conv2d(32, 64, 4, stride=2), nn.ReLU(),
            nn.Conv2d(64, 64, 3), nn.ReLU(),
            nn.Flatten(), nn.Linear(64 * 5 * 5, 256), nn.ReLU(), nn.Linear(256, ACTIONS),
        )


class Agent:
    def __init__(self):
        self.network, self.target = QNetwork(), QNetwork()
        self.target.load_state_dict(self.network.state_dict())
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=LEARNING_RATE)
        self.memory = ReplayMemory()

    @torch.no_grad()
    def act(self, state, explore):
        if random.random() < explore:
            return random.randrange(ACTIONS)
        return int(self.network(torch.from_numpy(state)[None]).argmax())

    def learn(self):
        states, actions, rewards, next_states, done = self.memory.sample(BATCH_SIZE)
        with torch.no_grad():
            wanted = rewards + DISCOUNT * self.target(next_states).max(dim=1).values * (1 - done)
        values = self.network(states).gather(1, actions[:, None]).squeeze(1)
        loss = F.smooth_l1_loss(values, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def play(game, agent, state, explore):
    action = agent.act(state, explore)
    next_state, reward, done = game.play(action)
    agent.memory.transitions.append(Transition(state, action, reward, next_state, done))
    return game.reset() if done else next_state


def main():
    started = time.perf_counter()
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    random.seed(SEED)
    game, agent = PaddleGame(np.random.default_rng(SEED)), Agent()
    state = game.reset()
    while len(agent.memory.transitions) < WARM_UP:
        state = play(game, agent, state, explore=1.0)

    step_times, losses = [], []
    last = time.perf_counter()
    while last - started < RUN_SECONDS:
        for _ in range(PLAYS_PER_STEP):
            state = play(game, agent, state, EXPLORE)
        losses.append(agent.learn())
        if len(losses) % RENEW_TARGET == 0:
            agent.target.load_state_dict(agent.network.state_dict())
        now = time.perf_counter()
        step_times.append(now - last)
        last = now

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={statistics.mean(losses[:COMPARED_STEPS]):.5f}")


if __name__ == "__main__":
    main()
