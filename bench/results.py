"""Turns the results of one benchmark run into a Markdown document: every figure under the command that made it."""
import json
import math
import statistics

from demands import demands, title
from fit import exponent, growth_points, line_through
from hta_calls import CALL_LIMIT_S
from hta_calls import rows as hta_rows
from many_ranks import QUESTIONS
from many_ranks import flags_of as rank_flags
from peer_setup import PEERS, SIMDJSON_PACKAGE, without_places

MB = 1_000_000
MIB = 1 << 20
QUIET = 0.05


def table(heads, rows):
    """A Markdown table; the first column is text, the others are numbers."""
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|---:" * (len(heads) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def seconds(value):
    if value < 0.001:
        return f"{value * 1e6:.0f} µs"
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def timed(figures):
    """The median, with min and max if there is more than one round."""
    least, most = min(figures.wall_s), max(figures.wall_s)
    return seconds(figures.wall) + (f" ({seconds(least)}–{seconds(most)})" if len(figures.wall_s) > 1 else "")


def mib(value):
    return f"{value / MIB:,.0f}"


def percent(value):
    return f"{value * 100:.0f} %" if value >= 0.095 else f"{value * 100:.1f} %"


def text_bytes(one):
    return one.text_bytes or one.bytes


def others(run):
    """Share of the machine that other work took while our commands were timed, weighted by time; None if unknown."""
    every = [figures for result in run.files + run.growth for figures in result.figures.values()]
    pairs = [pair for figures in every for pair in zip(figures.wall_s, figures.others)]
    whole = sum(wall for wall, _ in pairs)
    return sum(wall * share for wall, share in pairs) / whole if whole else None


def head(run):
    machine = run.machine
    wide = f", {' and '.join(machine['wide'])}" if machine["wide"] else ""
    share = others(run)
    command = " ".join(["bench/run.sh", *run.flags]) if run.flags else "make bench"
    lines = [
        "# Benchmark results", "",
        f"Written by `{command}` on {run.begin}, commit {machine['commit']}; nothing in it is typed by hand.", "",
        f"- Machine: {machine['cores']} cores ({machine['cpu']}{wide}), {machine['memory'] / 2**30:.0f} GiB of memory, "
        f"{machine['compiler']}, Python {machine['python']}.",
        f"- Load average (1, 5, 15 minutes) at the start {loads(run.load_begin)}, at the end {loads(run.load_end)}.",
        f"- Each command is timed as a whole process, from outside: wall clock, processor time (user and system, all "
        f"threads) and peak resident memory as the kernel counts them. Median (least–most) of {run.options.rounds} "
        f"round{'s' if run.options.rounds > 1 else ''} after one that is not counted; commands take turns. HTA and the plugin run once.",
        f"- Files are in the page cache. Output goes to a file. Peak memory below {mib(run.floor)} MiB cannot be told "
        f"apart: a process starts as a copy of the one that times it.",
        "- MB is 10^6 bytes of text, unpacked; MiB is 2^20 bytes.",
    ]
    if share is not None and share > QUIET:
        lines += ["", f"**The machine was not quiet: other work took {percent(share)} of its cores while commands were "
                  "timed. Seconds are too high, and ratios between commands of different length are uncertain; processor "
                  "time is steadier.**"]
    elif share is not None:
        lines.append(f"- Other work took {percent(share)} of the cores while commands were timed.")
    if run.options.quick:
        lines += ["", "**A trial of the script on small inputs (`--quick`): these figures say nothing.**"]
    if any(not result.source.is_recorded for result in run.files):
        lines += ["", "**The recorded traces in ../shared are absent: simulated ones of bench/make_trace stand in.**"]
    return "\n".join(lines)


def loads(values):
    return " ".join(f"{value:.2f}" for value in values)


def asked(run):
    rows = [(one.text, one.limit, one.goal or "–", one.measured, one.verdict) for one in demands(run)]
    return ("## Asked and measured\n\n" + table(("demand", "limit", "goal", "measured", "result"), rows) +
            "\n\nSeconds are medians of the wall clock, memory is the most of all rounds. The limits are held against the "
            "files as they are, of whole copies and so not of exactly 324 MB, and against runs one after the other; ratios are of "
            "runs that take turns with the peers, which leave the machine's memory in pieces: the tables below have both.")


def row_of(name, figures, mine, text):
    if not figures.ok:
        return (name, f"failed: {without_places(figures.failed)}", *["–"] * 6)
    ratio = figures.wall / mine.wall if mine.ok else math.nan
    cpu = figures.cpu / mine.cpu if mine.ok else math.nan
    shares = statistics.median(figures.others) if figures.others else math.nan
    return (name, timed(figures), inside(figures), seconds(figures.cpu),
            f"{text / MB / figures.wall:,.0f}", mib(figures.peak), f"{ratio:.1f} / {cpu:.1f}", percent(shares))


