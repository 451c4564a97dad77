"""150,000 objects are alive and each step leaves cycles, so the collector walks all objects; healthy: frozen and disabled."""
import gc

import training


class Node:
    __slots__ = ("other",)


def cycles(count):
    for _ in range(count):
        one, two = Node(), Node()
        one.other, two.other = two, one


def build(healthy, draw):
    model, batch = training.linears(draw, 768, depth=4)
    alive = [[i] for i in range(int(150_000 * draw.uniform(0.9, 1.1)))]
    gc.collect()
    if healthy:
        gc.freeze()
        gc.disable()

    def step(i):
        model(batch).sum().backward()
        cycles(2000)
        if not healthy and i % 2 == 1:
            alive.append([i])
            gc.collect()

    return step


if __name__ == "__main__":
    training.main()
