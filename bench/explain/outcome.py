"""The results of one benchmark run, for the document and for later inspection."""
from dataclasses import dataclass, field


@dataclass
class Outcome:
    seeds: int
    recorded_seeds: int
    sources: str
    begin: str
    commit: str
    first_seed: int = 1
    runs: list = field(default_factory=list)
    caught: list = field(default_factory=list)  # answers to traps
    pairs: list = field(default_factory=list)
    skipped: list = field(default_factory=list)  # (source, cause, reason)
    steadiness: list = field(default_factory=list)
    costs: list = field(default_factory=list)