def inside(figures):
    """The parse alone, by the peer's own clock, without starting Python and importing."""
    try:
        return seconds(statistics.median(json.loads(one.text.splitlines()[-1])["inside_s"] for one in figures.outputs))
    except (ValueError, KeyError, TypeError, IndexError):
        return "–"


def one_file(result):
    names = {"in_a_row": "`stepscope report`, one after the other", "report": "`stepscope report`", "report_1": "`stepscope report -j 1`"}
    names.update({peer.key: peer.title for peer in PEERS})
    mine = result.figures["report"]
    rows = [row_of(names[key], figures, mine, text_bytes(result.input))
            for key, figures in result.figures.items() if key in names]
    counted = (f"stepscope read all {result.input.events:,} events." if result.complete else
               f"**stepscope read {result.read_events:,} of {result.input.events:,} events.**")
    stored = f", {result.input.bytes / MB:.1f} MB stored" if result.input.text_bytes else ""
    return (f"### {title(result)[0].upper() + title(result)[1:]}\n\n{text_bytes(result.input) / MB:.1f} MB of text{stored}. {counted} "
            f"Made by\n`{result.input.made_by}`.\n\n" +
            table(("command", "wall s", "parse alone s", "processor s", "MB/s", "peak MiB",
                   "times ours (wall / processor)", "others' share"), rows))


def limit_lines(figures):
    """Medians of what bench_limits and bench_simdjson printed: {name: seconds}, and the version line."""
    values, version = {}, ""
    for one in figures.outputs:
        for line in one.text.splitlines():
            words = line.split()
            if words[0] == "version":
                version = " ".join(words[1:])
            else:
                values.setdefault(words[0], []).append(float(words[1]))
    return {name: statistics.median(took) for name, took in values.items()}, version


def limits_of(result):
    found = []
    if "limits" in result.figures and result.figures["limits"].ok:
        values, _ = limit_lines(result.figures["limits"])
        packed = bool(result.input.text_bytes)
        if not packed:
            found.append(("memory read, vectorised sum", values["memory_read"]))
            found.append(("read() into a buffer of 1 MiB", values["read"]))
        elif "inflate" in values:
            found.append(("ISA-L inflate alone", values["inflate"]))
    for key in ("simdjson", "simdjson_new"):
        if key in result.figures and result.figures[key].ok:
            values, version = limit_lines(result.figures[key])
            found.append((f"simdjson {version}, On-Demand, text in memory", values["iterate"]))
            found.append((f"simdjson {version}, file into memory and On-Demand", values["load"] + values["iterate"]))
    return found


def limits(run):
    rows = []
    for result in run.files:
        mine = result.figures["report"]
        for name, took in limits_of(result):
            share = percent(took / mine.wall) if mine.ok else "–"
            share_cpu = percent(took / mine.cpu) if mine.ok else "–"
            rows.append((f"{title(result)}: {name}", f"{took:.3f}", f"{text_bytes(result.input) / MB / took:,.0f}",
                         share, share_cpu))
    return ("## What the machine allows\n\nOne thread, the same files, in the same rounds: `build/release/bench/bench_limits FILE` "
            f"and `build/release/bench/bench_simdjson FILE`, the newer simdjson out of {SIMDJSON_PACKAGE}. simdjson walks "
            "traceEvents and touches ph, ts, dur and name of each event; it keeps nothing. The share says how much of the time "
            "of a whole `report` the limit would take.\n\n" +
            table(("limit", "s", "MB/s", "share of report's wall", "of its processor time"), rows))


def threads(run):
    rows = []
    for result, figures in run.threads:
        digests = {one.digest for each in figures.values() for one in each.outputs}
        good = all(each.ok for each in figures.values())
        same = "failed" if not good else "yes" if len(digests) == 1 else f"**no: {len(digests)} answers**"
        rows.append((title(result), same, sorted(digests)[0][:12] if digests else "–",
                     *[seconds(each.wall) if each.ok else "–" for each in figures.values()]))
    names = list(run.threads[0][1]) if run.threads else []
    return ("## The same answer from any number of threads\n\n`stepscope report FILE --format json -j N`, three times each: are "
            "all outputs the same bytes? Wall seconds by N.\n\n" +
            table(("file", "same", "SHA-256", *[f"N = {name}" for name in names]), rows))


