"""Checks one run against stepscope's promises about its speed. Changing a limit changes a promise."""
from dataclasses import dataclass

import hta_calls
from fit import exponent, growth_points
from peer_setup import PEERS, without_places

MIB = 1 << 20
WALL_S = {False: (0.45, 0.40), True: (0.55, 0.45)}  # packed: (limit, goal)
PEAK_MIB = (220, 200)
EVENTS_WALL_S = 2.0
EVENTS_PEAK_BYTES = 0.8e9
GROWTH_EXPONENT = 1.10
LARGE_BYTES = 1.9e9
MANY_EVENTS = 5_000_000
RANKS_PEAK_BYTES = 2e9
RANK_BYTES = 0.5e6
CALL_S = 0.050  # of a repeated call of stepscope.hta, or a tenth of HTA's, whichever is more
NOT_MET = "**not met**"


@dataclass
class Demand:
    text: str
    limit: str
    goal: str
    measured: str
    verdict: str


def judged(text, limit, goal, measured, met, reached=None):
    """`reached` is None if there is no goal; a limit without a measurement is not met."""
    return Demand(text, limit, goal, measured, NOT_MET if not met else "goal met" if reached else "met")


def unmeasured(text, limit, reason):
    return Demand(text, limit, "", "–", reason)


def title(result):
    return f"{result.source.title}, {'gz' if result.input.text_bytes else 'plain'}"


def file_demands(result):
    packed = bool(result.input.text_bytes)
    name = title(result)
    mine = result.figures["in_a_row"]
    (most, goal), (peak_most, peak_goal) = WALL_S[packed], PEAK_MIB
    if not mine.ok:
        return [Demand(f"{name}: report", f"{most:.2f} s", f"{goal:.2f} s", without_places(mine.failed), NOT_MET)]
    peak = mine.peak / MIB
    return [judged(f"{name}: report", f"{most:.2f} s", f"{goal:.2f} s", f"{mine.wall:.3f} s", mine.wall <= most,
                   mine.wall <= goal),
            judged(f"{name}: peak memory", f"{peak_most} MiB", f"{peak_goal} MiB", f"{peak:.0f} MiB", peak <= peak_most,
                   peak <= peak_goal)]


def ratio_demands(result, missing):
    mine = result.figures["report"]
    found = []
    for peer in PEERS:
        if not peer.demanded:
            continue
        text = f"{title(result)}: faster than {peer.title}"
        limit = f"{peer.demanded:.0f} ×"
        theirs = result.figures.get(peer.key)
        if peer.key in missing or theirs is None:
            found.append(unmeasured(text, limit, "not measured: peer missing"))
        elif not mine.ok:
            found.append(unmeasured(text, limit, NOT_MET))
        elif theirs.ok or theirs.stopped_s:
            ratio = (theirs.wall if theirs.ok else theirs.stopped_s) / mine.wall
            least = "" if theirs.ok else "at least "
            met = ratio >= peer.demanded
            verdict = judged(text, limit, "", f"{least}{ratio:.1f} ×", met)
            if not met and not theirs.ok:
                verdict.verdict = "not known: peer stopped"
            found.append(verdict)
        else:
            found.append(unmeasured(text, limit, "not measured: peer failed"))
    return found


def thread_demand(run):
    good = all(each.ok for _, figures in run.threads for each in figures.values())
    same = all(len({one.digest for each in figures.values() for one in each.outputs}) == 1
               for _, figures in run.threads)
    counts = ", ".join(run.threads[0][1])
    return judged(f"same bytes from {counts} threads", "all files", "",
                  f"{len(run.threads)} files" if good and same else "differs or failed", good and same)


