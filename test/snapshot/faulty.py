"""Makes a memory snapshot of a made-up program that is healthy or has exactly one fault, and says which.

faulty.py KIND SEED -o FILE [--truth FILE]      KIND: healthy, leak, fragmentation, spike, churn, shortage

Each fault is one change to a healthy program of the same seed. A made file is only kept if the replay of what it holds (seen.py) shows
that fault and no other: what nobody could decide is drawn again.
"""

import argparse
import collections
import copy
import json
import math
import pickle
import random
import sys

from plans import MiB, draw_plan, operators
from seen import Window, place_key, user_place
from training import Program, make, text_of

UNLIMITED = 1 << 50
MAX_DRAWS = 400
# Limits between healthy and faulty. What is between the two numbers of a pair is drawn again.
HEALTHY_LIFT, FAULTY_LIFT = 0.12, 0.29  # of the peak without it
HEALTHY_UNUSED = 0.2  # of the reserved peak, which the peak of use leaves
FREE_FOR_FRAGMENTATION, FREE_FOR_OTHERS = 1.2, 0.8  # times the failed request
LARGE_REQUEST = 0.1  # of the capacity: less is no spike
MIN_RISES = 4  # of a leak's allocations in the window
MIN_LEAKED = 0.15  # of the capacity, for a leak that ends in an OOM
MIN_FREED = 0.05  # of the reserved peak, given back in most steps with churn
KEPT_STEPS = 6


class Unfit(Exception):
    """This draw does not show its fault, or shows another."""


def need(condition, why):
    if not condition:
        raise Unfit(why)


def window_of(program):
    """What the file keeps of a run: its newest events."""
    events, plan = list(program.device.trace), program.plan
    starts = [s - program.forgotten for s in program.starts]
    keep = len(events)
    if plan.keeps < 1 and len(starts) > KEPT_STEPS:
        keep = min(keep, max(int(keep * plan.keeps), len(events) - starts[-KEPT_STEPS]))
    lost = len(events) - keep
    return Window(events[lost:], program.device.segments(), [s - lost for s in starts])


