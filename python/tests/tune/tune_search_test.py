"""The guided search on made-up measurements, and how settings are written."""

from __future__ import annotations

import dataclasses
import json
import random

import pytest

from stepscope.trial._statistics import FEWEST
from stepscope.tune._duel import Duel, Facts
from stepscope.tune._result import Row, result_of
from stepscope.tune._search import Search
from stepscope.tune._settings import Settings, line_of, named


class Made:
    """A loader whose step takes what ``step`` says, milliseconds, with noise."""

    def __init__(self, step, current=None, noise=0.01, **facts):
        self.step, self.noise = step, noise
        self.current = current or Settings()
        self.facts = Facts(what="made", steps="made steps", cores=facts.pop("cores", 8), epoch=100, step=1e9, **facts)
        self.numbers = random.Random(1)
        self.asked = []

    def is_over(self):
        return False

    def duel(self, before, after, final=False):
        made = Duel(before, after)
        self.asked.append(after)
        while not made.is_decided or (final and len(made.shares) < FEWEST):
            for settings, side in ((before, made.first), (after, made.second)):
                side.steps.append(1e6 * self.step(settings) * self.numbers.gauss(1, self.noise))
                side.loading.append(side.steps[-1] / 2)
                side.memory = 2**30 + settings.num_workers * 2**26
            if len(made.shares) > 40:
                break
        return made


def found_for(meter, workers=None, also=()):
    return Search(meter, workers, also, lambda line: None).run()


def scaling(settings):
    """Work of 80 ms that up to four workers share, and 10 ms of training."""
    return 90 if settings.num_workers == 0 else max(80 / min(settings.num_workers, 4), 10) * (0.9 if settings.prefetch_factor == 4 else 1)


def test_workers_rise_until_they_help_no_more_and_other_factors_follow():
    meter = Made(scaling)
    found = found_for(meter)
    assert (found.best.num_workers, found.best.prefetch_factor) == (4, 4)
    tried = [one.num_workers for one in meter.asked]
    assert tried[:4] == [1, 2, 4, 8]
    low, high = found.confirmed.promise
    assert low < 1 - scaling(found.best) / 90 < high
    result = result_of(found)
    assert result.line == "DataLoader(..., num_workers=4, prefetch_factor=4)"
    assert result.headline.startswith("saves ") and "num_workers=16" in dict(result.not_tried)
    steps = {row.settings: row.step_ns for row in result.rows}
    assert steps[found.best] == pytest.approx(18e6, rel=0.1)


def test_the_picture_shows_the_recommended_setting_where_another_was_shorter_by_chance():
    now, threads = Settings(num_workers=1), Settings(num_workers=1, threads=2)
    steps = {now: 10e6, threads: 9e6, Settings(): 12e6, Settings(prefetch_factor=4): 11e6}
    rows = [Row("", settings, step / 2, step, 0, "") for settings, step in steps.items()]
    for order in (rows, rows[::-1]):
        result = dataclasses.replace(result_of(found_for(Made(scaling))), rows=order, recommended=now)
        assert [(workers, step) for workers, step, _ in result.by_workers()] == [(0, 11e6), (1, 10e6)]


def test_workers_that_cost_are_not_recommended():
    result = result_of(found_for(Made(lambda settings: 1 + settings.num_workers)))
    assert result.line == "" and result.workers_help is False and "workers do not help" in result.text


def test_a_program_with_too_many_workers_gets_fewer():
    meter = Made(lambda settings: 10 + settings.num_workers, current=Settings(num_workers=4))
    result = result_of(found_for(meter))
    assert result.recommended.num_workers == 0 and result.line == "DataLoader(..., num_workers=0)"


def test_noise_recommends_nothing():
    meter = Made(lambda settings: 10, noise=0.3)
    result = result_of(found_for(meter))
    assert result.line == "" or result.gain[0] < 0.3


def test_second_measurements_lie_in_the_range():
    held = 0
    for seed in range(200):
        numbers = random.Random(seed)
        duel = Duel(Settings(), Settings(num_workers=1))
        for _ in range(8):
            duel.first.steps.append(100 * numbers.gauss(1, 0.05))
            duel.second.steps.append(60 * numbers.gauss(1, 0.05))
        again = sorted(1 - 60 * numbers.gauss(1, 0.05) / (100 * numbers.gauss(1, 0.05)) for _ in range(7))
        low, high = duel.promise
        held += low <= again[3] <= high
    assert held >= 194


def test_large_differences_need_three_rounds():
    duel = Duel(Settings(), Settings(num_workers=1))
    duel.first.steps, duel.second.steps = [100.0, 101.0, 102.0], [50.0, 51.0, 52.0]
    assert duel.won and duel.is_decided
    duel.first.steps, duel.second.steps = [100.0, 101.0], [50.0, 51.0]
    assert not duel.is_decided
    duel.first.steps, duel.second.steps = [100.0, 101.0, 102.0], [150.0, 149.0, 151.0]
    assert duel.lost and not duel.won


def test_devices_iterables_and_reasons():
    found = found_for(Made(scaling, has_device=True, has_device_data=True))
    assert "tensors of a device" in dict(found.not_tried)["num_workers"]
    pinned = Made(lambda settings: 100 - 40 * settings.pin_memory - 10 * settings.non_blocking, has_device=True)
    found = found_for(pinned, workers=[0])
    assert found.best.pin_memory and found.best.non_blocking
    assert line_of(found.best, found.current) == "DataLoader(..., pin_memory=True), and batch.to(device, non_blocking=True)"
    without = found_for(Made(scaling), workers=[0])
    assert dict(without.not_tried)["pin_memory, non_blocking"] == "without a device they have no effect"


def test_names_and_lines():
    now = Settings(num_workers=2)
    assert named(now, now) == "num_workers=2"
    other = now.changed(num_workers=4, prefetch_factor=4, threads=2)
    assert named(other, now) == "num_workers=4, prefetch_factor=4, threads=2"
    assert line_of(other, now, "train.py:7") == (
        "DataLoader(..., num_workers=4, prefetch_factor=4, worker_init_fn=lambda worker: torch.set_num_threads(2))   # train.py:7"
    )
    assert line_of(now, now, "train.py:7") == ""
    assert now.changed(num_workers=0).arguments() == {
        "num_workers": 0,
        "prefetch_factor": None,
        "persistent_workers": None,
        "multiprocessing_context": None,
        "pin_memory": False,
        "drop_last": False,
    }


def test_json_has_every_number():
    document = json.loads(result_of(found_for(Made(scaling))).to_json())
    assert document["recommended"]["num_workers"] == 4 and len(document["rows"]) >= 4
    assert document["gain"][0] < document["gain"][1] and document["write"].startswith("DataLoader(")
