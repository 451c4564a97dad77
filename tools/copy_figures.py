"""Copies the figures of the benchmarks from bench/*.md into the Markdown files that show them.
Usage: copy_figures.py [--check]. --check changes nothing and fails when a copy differs from its source.

A file shows figures between the lines `<!-- figures: NAME -->` and `<!-- /figures -->`. BLOCKS below defines their content.
README.md shows no measured figure anywhere else: --check looks for one."""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = ("README.md",)
BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- /figures -->)", re.S)
FIGURE = re.compile(r"\d[\d,.]*\s?(?:%|×|[µmn]?s\b|[KMG]i?B\b|times\b)")


class NotFound(Exception):
    """A source lacks something that a block needs."""


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as opened:
        return opened.read()


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


class Source:
    """A document of bench/: its tables by heading."""

    def __init__(self, name):
        self.name = name
        self.text = read(name)

    def section(self, heading):
        found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", self.text, re.M | re.S)
        if not found:
            raise NotFound(f"{self.name} has no heading '{heading}'")
        return found.group(1)

    def cell(self, heading, row, column):
        """The cell of the row that begins with `row`, in the column whose head begins with `column`."""
        lines = [cells(line) for line in self.section(heading).splitlines() if line.startswith("|")]
        for head in lines[:1]:
            at = [i for i, name in enumerate(head) if name.startswith(column)]
            rows = [line for line in lines[2:] if line[0] == row]
            if at and rows:
                return rows[0][at[0]]
        raise NotFound(f"{self.name}, '{heading}': no row '{row}' with a column '{column}'")

    def found(self, pattern):
        found = re.search(pattern, self.text)
        if not found:
            raise NotFound(f"{self.name} does not say '{pattern}'")
        return found.group(1)


def median(cell):
    """'0.703 (0.537–0.909)' is '0.703'."""
    return cell.split(" ")[0]


def two_digits(cell):
    """'0.703' is '0.70', '42.0' is '42', '8.83' is '8.8'."""
    value = float(median(cell).replace(",", ""))
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def report_row(results, what, heading):
    command = "`stepscope report`"
    peers = ("Python json.load", "TensorBoard plugin, parse and profile", "HTA, TraceAnalysis()")
    ours = results.cell(heading, command, "wall s")
    least, most = re.search(r"\((.*)–(.*)\)", ours).groups()
    times = [two_digits(results.cell(heading, peer, "times ours")) for peer in peers]
    size = re.search(r"([\d.]+) MB of text", results.section(heading)).group(1)
    return (f"| full report on {two_digits(size)} MB of JSON, {what} | {two_digits(ours)} s ({two_digits(least)} to {two_digits(most)} s), "
            f"{results.cell(heading, command, 'peak MiB')} MiB | Python's `json.load` alone takes {times[0]} × as long, "
            f"TensorBoard plugin {times[1]} ×, Holistic Trace Analysis {times[2]} × |")


def snapshot_row(snapshots):
    heading, ours, peer = "1,000,000 events", "`stepscope show memory_peak`", "Python pickle.load"
    size = re.search(r"([\d.]+) MB, made by", snapshots.section(heading)).group(1)
    return (f"| who held the memory at its peak, of a snapshot with {heading}, {two_digits(size)} MB | "
            f"{two_digits(snapshots.cell(heading, ours, 'wall s'))} s, {snapshots.cell(heading, ours, 'peak MiB')} MiB | Python's `pickle.load` alone takes "
            f"{two_digits(snapshots.cell(heading, peer, 'times ours').split(' ')[0])} × as long, {snapshots.cell(heading, peer, 'peak MiB')} MiB |")


def measured():
    results, collect, explain = Source("bench/RESULTS.md"), Source("bench/COLLECT.md"), Source("bench/EXPLAIN.md")
    simulated = "Source G, generated: simulated jobs, truth from the simulation"
    real = "Source R, recorded: real programs under PyTorch on this machine's CPU"
    ranks = "1,024 ranks: `stepscope report DIR`"
    first, inside = "planted cause is the first finding", "measured saving lies in the range"
    met = [cells(line)[-1] for line in results.section("Asked and measured").splitlines() if line.startswith("|")][2:]
    lines = [
        "| measured | stepscope | others |",
        "|---|---|---|",
        report_row(results, "without Python stacks", "No Python stacks, plain"),
        report_row(results, "with Python stacks", "Python stacks, plain"),
        snapshot_row(Source("bench/SNAPSHOTS.md")),
        f"| report on 1,024 ranks, {results.cell('Many ranks', ranks, 'MB of text')} MB of JSON | "
        f"{median(results.cell('Many ranks', ranks, 'wall s'))} s, {results.cell('Many ranks', ranks, 'peak MiB')} MiB | |",
        f"| recording one op adds | {median(collect.cell('Added to each op', 'ops only', 'stepscope'))} ns | "
        f"`torch.profiler` adds {median(collect.cell('Added to each op', 'ops only', 'torch.profiler'))} ns |",
        f"| the first finding is the cause that the benchmark planted | {explain.cell(simulated, first, 'result')} of simulated runs, "
        f"{explain.cell(real, first, 'result')} of real programs on a CPU | |",
        f"| the measured saving lies in the predicted range | {explain.cell(simulated, inside, 'result')} of simulated runs, "
        f"{explain.cell(real, inside, 'result')} of real programs on a CPU | |",
        "",
        f"Reports ran on {results.found(r'- Machine: (.*?) [(]')} on {results.found(r'Written by .*? on ([0-9-]+)')}, with files in the "
        f"page cache. [bench/RESULTS.md](bench/RESULTS.md) lists {len(met)} requirements for them; {sum('not met' in one for one in met)} are not met.",
        "[bench/COLLECT.md](bench/COLLECT.md) has the cost of recording. [bench/EXPLAIN.md](bench/EXPLAIN.md) rates the advice, "
        "with every run that falls short.",
    ]
    return "\n".join(lines) + "\n"


BLOCKS = {"measured": measured}


def filled(text):
    return BLOCK.sub(lambda found: found.group(1) + BLOCKS[found.group(2)]() + found.group(3), text)


def stray_figures(text):
    """Figures outside blocks and code."""
    blank = lambda found: re.sub(r"[^\n]", " ", found.group(0))
    for pattern in (BLOCK, re.compile(r"^```.*?^```", re.M | re.S), re.compile(r"`[^`\n]*`")):
        text = pattern.sub(blank, text)
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("    "):
            yield from ((number, found.group(0)) for found in FIGURE.finditer(line))


def main(check):
    failed = 0
    for name in FILES:
        text = read(name)
        try:
            new = filled(text)
        except NotFound as missing:
            print(f"{name}: a figure has no source: {missing}")
            return 1
        if not BLOCK.search(text):
            failed += 1
            print(f"{name} has no block of figures (<!-- figures: NAME -->)")
        for number, figure in stray_figures(text):
            failed += 1
            print(f"{name}:{number}: '{figure}' is a figure outside a block of figures: nothing keeps it true")
        if new == text:
            continue
        if check:
            failed += 1
            pairs = zip(text.splitlines(), new.splitlines())
            old, now = next(((a, b) for a, b in pairs if a != b), ("", ""))
            print(f"{name}: figures differ from bench/: run tools/copy_figures.py\n  has    {old}\n  bench/ {now}")
        else:
            with open(os.path.join(ROOT, name), "w", encoding="utf-8") as out:
                out.write(new)
            print(f"{name}: figures copied from bench/")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