def check_others(window, *, lift=True, unused=True, releases=True, growth=True):
    """No fault but the planted one shows."""
    if lift:
        need(window.lift(window.short())[0] < HEALTHY_LIFT, "a spike")
    if unused:
        need(1 - window.peak() / window.reserved_peak() < HEALTHY_UNUSED, "much cached memory is unused")
    if releases:
        need(all(freed == 0 for _, freed in window.segments_by_step()[1:]), "segments are given back")
    if growth:
        last = max(3, len(window.starts) // 2)
        need(all(not steps or steps[-1] < last for steps in window.rises().values()), "memory grows late in the window")


class Case:
    """One draw of one seed. The seed alone chooses the fault's variant and the family, so that drawing again does not prefer easy ones."""

    def __init__(self, kind, seed, draw):
        self.seed, self.code = seed, f"{kind} {seed} {draw}"
        self.family = ("decoder", "vision", "server")[seed % 3 if kind == "healthy" else seed // 3 % 3]
        self.rng, self.base = random.Random(self.code), random.Random(f"plan {self.code}")

    def healthy(self, **fixed):
        """A plan that is healthy, and its run without a limit."""
        plan = draw_plan(self.base, **{"family": self.family, **fixed})
        program = self.run(plan)
        window = window_of(program)
        need(200 * MiB < window.peak() and max(program.device.res_curve) < 75 << 30, "of unusual size")
        need(len(program.device.trace) < 40000, "too long")
        check_others(window)
        return plan, program

    def training_family(self):
        return "decoder" if self.family == "server" else self.family

    def run(self, plan, capacity=UNLIMITED, hooks=None, prepare=None):
        program = Program(plan, self.code, capacity, hooks)
        if prepare:
            prepare(program)
        return program.run()


def capacity_of(rng, program):
    return int(max(program.device.res_curve) / rng.uniform(0.5, 0.7)) // MiB * MiB


def plant_healthy(case):
    plan, program = case.healthy()
    capacity = capacity_of(case.rng, program)
    if plan.cut:
        stop_at = case.rng.randrange(program.starts[-1] + 2, program.device.total_events)
        program = case.run(plan, capacity, prepare=lambda p: setattr(p, "stop_at", stop_at))
    else:
        program = case.run(plan, capacity)
    check_others(window_of(program))
    return program, {}


def plant_leak(case):
    variant = ("constant", "graph", "second")[case.seed % 3]
    ends_in_oom = case.seed % 5 in (1, 3)
    plan, healthy = case.healthy(family=case.training_family() if variant == "graph" else case.family)
    need(plan.steps >= (12 if variant == "second" else 8), "few steps")
    least = max(healthy.device.req_curve) * 0.25 / plan.steps * (2 if variant == "second" else 1) if ends_in_oom else 64 << 10
    need(least < 64 << 20, "a large model")
    size = int(math.exp(case.rng.uniform(math.log(least), math.log(64 << 20))))
    varies, at_loss = case.rng.random() < 0.3, plan.family != "server" and case.rng.random() < 0.6
    done, hooks, places, prepare = set(), {}, {}, None

    def keep(program, context):
        if context.step in done or (variant == "second" and context.step % 2 == 0) or not getattr(context, "grad", True):
            return
        done.add(context.step)
        site = ("loss", "loss", "kept", "forward") if at_loss else ("tools", "keep", "append", "after")
        frames = program.code.stack(*site)
        places[text_of(program.code.place(*site[:3]))] = place_key(frames)
        program.kept.append(program.alloc(size * context.length / max(plan.lengths) if varies else size, frames))

    if variant == "graph":
        made = {name: size for name, size, saved, _ in operators(plan, 0, max(plan.lengths)) if saved and size > 64 << 10}
        need(len(made) >= 2, "small layers")
        names = case.rng.sample(sorted(made), case.rng.randrange(1, min(4, len(made))))
        enough = max(healthy.device.req_curve) * 0.4 / plan.steps if ends_in_oom else 1
        layers = range(plan.layers)[: math.ceil(enough / sum(made[name] for name in names))]
        kept = {(layer, name) for layer in layers for name in names}
        prepare = lambda program: program.kept_operators.update(kept)  # noqa: E731
    else:
        hooks["loss" if at_loss else "step_end"] = keep
    program = case.run(plan, UNLIMITED, hooks, prepare)
    capacity = int(max(program.device.res_curve) / case.rng.uniform(0.6, 0.9)) // MiB * MiB
    if ends_in_oom:
        needed = max(healthy.device.res_curve) * 1.03
        at = case.rng.uniform(0.6, 0.95)
        capacity = int(needed + at * (max(program.device.res_curve) - needed)) // MiB * MiB
        need(needed < max(program.device.res_curve), "no growth")
    done.clear()
    program = case.run(plan, capacity, hooks, prepare)
    window = window_of(program)
    if variant == "graph":
        places = {text_of(program.code.place("block", "forward", name)): None for _, name in kept}
    rises = window.rises()
    leaked = {stack: steps for stack, steps in rises.items() if len(steps) >= MIN_RISES and steps[-1] >= len(window.starts) - 4}
    found = {text_of(dict(zip(("name", "filename", "line"), user_place(stack)))) for stack in leaked if stack}
    need(found == set(places), f"{found} grow, planted were {set(places)}")
    kept_bytes = sum(block.req for block in program.kept)
    if ends_in_oom:
        need(program.out_of_memory, "no OOM")
        need(kept_bytes >= MIN_LEAKED * capacity, "the leak is a small part")
        need(window.free_cached(window.oom()["stream"])[0] < FREE_FOR_OTHERS * window.oom()["size"], "fragmented")
        check_others(window, unused=False, releases=False, growth=False)
    else:
        need(not program.out_of_memory, "an OOM")
        check_others(window, growth=False)
    return program, {"variant": variant, "places": sorted(places), "allocations": len(program.kept), "bytes": kept_bytes,
                     "bytes_each": sorted({block.req for block in program.kept})[:8]}  # fmt: skip


def plant_fragmentation(case):
    plan, _ = case.healthy(expandable=False, family=case.training_family(), states=case.rng.choice((1, 2, 2)), evaluate_every=0)
    first, growth = 64 * case.rng.randrange(2, 9), case.rng.uniform(2, 5)
    plan = copy.copy(plan)
    plan.lengths = [int(first * (1 + (growth - 1) * i / (plan.steps - 1))) for i in range(plan.steps)]
    held = collections.deque()
    pins = case.rng.choice((0, 2, 4, 6))

    def pin(program, context):
        """Results of some layers that are held for some steps, in the middle of activations."""
        if context.grad and context.layer % 2:
            frames = program.code.stack("block", "keep", "held", context.caller)
            held.append(program.alloc(case.rng.randrange(1, 4) * MiB + 65536, frames))
            if len(held) > pins:
                program.free(held.popleft(), frames)

    unlimited = case.run(plan)
    need(max(unlimited.device.res_curve) < 75 << 30 and unlimited.device.total_events < 30000, "of unusual size")
    low, high = max(unlimited.device.req_curve), max(unlimited.device.res_curve)
    for i in range(16):
        capacity = int(high * 1.05 - (high * 1.05 - low * 0.85) * i / 15) // MiB * MiB
        held.clear()
        program = case.run(plan, capacity, {"layer": pin} if pins else None)
        if not program.out_of_memory or len(program.starts) < 4:
            continue
        window = window_of(program)
        request = window.oom()["size"]
        free, largest = window.free_cached(window.oom()["stream"])
        if free >= FREE_FOR_FRAGMENTATION * request and largest < request and free >= capacity / 20:
            check_others(window, unused=False, releases=False)
            return program, {"request": request, "free_cached": free, "largest_free_block": largest, "held": pins}
    raise Unfit("no capacity at which it fails by fragmentation")


def plant_spike(case):
    plan, healthy = case.healthy()
    server = plan.family == "server"
    site, point, library = case.rng.choice(
        ((("loss", "spike", "float"), "loss", ()), (("model", "spike", "softmax"), "loss", (("nn/functional.py", 1858, "softmax"),)),
         (("block", "spike", "mask"), "layer", ()), (("block", "spike", "scores"), "layer", (("nn/functional.py", 1858, "softmax"),))))  # fmt: skip
    every, parts = (1 if server else case.rng.choice((1, 1, 3))), case.rng.choice((1, 1, 2))
    lift, ends_in_oom = case.rng.uniform(0.32, 0.95), case.seed % 3 == 1
    probes = []

    def fires(context):
        return context.step % every == every - 1 and (server or context.grad)

    def probe(program, context):
        if fires(context):
            probes.append((program.device.req, context.length))

    def cast(program, context):
        if fires(context):
            stacks = [program.code.stack(*site, context.caller, library + (("_tensor.py", 40, "wrapped"),) * i) for i in range(parts)]
            program.spike = stacks[0]
            blocks = [(program.alloc(factor * context.length / parts, frames), frames) for frames in stacks]
            for block, frames in reversed(blocks):
                program.device.free_now(block, frames)

    case.run(plan, UNLIMITED, {point: probe})
    peak = max(healthy.device.req_curve)
    need(probes, "never there")
    factor = min(((1 + lift) * peak - level) / length for level, length in probes)
    program = case.run(plan, UNLIMITED, {point: cast})
    capacity = int(max(program.device.res_curve) / case.rng.uniform(0.6, 0.9)) // MiB * MiB
    if ends_in_oom:
        least, most = max(healthy.device.res_curve) * 1.03, max(program.device.req_curve)
        need(least < most, "little room")
        capacity = int(case.rng.uniform(least, 0.3 * least + 0.7 * most)) // MiB * MiB
    program = case.run(plan, capacity, {point: cast})
    window = window_of(program)
    place = text_of(program.code.place(*site))
    sizes = {"places": [place], "lift": round(lift, 3), "healthy_peak": peak, "every": every}
    if ends_in_oom:
        oom = window.oom()
        need(program.out_of_memory and user_place(place_key(oom["frames"])) == user_place(place_key(program.spike)), "no OOM there")
        need(oom["size"] >= 2 * LARGE_REQUEST * capacity, "a small request")
        need(window.free_cached(oom["stream"])[0] < FREE_FOR_OTHERS * oom["size"], "fragmented")
        check_others(window, lift=False, unused=False, releases=False)
        return program, {**sizes, "request": oom["size"]}
    need(not program.out_of_memory, "an OOM")
    seen, where = window.lift(window.short())
    need(seen >= FAULTY_LIFT and where == user_place(place_key(program.spike)), "no spike in the window")
    check_others(window, lift=False, unused=False)
    return program, {**sizes, "lift_seen": round(seen, 3)}


def plant_churn(case):
    near = case.seed % 3 == 1
    fixed = {"expandable": False, "evaluate_every": 0} if near else {}
    plan, healthy = case.healthy(**fixed)
    if near:
        plan, longest = copy.copy(plan), case.rng.randrange(400, 1600)  # batches sorted by length: no cached block is large enough
        plan.lengths = [int(longest * (0.7 + 0.3 * i / (plan.steps - 1))) for i in range(plan.steps)]

    def clean(program, _):
        frames = program.code.stack("tools", "clean", "empty_cache", "clean", (("cuda/memory.py", 162, "empty_cache"),))
        program.device.release_cached(frames)

    unlimited = case.run(plan, UNLIMITED, None if near else {"step_end": clean})
    low, high = max(unlimited.device.req_curve), max(unlimited.device.res_curve)
    need(high < 75 << 30 and unlimited.device.total_events < 30000, "of unusual size")
    capacities = [int(low * (1.04 + 0.04 * i)) // MiB * MiB for i in range(8)] if near else [capacity_of(case.rng, unlimited)]
    for capacity in capacities:
        program = case.run(plan, capacity, None if near else {"step_end": clean})
        window = window_of(program)
        steps = window.segments_by_step()[1:]
        busy = sum(made > 0 and freed > window.reserved_peak() * MIN_FREED for made, freed in steps)
        if not program.out_of_memory and len(steps) >= 4 and busy >= 0.8 * len(steps):
            check_others(window, unused=False, releases=False)
            return program, {"variant": "near capacity" if near else "empty_cache", "retries": program.device.retries,
                             "bytes_made": sum(made for made, _ in steps), "bytes_freed": sum(freed for _, freed in steps)}  # fmt: skip
    raise Unfit("no churn")


def plant_shortage(case):
    plan, healthy = case.healthy(family=case.training_family())
    capacity, plan = capacity_of(case.rng, healthy), copy.copy(plan)
    small = plan.batch
    for factor in (2, 3, 4, 6, 8, 12, 16, 24, 32):
        plan.batch = small * factor
        program = case.run(plan, capacity)
        if program.out_of_memory and len(program.starts) == 1 and not program.gradients:
            window = window_of(program)
            oom = window.oom()
            need(oom["size"] <= LARGE_REQUEST * capacity, "one large request")
            need(window.free_cached(oom["stream"])[0] < FREE_FOR_OTHERS * oom["size"], "fragmented")
            need(len(window.lives) - len(program.parameters) >= 8, "few activations")
            check_others(window, unused=False)
            return program, {"request": oom["size"], "batch": plan.batch, "healthy_batch": small, "device_free": oom["device_free"]}
    raise Unfit("always fits")


PLANTS = {"healthy": plant_healthy, "leak": plant_leak, "fragmentation": plant_fragmentation, "spike": plant_spike, "churn": plant_churn,
          "shortage": plant_shortage}  # fmt: skip


def faulty(kind, seed):
    """A program after its run, and the truth about it."""
    for draw in range(MAX_DRAWS):
        try:
            program, truth = PLANTS[kind](Case(kind, seed, draw))
        except Unfit as why:
            print(f"{kind} {seed}: draw {draw}: {why}", file=sys.stderr)
            continue
        return program, {"kind": kind, "seed": seed, "draw": draw, **truth}
    raise SystemExit(f"{kind} {seed}: nothing fit in {MAX_DRAWS} draws")


def write(program, truth, path):
    plan, device, options = program.plan, program.device, program.options
    window = window_of(program)
    lost = len(device.trace) - len(window.events)
    if plan.snapshot_event:
        device.ev("snapshot", 0, 0, 0, program.code.stack("tools", "dump", "snapshot", "clean", (("cuda/memory.py", 980, "_snapshot"),)))
        window.events.append(device.trace[-1])
    snapshot = {"segments": window.segments, "device_traces": [window.events], "allocator_settings": make.settings(options)}
    if options.v.get("ovf"):
        snapshot["allocator_settings"]["trace_alloc_overflowed"] = lost > 0
        snapshot["allocator_settings"]["trace_alloc_max_entries"] = len(window.events) if lost else 1_000_000
    if options.v.get("ann") and plan.writer == "python":
        began = device.trace[0]["time_us"]
        snapshot["external_annotations"] = [mark for mark in program.marks if mark["time_us"] >= began]
    with open(path, "wb") as file:
        if plan.writer == "cpp":
            sys.setrecursionlimit(10000)
            parts = []
            make.cpp_pickle(snapshot, parts)
            file.write(b"".join(parts))
        else:
            pickle.dump(snapshot, file, protocol=plan.protocol)
    plan_facts = {key: getattr(plan, key) for key in ("family", "steps", "layers", "hidden", "batch", "version", "stacks", "marks", "recording", "expandable")}
    return {**truth, **plan_facts, "capacity": device.cap, "oom": program.out_of_memory, "events": len(window.events), "lost_events": lost,
            "steps_run": len(program.starts), "peak_requested": window.peak(), "reserved_peak": window.reserved_peak()}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=PLANTS)
    parser.add_argument("seed", type=int)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--truth", help="where the truth goes, as JSON")
    options = parser.parse_args()
    truth = write(*faulty(options.kind, options.seed), options.output)
    if options.truth:
        with open(options.truth, "w", encoding="utf-8") as file:
            json.dump(truth, file, indent=1)
    print(json.dumps(truth))


if __name__ == "__main__":
    main()
