"""Exercise 3: what holds the memory of a Transformer's training step?

usage: python transformer_memory.py

Records allocations and nn.Module calls, prints the peak, the layer whose activations hold most of it, and what checkpointing
that layer frees at most; then trains with every block checkpointed and prints that peak.
"""
import pathlib
import sys
import tempfile

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import stepscope
from stepscope.profiler import profile, schedule

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from transformer import BATCH, LENGTH, VOCABULARY, LanguageModel  # noqa: E402


class Checkpointed(LanguageModel):
    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(x)


def recorded(model, path):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    tokens = torch.randint(VOCABULARY, (BATCH, LENGTH + 1))
    with profile(with_stack=True, profile_memory=True, path=path,
                 schedule=schedule(wait=1, warmup=1, active=2, repeat=1)) as prof:
        for _ in range(4):
            optimizer.zero_grad()
            scores = model(tokens[:, :-1])
            nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten()).backward()
            optimizer.step()
            prof.step()
    return stepscope.open(path)


def peak_of(trace):
    """The highest sum of all bytes allocated and freed since the recording began."""
    return trace.analyze("memory_events")[0]["peak_change"].to_list()[0]


def fullest_block(trace):
    table = trace.analyze("module_memory")[0]
    rows = zip(table["module"], table["class"], table["bytes"], table["checkpoint_frees"])
    return max((row for row in rows if row[1] == "Block"), key=lambda row: row[2])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        trace = recorded(LanguageModel(), pathlib.Path(folder) / "plain.stepscope")
        print(trace.analyze("module_memory"))
        block, _, held, frees = fullest_block(trace)
        print(f"peak {peak_of(trace) / 2**20:.2f} MiB; {block} holds {held / 2**20:.2f} MiB of it, "
              f"and checkpointing it frees up to {frees / 2**20:.2f} MiB")
        lower = recorded(Checkpointed(), pathlib.Path(folder) / "checkpointed.stepscope")
        print(f"peak with every block checkpointed: {peak_of(lower) / 2**20:.2f} MiB")
