"""Random plans of plausible programs: how large, how many steps of which lengths, what warms up, and how the snapshot is recorded."""

import math
import types

MiB = 1 << 20
VERSIONS = ("2.3", "2.5", "2.7", "2.10", "2.13")


def sequence(rng, steps):
    """A length per step: the same for all, or one of some."""
    if rng.random() < 0.4:
        return [rng.choice((256, 384, 512, 1024))] * steps
    choices = sorted(rng.sample(range(4, 25), rng.choice((2, 3, 4))))
    return [64 * rng.choice(choices) for _ in range(steps)]


def draw_plan(rng, **fixed):
    """A random plausible program; `fixed` overrides what is drawn."""
    steps = rng.randrange(6, 41)
    plan = types.SimpleNamespace(
        family="decoder", steps=steps, layers=rng.randrange(3, max(5, min(17, 320 // steps))),
        hidden=rng.choice((256, 512, 768, 1024, 1536, 2048)), batch=0, lengths=sequence(rng, steps),
        element=rng.choice((2, 4)), wide=rng.choice((2, 4)), heads=rng.choice((4, 8, 16)), vocabulary=rng.choice((8000, 16000, 32000, 50304)),
        zero_at=rng.choice(("begin", "end")), accumulate=rng.choice((1, 1, 1, 2)), evaluate_every=rng.choice((0, 0, 3, 4, 5)),
        states=rng.choice((0, 1, 2, 2)), workspace=rng.choice((0, 8, 32)) * MiB, table=rng.random() < 0.5, history=rng.choice((0, 2, 3)),
        ema=rng.random() < 0.2, fills=rng.random() < 0.3, cleans=rng.random() < 0.2, keep_output=rng.random() < 0.4, buckets=rng.random() < 0.4, delay=rng.choice((0, 0, 0.02)),
        prompts=rng.randrange(2, 6), version=rng.choice(VERSIONS), stacks=rng.choice(("python", "all")), wrapped=rng.random() < 0.2,
        marks=rng.choice(("none", "optimizer", "steps", "steps")), expandable=rng.random() < 0.3, recording=rng.choice(("start", "start", "built", "late")),
        keeps=rng.choice((1, 1, 0.6, 0.8)), cut=rng.random() < 0.5, writer=rng.choice(("python",) * 4 + ("cpp",)),
        protocol=rng.choice((2, 3, 4, 4, 5)), snapshot_event=rng.random() < 0.5)  # fmt: skip
    vars(plan).update(fixed)
    wanted = math.exp(rng.uniform(math.log(500 * MiB), math.log(40_000 * MiB)))
    for plan.batch in (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64):
        if weights_of(plan) * (2 + plan.states) * 4 + activations_of(plan, max(plan.lengths)) >= wanted:
            break
    if plan.version == "2.3" or plan.writer == "cpp":  # neither has annotations
        plan.marks = "none"
    return plan


def weights_of(plan):
    """Number of parameters."""
    h = plan.hidden
    per_layer = 9 * h * h // 4 if plan.family == "vision" else (4 + 2 * plan.wide) * h * h
    return plan.layers * per_layer + h * (plan.vocabulary if plan.family != "vision" else 1024)


def operators(plan, layer, length):
    """What one layer allocates: name, bytes, whether the backward pass needs it, library frames."""
    unit = plan.batch * length * plan.hidden * plan.element
    if plan.family == "vision":
        unit = max(unit >> (layer * 3 // plan.layers), 4096)
        conv, norm = ("nn/modules/conv.py", 456, "forward"), ("nn/functional.py", 2478, "batch_norm")
        return (("convolution", unit, 1, (conv,)), ("batch_norm", unit, 1, (norm,)), ("batch_norm_stats", 4 * plan.hidden, 1, (norm,)),
                ("relu", unit, 1, (("nn/functional.py", 1471, "relu"),)), ("conv_workspace", min(unit, 4 * MiB), 0, (conv,)))  # fmt: skip
    norm, linear = ("nn/modules/normalization.py", 196, "forward"), ("nn/modules/linear.py", 114, "forward")
    return (("layer_norm", unit, 1, (norm,)), ("qkv", 3 * unit, 1, (linear,)), ("contiguous", unit // 2, 0, ()), ("attention", unit, 1, ()),
            ("logsumexp", plan.batch * plan.heads * length * 4, 1, ()), ("proj", unit, 1, (linear,)), ("layer_norm_2", unit, 1, (norm,)),
            ("fc1", plan.wide * unit, 1, (linear,)), ("gelu", plan.wide * unit, 1, ()), ("fc2", unit, 1, (linear,)),
            ("dropout", unit // plan.element, 1, (("nn/modules/dropout.py", 58, "forward"),)))  # fmt: skip


def activations_of(plan, length):
    """Bytes that the layers keep for the backward pass."""
    return sum(size for layer in range(plan.layers) for _, size, saved, _ in operators(plan, layer, length) if saved)
