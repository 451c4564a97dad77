"""Matrix products run in plain float32; healthy: under autocast in bfloat16. For a device."""
import torch

import training


def build(healthy, draw):
    model, batch = training.linears(draw, 4096, 4)
    torch.backends.cuda.matmul.allow_tf32 = False

    def step(_):
        with torch.autocast("cuda", torch.bfloat16, enabled=healthy):
            loss = model(batch).sum()
        loss.backward()

    return step


if __name__ == "__main__":
    training.main()
