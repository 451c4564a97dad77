"""Measures time and memory of jobs with 64 to 1,024 ranks, read rank by rank. Their files are made for the run."""
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from timing import Command, interleave

COUNTS = (64, 256, 1024)
STEPS = 14  # of 8 blocks: about 5 MB a rank
QUESTIONS = {"report": ["report"], "stragglers": ["show", "stragglers"], "clock_alignment": ["show", "clock_alignment"]}


@dataclass
class Job:
    ranks: int
    bytes: int
    figures: dict = field(default_factory=dict)
    names_straggler: bool = False


def flags_of(ranks):
    return ["--ranks", str(ranks), "--ranks-per-host", "8", "--steps", str(STEPS), "--shapes", "--host-cost", "0.5",
            "--straggler", f"{ranks // 3}:20:input", "--clock-skew", "100000", "--clock-drift", "20"]


def measure(stepscope, make_trace, folder, counts, rounds, say):
    """Measures each number of ranks, all of them read one by one, and removes the files."""
    jobs = []
    for ranks in counts:
        place = Path(folder) / f"ranks{ranks}"
        say(f"{ranks} ranks")
        subprocess.run([str(make_trace), *flags_of(ranks), "--out", str(place)], check=True, stdout=subprocess.DEVNULL)
        job = Job(ranks, sum(file.stat().st_size for file in place.iterdir()))
        commands = [Command(name, [str(stepscope), *words, str(place), "--by-rank"], rounds, 0) for name, words in QUESTIONS.items()]
        job.figures = interleave(commands, folder, say)
        told = job.figures["report"].outputs
        job.names_straggler = bool(told) and f"Rank {ranks // 3} holds the others up" in " ".join(told[0].text.split())
        jobs.append(job)
        shutil.rmtree(place)
    return jobs
