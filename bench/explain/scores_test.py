"""Tests of the scores, on runs made by hand."""
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parent))

import scores
from answers import Answer, Found, Health
from generated import Run
from tables import causes, options_of, traps, words_of

MS = 1_000_000


def found(rule, low, high, confidence="high", now=True):
    return Found(rule, "", low * MS, high * MS, confidence, "Use num_workers=4.", now)


def answer(*findings, bound="host-bound", health=()):
    return Answer(bound, "", 100 * MS, None, findings, tuple(Health(row, "B", "") for row in health), "")


def run(faulty, healthy, seed=1, saving=20, noise=()):
    return Run("G", "1", "loader", seed, ("I01", "I02"), "NUM_WORKERS", noise, faulty, healthy, saving * MS, 100 * MS, "")


def caught(said, never=(), health=()):
    return SimpleNamespace(seed=1, answer=said, trap=SimpleNamespace(never=never, health=health))


class Tables(unittest.TestCase):
    def test_every_cause_and_trap_is_there(self):
        self.assertEqual([cause.number for cause in causes()], list(range(1, 26)))
        self.assertEqual([trap.number for trap in traps()], [f"T{i}" for i in range(1, 13)])

    def test_braces_are_worked_out(self):
        options = options_of("--slow-input {0.5*T} --fp32 --item-sync {max(20,L)} --alloc-churn=1", {"T": 30, "L": 48})
        self.assertEqual(words_of(options), ["--slow-input", "15", "--fp32", "--item-sync", "48", "--alloc-churn=1"])


class Scores(unittest.TestCase):
    def test_places(self):
        first = run(answer(found("I02", 10, 30)), answer())
        second = run(answer(found("H01", 10, 30), found("I01", 5, 10)), answer())
        nothing = run(answer(), answer())
        self.assertEqual([scores.named_first(one) for one in (first, second, nothing)], [True, False, False])
        self.assertEqual([scores.named_among_three(one) for one in (first, second, nothing)], [True, True, False])
        self.assertEqual([scores.covered(one) for one in (first, second)], [True, False])
        self.assertTrue(scores.says_the_word(first))
        self.assertAlmostEqual(scores.sharpness([first]), 0.2)
        self.assertAlmostEqual(scores.bias([first]), 1.0)

    def test_a_false_alarm_is_notable_limits_now_and_is_no_planted_cost(self):
        twin = answer(found("H01", 2, 5), found("H02", 2, 5), found("H04", 0, 5), found("P01", 9, 9, now=False))
        self.assertEqual([one.rule for one in scores.false_alarms(run(answer(), twin, noise=("H02",)))], ["H01"])
        self.assertTrue(scores.planted_on_twin(run(answer(), answer(found("I01", 2, 3)))))

    def test_traps(self):
        self.assertFalse(scores.avoided(caught(answer(found("H01", 0, 1)), never=("H01",))))
        self.assertTrue(scores.abstained(caught(answer(bound="unknown"), health=("Q04",))))
        self.assertTrue(scores.abstained(caught(answer(found("H01", 2, 3, "low"), health=("Q04",)), health=("Q04",))))
        self.assertFalse(scores.abstained(caught(answer(found("H01", 2, 3), health=("Q04",)), health=("Q04",))))
        self.assertFalse(scores.abstained(caught(answer(), health=("Q04",))))

    def test_pairs(self):
        one, two = SimpleNamespace(rules=("I01",)), SimpleNamespace(rules=("S01",))
        said = answer(found("I01", 10, 20), found("S01", 5, 9))
        pair = SimpleNamespace(causes=(one, two), answer=said, savings=(15 * MS, 7 * MS), joint=12 * MS, step=100 * MS)
        self.assertTrue(scores.both_named(pair) and scores.in_order(pair) and scores.modest(pair))
        self.assertFalse(scores.in_order(SimpleNamespace(causes=(two, one), answer=said, savings=(15 * MS, 7 * MS), joint=22 * MS,
                                                         step=100 * MS)))
        self.assertFalse(scores.modest(SimpleNamespace(answer=said, joint=11 * MS)))  # predicted 15, allowed 13.75

    def test_a_cause_that_hides_behind_the_other_need_not_be_named(self):
        one, two = SimpleNamespace(rules=("I01",)), SimpleNamespace(rules=("S01",))
        said = answer(found("S01", 5, 9))
        hidden = SimpleNamespace(causes=(one, two), answer=said, savings=(0, 7), joint=7, step=100)
        self.assertTrue(scores.both_named(hidden) and scores.in_order(hidden))
        shows_later = SimpleNamespace(causes=(one, two), answer=said, savings=(0, 7), joint=9, step=100)
        self.assertFalse(scores.both_named(shows_later) or scores.in_order(shows_later))

    def test_intervals_come_from_whole_seeds(self):
        good, bad = answer(found("I01", 10, 30)), answer()
        runs = [run(good, answer(), seed) for seed in (1, 2)] + [run(bad, answer(), 3), run(bad, answer(), 4)]
        figure = scores.resampled(runs, lambda r: sum(map(scores.named_first, r)) / len(r))
        self.assertEqual((figure.value, figure.count), (0.5, 4))
        self.assertLess(figure.low, 0.1)
        self.assertGreater(figure.high, 0.9)
        self.assertIsNone(scores.resampled([], scores.sharpness).value)

    def test_intervals_of_shares_are_binomial(self):
        figure = scores.share([1] * 30, bool)
        self.assertEqual((figure.value, figure.count, figure.high), (1.0, 30, 1.0))
        self.assertAlmostEqual(figure.low, 0.8865, places=4)  # 30 / (30 + 1.96²)
        figure = scores.share([1, 1, 1, 0, 0], bool)
        self.assertAlmostEqual(figure.low, 0.2307, places=4)
        self.assertAlmostEqual(figure.high, 0.8824, places=4)

    def test_a_saying_is_right_when_it_names_what_was_planted(self):
        runs = [run(answer(found("I01", 1, 2)), answer(found("H01", 2, 3, "medium"))), run(answer(found("H04", 1, 2)), answer())]
        said = [(one.level, one.right) for one in scores.sayings(runs, [])]
        self.assertEqual(said, [("high", True), ("medium", False), ("high", False)])


if __name__ == "__main__":
    unittest.main()
