"""The callbacks for Lightning's and Hugging Face's trainers: with the trainers' order of hooks and, if the packages are installed,
with the trainers themselves."""

import importlib
import sys
import types

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")

from stepscope.profiler import ProfilerError, profile, schedule  # noqa: E402
from stepscope.profiler._event_list import all_events  # noqa: E402
from stepscope.profiler._rows import Rows  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
SOME = schedule(wait=1, warmup=1, active=2, repeat=1)


def recorded(path):
    return all_events(Rows([path]))


def steps(path):
    return [event.trace_name for event in recorded(path) if event.name == "ProfilerStep*"]


def fresh(monkeypatch, module, **packages):
    """A fresh import of stepscope's module, with these packages in place of the installed ones."""
    for name, package in packages.items():
        monkeypatch.setitem(sys.modules, name.replace("__", "."), package)
    monkeypatch.delitem(sys.modules, module, raising=False)
    made = importlib.import_module(module)
    del sys.modules[module]
    return made


def work():
    return torch.ones(3) + 1


class Trainer:
    """Calls the hooks of a fit in Lightning's order."""

    global_rank = 3

    def __init__(self, callback, batches=6):
        self.callback, self.batches = callback, batches

    def fit(self, batch=work):
        call = self.callback
        call.setup(self, None, "fit")
        call.on_fit_start(self, None)
        try:
            call.on_train_start(self, None)
            for number in range(self.batches):
                call.on_train_batch_start(self, None, None, number)
                call.on_train_batch_end(self, None, batch(), None, number)
            call.on_train_end(self, None)
        except BaseException as error:
            call.on_exception(self, None, error)
            raise
        call.teardown(self, None, "fit")


class LightningsCallback:
    """Has all hooks, like Lightning's class."""

    def setup(self, trainer, pl_module, stage): ...
    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx): ...


@pytest.fixture
def lightning(monkeypatch):
    package = types.SimpleNamespace(Callback=LightningsCallback)
    return fresh(monkeypatch, "stepscope.profiler.lightning", lightning__pytorch=None, pytorch_lightning=package)


def test_steps_follow_batches(lightning, tmp_path):
    callback = lightning.StepscopeCallback(tmp_path / "runs", schedule=SOME, record_shapes=True)
    assert isinstance(callback, LightningsCallback)
    Trainer(callback).fit()
    path = tmp_path / "runs" / "rank3.stepscope"
    assert steps(path) == ["ProfilerStep#2", "ProfilerStep#3"]
    adds = [event for event in recorded(path) if event.name == "aten::add"]
    assert len(adds) == 2 and all(event.cpu_parent.name == "ProfilerStep*" for event in adds)
    assert adds[0].input_shapes[0] == [3]
    assert callback.profiler.key_averages()[0].count == 2


def test_steps_that_are_recorded_unless_others_are_named(lightning, tmp_path):
    Trainer(lightning.StepscopeCallback(tmp_path), batches=9).fit()
    assert steps(tmp_path / "rank3.stepscope") == ["ProfilerStep#2", "ProfilerStep#3", "ProfilerStep#4"]


def test_an_exception_ends_the_recording(lightning, tmp_path):
    def fails():
        work()
        raise RuntimeError("broken")

    callback = lightning.StepscopeCallback(tmp_path, schedule=lambda step: profile_action("RECORD"))
    with pytest.raises(RuntimeError, match="broken"):
        Trainer(callback).fit(fails)
    assert callback.profiler.recording_path == tmp_path / "rank3.stepscope"  # it can be read, so the recording was stopped
    assert [event.name for event in callback.profiler.events()][0] == "ProfilerStep*"
    with profile():  # another profiler can begin
        work()


def profile_action(name):
    from stepscope.profiler import ProfilerAction

    return ProfilerAction[name]


def test_a_fit_that_never_begins_leaves_nothing_on(lightning, tmp_path):
    from stepscope.profiler import _dataloader

    callback = lightning.StepscopeCallback(tmp_path)
    callback.on_fit_start(Trainer(callback), None)
    assert callback.profiler in _dataloader.users
    callback.teardown(Trainer(callback), None, "fit")
    assert callback.profiler not in _dataloader.users


def test_a_second_fit_replaces_the_recording(lightning, tmp_path):
    callback = lightning.StepscopeCallback(tmp_path, schedule=SOME)
    Trainer(callback).fit()
    first = callback.profiler
    Trainer(callback).fit()
    assert callback.profiler is not first and steps(tmp_path / "rank3.stepscope") == ["ProfilerStep#2", "ProfilerStep#3"]


def test_a_path_is_refused(lightning):
    with pytest.raises(ProfilerError, match="name a folder instead, in which each rank gets its own file"):
        lightning.StepscopeCallback(path="run.stepscope")


def test_both_of_lightnings_packages_at_once(monkeypatch):
    class Another:
        pass

    both = {"lightning__pytorch": types.SimpleNamespace(Callback=Another), "pytorch_lightning": types.SimpleNamespace(Callback=LightningsCallback)}
    made = fresh(monkeypatch, "stepscope.profiler.lightning", **both)
    assert issubclass(made.StepscopeCallback, Another) and issubclass(made.StepscopeCallback, LightningsCallback)