def growth(run):
    if not run.growth:
        return ""
    rows = []
    for result in run.growth:
        figures = result.figures["report"]
        if not figures.ok:
            rows.append((f"{result.input.bytes / MB:,.0f} MB", f"{result.input.events:,}", without_places(figures.failed), *["–"] * 5))
            continue
        rows.append((f"{result.input.bytes / MB:,.0f} MB", f"{result.input.events:,}",
                     timed(figures), seconds(figures.cpu),
                     f"{result.input.bytes / MB / figures.wall:,.0f}", mib(figures.peak),
                     f"{figures.peak / result.input.events:.0f}", "yes" if result.complete else "**no**"))
    text = ("## Growth\n\n`stepscope report FILE`, plain; the files are copies in time of the first trace "
            f"(`{run.growth[-1].input.made_by}` makes the largest). A copy brings no new names: a trace with more "
            "distinct names or stacks costs more.\n\n" +
            table(("size", "events", "wall s", "processor s", "MB/s", "peak MiB", "bytes per event", "all events read"), rows))
    for name, measure in (("wall clock", lambda f: f.wall), ("processor time", lambda f: f.cpu)):
        points = growth_points(run, measure)
        if len(points) > 2:
            start, slope, far = line_through(points)
            text += (f"\n\nLine through the {name}: {start:.3f} s + {slope * 1e9:.2f} s per GB, no point farther than "
                     f"{percent(far)} from it; time grows with size to the power {exponent(points):.2f}.")
    return text


def ranks(run):
    if not run.jobs:
        return ""
    rows = []
    for job in run.jobs:
        for name, words in QUESTIONS.items():
            figures = job.figures[name]
            rows.append((f"{job.ranks:,} ranks: `stepscope {' '.join(words)} DIR`", f"{job.bytes / MB:,.0f}",
                         *((timed(figures), seconds(figures.cpu), f"{job.bytes / MB / figures.wall:,.0f}", mib(figures.peak))
                           if figures.ok else (without_places(figures.failed), "–", "–", "–"))))
    return ("## Many ranks\n\nSimulated jobs, one rank of each slow: `make_trace " + " ".join(rank_flags(run.jobs[-1].ranks)) +
            "` makes the largest. Read one by one (`--by-rank`).\n\n" +
            table(("question", "MB of text", "wall s", "processor s", "MB/s", "peak MiB"), rows))


def calls(run):
    if run.calls is None:
        return ""
    if run.calls.missing:
        return f"## HTA's calls\n\nNot measured: {without_places(run.calls.missing)}"
    def number(value, unit=""):
        return "–" if value is None else (seconds(value) if not unit else f"{value:,.0f} ×" if value >= 10 else f"{value:.1f} ×")
    rows = [(f"`{row.name}`", number(row.theirs), number(row.first), number(row.again), number(row.ratio, "×"),
             number(row.with_opening, "×"), row.same) for row in hta_rows(run.calls)]
    return (f"## HTA's calls\n\n`bench/peers/hta_calls.py MODULE {run.calls.path.name} {CALL_LIMIT_S}` with `hta.trace_analysis` and with "
            "`stepscope.hta`: one process each; the file is opened once, and each call is made twice; HTA's time is of its first. Opening takes "
            f"{seconds(run.calls.theirs['open_s'])} s and {seconds(run.calls.ours['open_s'])} s. The same: as many rows, and equal sums "
            "of every column of amounts. Where they differ: HTA 0.5.0 lists kernel types that take no time, 0.6 (whose answers the package's "
            "tests hold) does not; and of events at one time it leaves the order, and so the queue between them, to an unstable sort "
            "(docs/hta-compat.md).\n\n" +
            table(("call", "HTA s", "stepscope.hta s, first", "again", "HTA ÷ again", "ratio with opening", "the same"), rows))


def peers(run):
    lines = []
    versions = run.peers.versions
    for peer in PEERS:
        name = peer.package.split("==")[0]
        if not name:
            continue
        if peer.key in run.peers.missing:
            lines.append(f"- {peer.title}: not installable here: {run.peers.missing[peer.key]}")
        elif name.lower() in versions:
            lines.append(f"- {peer.title}: {name} {versions[name.lower()]} from PyPI, `bench/peers/{peer.program}`.")
    if "pandas" in versions:
        lines.append(f"- Both parse into pandas {versions['pandas']} and numpy {versions.get('numpy', '')} where they use them. "
                     "HTA 0.5.0 stops with a TypeError in pandas 3, so an older one is installed; without the optional ijson "
                     "it reads through Python's json, as a plain `pip install` leaves it. The plugin's two calls run without "
                     "TensorBoard, in one process.")
    return "## Peers\n\n" + "\n".join(lines) if lines else ""


def not_measured(run):
    lines = [f"- {text}" for text in run.left_out]
    if "simdjson" in run.peers.missing:
        lines.append(f"- The newest simdjson: not available here: {run.peers.missing['simdjson']}.")
    if any("limits" not in result.figures for result in run.files):
        lines.append("- Memory read and inflate alone: bench_limits needs ISA-L, which is not installed.")
    lines += ["- Files that are not in the page cache; disks differ more than programs.",
              "- Perfetto's trace processor, the only other native reader: PyPI has no build of it that works offline.",
              "- Machines with more cores, and processors that are not of this family."]
    return "## Not measured\n\n" + "\n".join(lines)


def document(run):
    parts = [head(run), asked(run), "## One file, from process start to the full report", *map(one_file, run.files),
             limits(run), threads(run), growth(run), ranks(run), calls(run), peers(run), not_measured(run)]
    return "\n\n".join(part for part in parts if part) + "\n"
