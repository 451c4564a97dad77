"""Other processes keep all cores busy in recorded steps 5 to 7; healthy: none do."""
import os

import torch.multiprocessing as processes

import training

FIRST, LAST = training.WARMUP + 4, training.WARMUP + 7


def burn(stop):
    while not stop.is_set():
        sum(range(10000))


def build(healthy, draw):
    model, batch = training.linears(draw, 256, depth=8)
    context = processes.get_context("fork")
    stop = context.Event()
    others = [context.Process(target=burn, args=(stop,), daemon=True) for _ in range(2 * (os.cpu_count() or 1))]

    def step(i):
        if not healthy and i == FIRST:
            for other in others:
                other.start()
        if not healthy and i == LAST:
            stop.set()
            for other in others:
                other.join()
        for _ in range(4):
            model(batch).sum().backward()

    return step


if __name__ == "__main__":
    training.main()
