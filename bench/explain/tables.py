"""Reads the tables beside this file: causes that are planted, findings that must not appear."""
import math
import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMBINED = (1, 9, 10, 14, 18, 20)


@dataclass(frozen=True)
class Cause:
    number: int
    name: str
    rules: tuple  # the expected one first, then others that are right too
    job: str
    faulty: str
    without: str
    measure: str  # "median" or "mean"
    word: str
    sources: tuple


@dataclass(frozen=True)
class Trap:
    number: str
    name: str
    never: tuple
    health: tuple
    job: str
    options: str
    cut: float  # share of the file that is kept; 1: all


def rows(name):
    for line in (HERE / name).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            yield [cell.strip() for cell in line.split("|")]


def causes():
    return [Cause(int(number), name, (rule, *also.split()), job, faulty, without, measure, word, ("G", *recorded.split()))
            for number, name, rule, also, job, faulty, without, measure, word, recorded in rows("causes.txt")]


def traps():
    return [Trap(number, name, tuple(never.split()), tuple(health.split()), job, options, float(cut or 1))
            for number, name, never, health, job, options, cut in rows("traps.txt")]


def options_of(text, values):
    """The options in the words of a cell, its {expressions} evaluated: {"--slow-input": "12.5", "--fp32": None}."""
    known = {"max": max, "min": min, "round": lambda x: max(1, round(x)), **values}
    spelled = re.sub(r"\{(.*?)\}", lambda found: number(eval(found[1], {"__builtins__": {}}, known)), text)
    found, name = {}, None
    for word in spelled.split():
        if word.startswith("--"):
            name, _, value = word.partition("=")
            found[name] = "=" + value if value else None
        else:
            found[name] = word
    return found


def number(value):
    return str(value) if isinstance(value, int) else f"{value:.4g}" if math.isfinite(value) else "0"


def words_of(options):
    out = []
    for name, value in options.items():
        if value is None:
            out.append(name)
        elif value.startswith("="):
            out.append(name + value)
        else:
            out += [name, value]
    return out