@pytest.mark.parametrize("name, packages", [("lightning", ["lightning__pytorch", "pytorch_lightning"]), ("transformers", ["transformers"])])
def test_without_the_package(monkeypatch, name, packages):
    with pytest.raises(ImportError, match=f"needs .*; install {name}$"):
        fresh(monkeypatch, f"stepscope.profiler.{name}", **dict.fromkeys(packages))


class HuggingFace:
    """Calls the hooks of a training in the order of transformers' Trainer."""

    def __init__(self, callback, rank=1):
        self.callback, self.args = callback, types.SimpleNamespace(process_index=rank)

    def train(self, steps=6, step=work):
        told = {"model": None, "train_dataloader": None}
        self.callback.on_train_begin(self.args, None, None, **told)
        for _ in range(steps):
            step()
            self.callback.on_step_end(self.args, None, None, **told)
        self.callback.on_train_end(self.args, None, None, **told)


@pytest.fixture
def transformers(monkeypatch):
    package = types.SimpleNamespace(TrainerCallback=type("TrainerCallback", (), {}))
    return fresh(monkeypatch, "stepscope.profiler.transformers", transformers=package)


def test_steps_follow_the_optimizers(transformers, tmp_path):
    callback = transformers.StepscopeCallback(tmp_path, schedule=SOME)
    HuggingFace(callback).train()
    assert steps(tmp_path / "rank1.stepscope") == ["ProfilerStep#2", "ProfilerStep#3"]


def test_the_block_ends_the_recording(transformers, tmp_path):
    def fails():
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"), transformers.StepscopeCallback(tmp_path, schedule=None) as callback:
        HuggingFace(callback).train(step=fails)
    assert callback.profiler.events() == [] and callback.profiler.recording_path == tmp_path / "rank1.stepscope"
    callback.on_step_end(None, None, None)  # after the end nothing happens


@pytest.mark.parametrize("package", ["lightning.pytorch", "pytorch_lightning"])
def test_lightning_itself(package, tmp_path):
    pl = pytest.importorskip(package, reason=f"needs {package.split('.')[0]} from PyPI")
    sys.modules.pop("stepscope.profiler.lightning", None)
    from stepscope.profiler.lightning import StepscopeCallback

    class Model(pl.LightningModule):
        def __init__(self, fails=False):
            super().__init__()
            self.layer, self.fails = torch.nn.Linear(4, 2), fails

        def training_step(self, batch, number):
            if self.fails and number == 3:
                raise ValueError("broken")
            return self.layer(batch[0]).sum()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    def trainer(callback):
        return pl.Trainer(
            max_epochs=1, accelerator="cpu", devices=1, callbacks=[callback], logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False, default_root_dir=tmp_path,
        )  # fmt: skip

    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(12, 4)), batch_size=2, num_workers=1)
    callback = StepscopeCallback(tmp_path / "runs", schedule=SOME)
    trainer(callback).fit(Model(), data)
    names = [event.name for event in recorded(tmp_path / "runs" / "rank0.stepscope")]
    assert names.count("ProfilerStep*") == 2 and names.count("Optimizer.step#SGD.step") == 2 and names.count("aten::linear") == 2
    assert len(list((tmp_path / "runs").glob("rank0.worker0_*.stepscope"))) == 1
    failed = StepscopeCallback(tmp_path / "failed", schedule=lambda step: profile_action("RECORD"))
    with pytest.raises(ValueError, match="broken"):
        trainer(failed).fit(Model(fails=True), data)
    assert [event.name for event in failed.profiler.events()].count("ProfilerStep*") == 4


def test_transformers_itself(tmp_path):
    package = pytest.importorskip("transformers", reason="needs transformers from PyPI")
    pytest.importorskip("accelerate", reason="needs accelerate from PyPI")
    from stepscope.profiler.transformers import StepscopeCallback

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 2)

        def forward(self, x, labels=None):
            return {"loss": self.layer(x).sum()}

    class Data(torch.utils.data.Dataset):
        def __init__(self, most):
            self.most = most

        def __len__(self):
            return 12

        def __getitem__(self, number):
            if number >= self.most:
                raise ValueError("broken")
            return {"x": torch.ones(4), "labels": torch.zeros(1)}

    def trainer(callback, data):
        arguments = package.TrainingArguments(
            output_dir=str(tmp_path / "out"), max_steps=6, per_device_train_batch_size=2, report_to=[], save_strategy="no",
            use_cpu=True, disable_tqdm=True, gradient_accumulation_steps=1,
        )  # fmt: skip
        return package.Trainer(model=Model(), args=arguments, train_dataset=data, callbacks=[callback])

    callback = StepscopeCallback(tmp_path / "runs", schedule=SOME)
    trainer(callback, Data(12)).train()
    names = [event.name for event in recorded(tmp_path / "runs" / "rank0.stepscope")]
    assert names.count("ProfilerStep*") == 2 and names.count("Optimizer.step#AdamW.step") == 2
    with pytest.raises(ValueError, match="broken"), StepscopeCallback(tmp_path / "failed", schedule=None) as failed:
        trainer(failed, Data(0)).train()
    assert failed.profiler.recording_path == tmp_path / "failed" / "rank0.stepscope"
