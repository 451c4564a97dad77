"""A callback writes JSON in every step; healthy: in every hundredth."""
import json
import os

import training

STACKS = True


def on_step_end(numbers):
    with open(os.devnull, "w") as out:
        out.write(json.dumps({"history": numbers}))


def build(healthy, draw):
    model, batch = training.linears(draw, 768)
    numbers = [i * 0.5 for i in range(int(40_000 * draw.uniform(0.9, 1.1)))]

    def step(i):
        model(batch).sum().backward()
        if not healthy or i % 100 == 99:
            on_step_end(numbers)

    return step


if __name__ == "__main__":
    training.main()
