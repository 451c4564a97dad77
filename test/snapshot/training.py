"""A made-up training or inference program that runs on the simulated caching allocator of ../shared/tools/make_snapshot.py.

Code invents its files, functions and call stacks; Program runs a plan: parameters, forward and backward passes, an optimizer, caches that
warm up, evaluations. Everything follows from the plan and the seed.
"""

import collections
import importlib.util
import pathlib
import random
import types

from plans import MiB, activations_of, operators

MAKE = pathlib.Path(__file__).resolve().parent.parent.parent.parent / "shared" / "tools" / "make_snapshot.py"
DEFAULT_STREAM, COMMUNICATION_STREAM = 0, 0x55D0C8A4F2B0


def load_make():
    """The module make_snapshot."""
    spec = importlib.util.spec_from_file_location("make_snapshot", MAKE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = load_make() if MAKE.exists() else None


class OutOfMemory(Exception):
    """An allocation failed; the snapshot is taken at that moment."""


class Cut(Exception):
    """The snapshot is taken in the middle of a step."""


class Code:
    """Files, functions, lines and call stacks of one program. A frame is shared by all stacks that go through it."""

    FILES = {
        "train": ("train.py", "pretrain.py", "finetune.py", "fit.py", "run.py", "main.py"),
        "model": ("model.py", "network.py", "backbone.py", "gpt.py", "net.py"),
        "block": ("block.py", "layers.py", "modules.py", "residual.py"),
        "loss": ("losses.py", "objective.py", "criterion.py", "heads.py"),
        "data": ("data.py", "loader.py", "dataset.py", "batches.py"),
        "tools": ("tools.py", "metrics.py", "callbacks.py", "monitor.py"),
    }  # fmt: skip
    FUNCTIONS = {
        "step": ("train_step", "run_step", "one_step", "update", "training_step"), "evaluate": ("evaluate", "validate", "eval_loop"),
        "loss": ("compute_loss", "objective", "token_loss", "criterion"), "main": ("main", "run", "train"),
        "keep": ("log_metrics", "remember", "on_step_end", "collect"), "spike": ("score", "make_mask", "full_softmax", "distances", "to_float"),
        "clean": ("cleanup", "free_memory", "after_step", "reset"), "cache": ("lookup", "table_for", "positions"),
        "generate": ("generate", "decode", "answer"), "build": ("build", "make_model", "create")}  # fmt: skip
    ROOTS = ("/home/ana/tern", "/workspace/quill", "/srv/jobs/osprey", "/mnt/code/juniper", "/root/meadow", "/data/users/kim/lattice")
    TORCH = ("/opt/venv/lib/python3.12/site-packages/torch", "/usr/local/lib/python3.10/dist-packages/torch", "/opt/conda/lib/python3.11/site-packages/torch")
    CALL = (("nn/modules/module.py", 1518, "_call_impl"), ("nn/modules/module.py", 1527, "_wrapped_call_impl"))

    def __init__(self, rng, plan):
        self.rng, self.kind, self.wrapped = rng, plan.stacks, plan.wrapped
        self.shared = make.Stacks(types.SimpleNamespace(stacks=plan.stacks, depth=0)).f
        self.root, self.torch = rng.choice(self.ROOTS), rng.choice(self.TORCH)
        self.file = {part: rng.choice(names) for part, names in self.FILES.items()}
        self.name = {key: rng.choice(names) for key, names in self.FUNCTIONS.items()}
        self.next_line = {part: rng.randrange(8, 60) for part in self.FILES}
        self.lines, self.cache = {}, {}

    def place(self, part, function, what):
        """The frame of a line of the program: `what` tells lines of one function apart."""
        key = (part, function, what)
        if key not in self.lines:
            self.next_line[part] += self.rng.randrange(1, 9)
            self.lines[key] = self.shared(self.name.get(function, function), f"{self.root}/{self.file[part]}", self.next_line[part])
        return self.lines[key]

    def library(self, *frames):
        return [self.shared(name, f"{self.torch}/{file}", line) for file, line, name in frames]

    def outer(self, caller):
        """Frames around a line that is called by `caller`, innermost first."""
        main = [self.place("train", "main", caller), self.place("train", "<module>", "main")]
        if caller in ("build", "evaluate", "generate", "clean"):
            return main
        step = [self.place("train", "step", caller)]
        if self.wrapped:
            package = self.torch.rsplit("/", 1)[0] + "/lightning/pytorch"
            step += [self.shared(name, f"{package}/{file}", line) for file, line, name in
                     (("strategies/strategy.py", 391, "training_step"), ("loops/training_epoch_loop.py", 250, "advance"), ("trainer/trainer.py", 539, "fit"))]  # fmt: skip
        return step + main

    def stack(self, part, function, what, caller, library=()):
        """Frames of an allocation in a line of the program, innermost first."""
        key = (part, function, what, caller, library)
        if key not in self.cache:
            frames = self.library(*library) + [self.place(part, function, what)]
            if part == "block":
                if function != "forward":
                    frames.append(self.place(part, "forward", what))
                frames += self.library(*self.CALL) + [self.place("model", "forward", "blocks")]
            if part in ("block", "model") and function == "forward":
                frames += self.library(*self.CALL)
            self.cache[key] = self.native(what) + frames + self.outer(caller) + self.native_end()
        return list(self.cache[key])

    def native(self, what):
        if self.kind == "python":
            return []
        return [self.shared(name, file, 0) for name, file in (*make.Stacks.CPP_TOP, (f"at::_ops::{what}::call(at::Tensor const&)", "??"))]

    def native_end(self):
        return [] if self.kind == "python" else [self.shared(name, file, 0) for name, file in make.Stacks.CPP_BOT]

    def backward(self, what):
        """Frames on autograd's own thread, which runs no Python."""
        if self.kind == "python":
            return []
        names = (f"torch::autograd::generated::{what}Backward0::apply(...)", "torch::autograd::Engine::evaluate_function(...)",
                 "torch::autograd::Engine::thread_main(...)", "execute_native_thread_routine", "clone")  # fmt: skip
        return self.native(what) + [self.shared(name, "??", 0) for name in names]


def text_of(frame):
    return f"{frame['filename'].rsplit('/', 1)[1]}({frame['line']}): {frame['name']}"


class Allocator(make.Device if make else object):
    """The simulated allocator. An oom event says what the simulated device really had free."""

    def ev(self, action, addr, size, stream, frames, pool=(0, 0)):
        super().ev(action, addr, size, stream, frames, pool)
        if action == "oom":
            self.trace[-1]["device_free"] = self.cap - self.reserved


class Program:
    """Runs a plan. `hooks` by point are called as hook(program, context): "layer", "loss", "step_end"."""

    def __init__(self, plan, code_seed, capacity, hooks=None):
        self.plan, self.rng, self.hooks = plan, random.Random(code_seed), hooks or {}
        self.code = Code(random.Random(code_seed), plan)
        options = types.SimpleNamespace(v=make.VERSIONS[plan.version], rng=random.Random(code_seed), meta="", capacity=capacity,
                                        expandable=plan.expandable, stacks=plan.stacks)  # fmt: skip
        self.options, self.device = options, Allocator(options, 0, None)
        self.marks, self.starts, self.pending = [], [], collections.deque()
        self.gradients, self.state, self.cached, self.output, self.workspace = [], [], {}, None, None
        self.history, self.filled = collections.deque(), []
        self.kept_operators, self.kept, self.stop_at, self.out_of_memory = set(), [], None, False

    def alloc(self, size, frames, stream=DEFAULT_STREAM):
        if self.stop_at is not None and self.device.total_events >= self.stop_at:
            raise Cut
        block = self.device.malloc(max(1, int(size)), stream, frames)
        if block is None:
            raise OutOfMemory
        return block

    def free(self, block, frames):
        if self.plan.delay and self.rng.random() < self.plan.delay:  # the block was used on another stream
            self.device.free_request(block, frames)
            self.pending.append((self.device.total_events + self.rng.randrange(2, 40), block, frames))
        else:
            self.device.free_now(block, frames)
        while self.pending and self.pending[0][0] <= self.device.total_events:
            self.device.free_complete(*self.pending.popleft()[1:])

    def mark(self, stage, name, kinds):
        if self.plan.marks in kinds:
            self.marks.append({"stage": stage, "name": name, "device": 0, "time_us": self.device.now})

    def hook(self, point, **context):
        if point in self.hooks:
            self.hooks[point](self, types.SimpleNamespace(**context))

    def build(self):
        p, h = self.plan, self.plan.hidden
        sizes = [("embedding", 4 * h * (p.vocabulary if p.family != "vision" else 1024))]
        for layer in range(p.layers):
            parts = (9 * h * h // 4, h, h) if p.family == "vision" else (3 * h * h, h * h, p.wide * h * h, p.wide * h * h, h, h)
            sizes += [(f"weight_{i}", part * 4) for i, part in enumerate(parts)]
        self.sizes = [size for _, size in sizes]
        self.parameters = [self.alloc(size, self.code.stack("model", "__init__", name, "build")) for name, size in sizes]

    def head_bytes(self, length):
        """The output's size: logits where they are a small part of what the layers keep, else a small head."""
        p = self.plan
        logits = p.batch * length * p.vocabulary * p.element
        return logits if logits < activations_of(p, length) / 25 else p.batch * min(length, 64) * 1000 * p.element // 100

    def forward(self, length, step, caller="forward", grad=True):
        saved, before = [], []

        def stack(name, library=()):
            return self.code.stack("block", "forward", name, caller, library)

        if self.plan.workspace and self.workspace is None:
            self.workspace = self.alloc(self.plan.workspace, self.code.stack("model", "forward", "first_product", caller))
        for layer in range(self.plan.layers):
            for name, size, needed, library in operators(self.plan, layer, length):
                block = self.alloc(size, stack(name, library))
                if not needed:
                    self.free(block, stack(name, library))
                elif grad:
                    saved.append((block, layer, name))
                else:
                    before.append((block, name))
                    if len(before) > 2:
                        old, of = before.pop(0)
                        self.free(old, stack(of))
            self.hook("layer", layer=layer, length=length, step=step, caller=caller, grad=grad)
        for block, name in before:
            self.free(block, stack(name))
        return saved

    def loss(self, length, step, caller):
        output = self.alloc(self.head_bytes(length), self.code.stack("model", "forward", "head", caller, (("nn/modules/linear.py", 114, "forward"),)))
        value = self.alloc(512, self.code.stack("loss", "loss", "cross_entropy", caller, (("nn/functional.py", 3029, "cross_entropy"),)))
        self.hook("loss", length=length, step=step, caller=caller, grad=caller == "forward")
        return output, value

    def backward(self, saved, output, value):
        p, code = self.plan, self.code
        first = not self.gradients
        gradient = self.alloc(output.req, code.backward("CrossEntropy"))
        weights = list(reversed(self.sizes))
        per = max(1, len(saved) // len(weights))
        for i, (block, layer, name) in enumerate(reversed(saved)):
            mine = self.alloc(block.req, code.backward(name))
            if i % per == 0 and weights:
                weight = self.alloc(weights.pop(0), code.backward(name + "_weight"))
                if first:
                    self.gradients.append(weight)
                else:
                    self.free(weight, code.backward("AccumulateGrad"))
            if p.buckets and i % 16 == 5:
                bucket = self.alloc(min(25 * MiB, sum(self.sizes) // 4), code.backward("allreduce"), COMMUNICATION_STREAM)
                self.free(bucket, code.backward("allreduce"))
            if (layer, name) in self.kept_operators:
                self.kept.append(block)
            else:
                self.free(block, code.backward(name))
            self.free(gradient, code.backward(name))
            gradient = mine
        self.free(gradient, code.backward("embedding"))
        first_place = code.stack("train", "step", "loss_del", "after")
        self.free(value, first_place)
        if p.keep_output:
            self.output = output
        else:
            self.free(output, first_place)

    def optimize(self):
        p, code = self.plan, self.code
        library = (("optim/adamw.py", 171, "_init_group"), ("optim/adamw.py", 214, "step"), ("optim/optimizer.py", 391, "wrapper"))
        self.mark("START", "Optimizer.step#AdamW.step", ("optimizer", "steps"))
        if not self.state:
            self.state = [self.alloc(size, code.stack("train", "step", f"optimizer_{i}", "optimizer", library)) for size in self.sizes for i in range(p.states)]
        for size in self.sizes:
            frames = code.stack("train", "step", "optimizer_root", "optimizer", library[1:])
            self.free(self.alloc(min(size, 8 * MiB), frames), frames)
        self.mark("END", "Optimizer.step#AdamW.step", ("optimizer", "steps"))

    def zero(self):
        for block in self.gradients:
            self.free(block, self.code.stack("train", "step", "zero_grad", "zero"))
        self.gradients = []

    def warm_up(self, step, length):
        """What grows only at first: tables of the first steps, a cache of data, an average of the weights, the last losses."""
        p, code = self.plan, self.code
        if p.table and step < 2:
            self.cached[step] = self.alloc(length * p.hidden * 4, code.stack("model", "cache", "table", "forward"))
        if p.fills and step < p.steps // 3:
            self.filled.append(self.alloc(p.batch * length * 64, code.stack("data", "fetch", "cache", "data")))
        if p.ema and step == 1:
            self.average = [self.alloc(size, code.stack("tools", "deepcopy", "ema", "after")) for size in self.sizes]
        if p.history:
            frames = code.stack("tools", "keep", "history", "after")
            self.history.append(self.alloc(p.batch * 4096, frames))
            if len(self.history) > p.history:
                self.free(self.history.popleft(), frames)

    def generate(self, length):
        """Keys and values that grow while tokens are made, and are freed at the end."""
        p, kv = self.plan, []
        for token in range(1, p.prompts + 1):
            for layer in range(p.layers):
                frames = self.code.stack("model", "generate", "cat", "generate")
                grown = self.alloc(p.batch * (length // 4 + token * 16) * p.hidden * 2, frames)
                if token > 1:
                    self.free(kv[layer], frames)
                    kv[layer] = grown
                else:
                    kv.append(grown)
        for block in kv:
            self.free(block, self.code.stack("model", "generate", "end", "generate"))

    def evaluate(self, length, step):
        self.forward(length, step, "evaluate", grad=False)
        output, value = self.loss(length, step, "evaluate")
        for block in (output, value):
            self.free(block, self.code.stack("train", "evaluate", "end", "evaluate"))
        if self.plan.family == "decoder":
            self.generate(length)

    def step(self, step):
        p, code = self.plan, self.code
        length = p.lengths[step]
        self.starts.append(self.device.total_events)
        self.device.now += self.rng.randrange(500, 20000)
        self.mark("START", f"ProfilerStep#{step}", ("steps",))
        if p.zero_at == "begin":
            self.zero()
        data = code.stack("data", "fetch", "batch", "data")
        batch = self.alloc(p.batch * length * 8, data)
        self.warm_up(step, length)
        if p.family == "server":
            self.evaluate(length, step)
            self.generate(length)
        else:
            for _ in range(p.accumulate):
                saved = self.forward(length, step)
                if self.output is not None:
                    self.free(self.output, code.stack("train", "step", "output", "forward"))
                    self.output = None
                self.backward(saved, *self.loss(length, step, "forward"))
            self.optimize()
            if p.zero_at == "end":
                self.zero()
        self.free(batch, data)
        if p.cleans and step == 0:
            self.device.release_cached(code.stack("tools", "clean", "first", "clean", (("cuda/memory.py", 162, "empty_cache"),)))
        self.hook("step_end", length=length, step=step)
        self.mark("END", f"ProfilerStep#{step}", ("steps",))
        if p.evaluate_every and p.family != "server" and step % p.evaluate_every == p.evaluate_every - 1:
            self.evaluate(length, step)

    def forget(self):
        """Recording begins now: earlier events are not in the file, and blocks made before have no stack."""
        self.device.trace.clear()
        for segment in self.device.segs.values():
            segment.frames, block = None, segment.head
            while block is not None:
                block.frames, block = None, block.next
        self.forgotten = self.device.total_events

    def run(self):
        self.forgotten = 0
        late = {"built": 0, "late": 2}.get(self.plan.recording)
        try:
            self.build()
            for step in range(self.plan.steps):
                if step == late:
                    self.forget()
                self.step(step)
        except OutOfMemory:
            self.out_of_memory = True
        except Cut:
            pass
        return self