def growth_demands(run):
    found = []
    points = growth_points(run, lambda figures: figures.wall)
    if len(points) > 2 and len(points) == len(run.growth):
        power = exponent(points)
        sizes = f"{points[0][0] / 1e6:.0f} MB to {points[-1][0] / 1e6:,.0f} MB"
        found.append(judged(f"linear from {sizes}", f"power {GROWTH_EXPONENT:.2f}", "", f"power {power:.2f}",
                            power <= GROWTH_EXPONENT))
    else:
        found.append(unmeasured("linear growth", f"power {GROWTH_EXPONENT:.2f}", "not measured"))
    large = [result for result in run.growth if result.input.bytes >= LARGE_BYTES]
    if not large:
        found.append(unmeasured("2 GB opens", "all events", "not measured: no such file"))
    for result in large[-1:]:
        mine = result.figures["report"]
        found.append(judged(f"{result.input.bytes / 1e6:,.0f} MB opens", "all events", "",
                            f"{result.read_events:,} of {result.input.events:,} events", mine.ok and result.complete))
    many = [result for result in run.growth if result.input.events >= MANY_EVENTS]
    if not many:
        found.append(unmeasured(f"{MANY_EVENTS:,} events", f"{EVENTS_WALL_S} s", "not measured: no such file"))
    for result in many[:1]:
        mine = result.figures["report"]
        name = f"{result.input.events:,} events"
        if mine.ok:
            found.append(judged(name, f"{EVENTS_WALL_S} s", "", f"{mine.wall:.2f} s", mine.wall <= EVENTS_WALL_S))
            found.append(judged(f"{name}: peak memory", f"{EVENTS_PEAK_BYTES / 1e9:.1f} GB", "", f"{mine.peak / 1e9:.2f} GB",
                                mine.peak <= EVENTS_PEAK_BYTES))
        else:
            found.append(Demand(name, f"{EVENTS_WALL_S} s", "", without_places(mine.failed), NOT_MET))
    return found


def rank_demands(run):
    first, last = run.jobs[0], run.jobs[-1]
    mine = last.figures["report"]
    name = f"{last.ranks:,} ranks, {last.bytes / 1e9:.1f} GB"
    if not (mine.ok and first.figures["report"].ok):
        return [unmeasured(f"{name}: report", "2 GB", without_places(mine.failed) or NOT_MET)]
    growth = (mine.peak - first.figures["report"].peak) / (last.ranks - first.ranks)
    return [judged(f"{name}: peak memory of report", f"{RANKS_PEAK_BYTES / 1e9:.0f} GB", "", f"{mine.peak / 1e6:.0f} MB",
                   mine.peak <= RANKS_PEAK_BYTES),
            judged(f"memory of one more rank, {first.ranks} to {last.ranks:,}", f"{RANK_BYTES / 1e6:.1f} MB", "",
                   f"{growth / 1e6:.3f} MB", growth <= RANK_BYTES),
            judged("the slow rank of each job is named", "all jobs", "",
                   f"{sum(job.names_straggler for job in run.jobs)} of {len(run.jobs)}", all(job.names_straggler for job in run.jobs))]


def call_demand(calls):
    """Calls that HTA does not finish count as long as they were let run."""
    text, limit = "stepscope.hta: a repeated call", f"{CALL_S * 1000:.0f} ms or a tenth of HTA's"
    if calls.missing:
        return unmeasured(text, limit, "not measured")
    rows = hta_calls.rows(calls)
    slow = [row.name for row in rows
            if row.again is None or row.again > max(CALL_S, (row.theirs or hta_calls.CALL_LIMIT_S) / 10)]
    measured = f"{len(rows) - len(slow)} of {len(rows)} calls" + (f"; not {', '.join(slow)}" if slow else "")
    return judged(text, limit, "", measured, not slow)


def demands(run):
    found = []
    for result in run.files:
        found += file_demands(result)
    for result in run.files:
        found += ratio_demands(result, run.peers.missing)
    if run.threads:
        found.append(thread_demand(run))
    found += growth_demands(run) if run.growth else []
    found += rank_demands(run) if run.jobs else []
    found += [call_demand(run.calls)] if run.calls else []
    if run.options.quick:
        for demand in found:
            demand.verdict = "a trial"
    return found
