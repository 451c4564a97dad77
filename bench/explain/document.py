"""Turns the results of one benchmark run into a Markdown document: goals next to results, and shortfalls."""
from pathlib import Path

import scores
from scores import LEVELS, resampled, share

SOURCES = {"G": "generated: simulated jobs, truth from the simulation",
           "R": "recorded: real programs under PyTorch on this machine's CPU",
           "D": "device: real programs on a device"}
GOALS = {"G": (1.0, 1.0), "R": (0.92, 0.98), "D": (0.92, 0.98)}


def table(heads, rows):
    """A Markdown table; the first column is text, the others are numbers."""
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|---:" * (len(heads) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def percent(value):
    return "–" if value is None else f"{value * 100:.0f} %"


def plain(value):
    return "–" if value is None else f"{value:.2f}"


def ms(value):
    return f"{value / 1e6:.2f}"


def scored(outcome, source):
    return [run for run in outcome.runs if run.source == source]


def row(name, goal, figure, spell, met):
    if figure.value is None:
        return (name, goal, "–", "–", "nothing to count")
    interval = "–" if figure.low is None else f"{spell(figure.low)} to {spell(figure.high)}"
    verdict = "" if met is None else "met" if met(figure.value) else "**falls short**"
    return (name, goal, spell(figure.value), interval, verdict)


def goals(outcome, source):
    runs = scored(outcome, source)
    with_finding = [run for run in runs if scores.named(run)]
    top1, top3 = GOALS[source]
    alarms = resampled(runs, lambda r: sum(len(scores.false_alarms(run)) for run in r) / len(r) if r else None)
    rows = [
        row("planted cause is the first finding", f"≥ {percent(top1)}", share(runs, scores.named_first),
            percent, lambda v: v >= top1),
        row("planted cause is among the first three", f"≥ {percent(top3)}",
            share(runs, scores.named_among_three), percent, lambda v: v >= top3),
        row("notable findings on a healthy twin", "≤ 0.2", alarms, plain, lambda v: v <= 0.2),
        row("healthy twins with a finding of the planted kind", "0 %", share(runs, scores.planted_on_twin),
            percent, lambda v: v == 0),
        row("measured saving lies in the range", "≥ 80 %", share(with_finding, scores.covered), percent,
            lambda v: v >= 0.8),
        row("width of the range, share of the step (median)", "≤ 0.25", resampled(with_finding, scores.sharpness), plain,
            lambda v: v <= 0.25),
        row("middle of the range / measured (median)", "0.7 to 1.3", resampled(with_finding, scores.bias), plain,
            lambda v: 0.7 <= v <= 1.3),
        row("remedy says the word of the table", "100 %", share(with_finding, scores.says_the_word), percent,
            lambda v: v == 1),
    ]
    if source == "G":
        rows += trap_rows(outcome) + pair_rows(outcome)
    return table(("", "goal", "result", "95 % interval", ""), rows)


def trap_rows(outcome):
    unjudgeable = [one for one in outcome.caught if one.trap.health]
    looking = [one for one in outcome.caught if one.trap.never]
    return [
        row("traps without a finding of the kind they look like", "100 %",
            share(looking, scores.avoided), percent, lambda v: v == 1),
        row("traps that cannot be judged and are not", "100 %", share(unjudgeable, scores.abstained),
            percent, lambda v: v == 1),
    ]


def pair_rows(outcome):
    return [
        row("two causes at once: those that limit are among the first three", "100 %", share(outcome.pairs, scores.both_named),
            percent, lambda v: v == 1),
        row("two causes at once: in the order of their savings", "100 %", share(outcome.pairs, scores.in_order),
            percent, lambda v: v == 1),
        row("two causes at once: joint saving at most a quarter too high", "100 %",
            share(outcome.pairs, scores.modest), percent, lambda v: v == 1),
    ]


def calibration(outcome):
    said = scores.sayings([run for source in "GRD" for run in scored(outcome, source)], outcome.caught)
    wanted = {"high": 0.95, "medium": 0.75, "low": None}
    rows = []
    for level in LEVELS:
        of_level = [one for one in said if one.level == level]
        goal = wanted[level]
        figure = share(of_level, lambda one: one.right)
        rows.append((*row(level, f"≥ {percent(goal)}" if goal else "–", figure, percent,
                          None if goal is None else lambda v, goal=goal: v >= goal),
                     figure.count))
    return ("## Is the confidence deserved?\n\nOf the first findings of faulty runs, and of every finding where nothing of the "
            "kind is wrong, the share that is right.\n\n" +
            table(("confidence", "goal", "right", "95 % interval", "", "findings"), rows))


def by_cause(outcome, source):
    rows = []
    numbers = sorted({run.number for run in outcome.runs if run.source == source}, key=int)
    for number in numbers:
        runs = [run for run in outcome.runs if run.source == source and run.number == number]
        with_finding = [run for run in runs if scores.named(run)]
        first = share(runs, scores.named_first)
        first = f"{sum(map(scores.named_first, runs))} of {len(runs)} ({percent(first.low)} to {percent(first.high)})"
        rows.append((f"{number} {runs[0].name}", " ".join(runs[0].rules), first,
                     sum(map(scores.named_among_three, runs)), sum(len(scores.false_alarms(run)) for run in runs),
                     f"{sum(map(scores.covered, with_finding))} of {len(with_finding)}",
                     plain(scores.bias(with_finding)), spread(runs)))
    return table(("cause", "rule", "first", "of first three", "alarms on twins", "saving in range", "middle / measured",
                  "measured saving, share of step"), rows)


def spread(runs):
    shares = sorted(run.saving / run.step for run in runs)
    return f"{percent(shares[0])} to {percent(shares[-1])}"


def finding_line(one, step):
    when = "" if one.now else ", not now"
    return f"{one.rule} {ms(one.low)}…{ms(one.high)} ms ({percent(one.low / step)}…{percent(one.high / step)}), {one.confidence}{when}"


def ranking(answer):
    return "; ".join(f"{i + 1}. {finding_line(one, answer.step)}" for i, one in enumerate(answer.found)) or "no findings"


def health(answer):
    return " ".join(sorted({f"{one.row}{one.grade}" for one in answer.health})) or "none"


def shortfalls(run):
    """What is wrong with a run, as sentences; empty when nothing is."""
    found = scores.named(run)
    wrong = []
    if found is None:
        wrong.append(f"{run.rules[0]} is not found")
    elif not scores.named_first(run):
        wrong.append(f"{found.rule} comes at place {run.faulty.where(run.rules) + 1}")
    if found is not None and not scores.covered(run):
        wrong.append(f"the range {ms(found.low)}…{ms(found.high)} ms misses {ms(run.saving)} ms")
    if found is not None and not scores.says_the_word(run):
        wrong.append(f"the remedy does not say '{run.word}'")
    for one in scores.false_alarms(run):
        wrong.append(f"false alarm on the twin: {finding_line(one, run.healthy.step)}")
    return wrong


def failing(outcome):
    parts = []
    for run in outcome.runs:
        wrong = shortfalls(run)
        if wrong:
            parts.append(f"### {run.source} {run.number} {run.name}, seed {run.seed}\n\n" + "\n".join(f"- {text}" for text in wrong) +
                         f"\n- measured saving {ms(run.saving)} of {ms(run.step)} ms\n- ranking: {ranking(run.faulty)}\n"
                         f"- {run.faulty.bound}; health {health(run.faulty)}; ledger: {run.faulty.ledger}\n- `{run.command}`")
    for one in outcome.caught:
        wrong = [] if scores.avoided(one) or not one.trap.never else ["a finding of the kind it looks like"]
        if one.trap.health and not scores.abstained(one):
            wrong.append(f"does not abstain: none of {' '.join(one.trap.health)}, or a finding of high confidence")
        if wrong:
            parts.append(f"### {one.trap.number} {one.trap.name}, seed {one.seed}\n\n" + "\n".join(f"- {text}" for text in wrong) +
                         f"\n- ranking: {ranking(one.answer)}\n- {one.answer.bound}; health {health(one.answer)}; ledger: "
                         f"{one.answer.ledger}\n- `{one.command}`")
    for pair in outcome.pairs:
        wrong = [text for test, text in ((scores.both_named, "not among the first three, though it limits"),
                                         (scores.in_order, "not in the order of their savings"),
                                         (scores.modest, "the joint saving is too high")) if not test(pair)]
        if wrong:
            names = " and ".join(f"{cause.number} {cause.name} ({ms(saving)} ms)"
                                 for cause, saving in zip(pair.causes, pair.savings))
            parts.append(f"### {names}, seed {pair.seed}\n\n" + "\n".join(f"- {text}" for text in wrong) +
                         f"\n- joint repair {ms(pair.joint)} of {ms(pair.step)} ms\n- ranking: {ranking(pair.answer)}; together "
                         f"{pair.answer.together and tuple(map(ms, pair.answer.together))}\n- {pair.answer.bound}; ledger: "
                         f"{pair.answer.ledger}\n- `{pair.command}`")
    return f"## Every run that falls short ({len(parts)})\n\n" + "\n\n".join(parts) if parts else ""


def steady(outcome):
    if not outcome.steadiness:
        return ""
    same = sum(one.same for one in outcome.steadiness)
    lines = [f"{same} of {len(outcome.steadiness)} reports are the same bytes with events in another order and with 1, 2 and 4 threads."]
    lines += [f"- differs: {one.name}, {one.what}" for one in outcome.steadiness if not one.same]
    if outcome.costs:
        shares = [cost.advice_s / cost.report_s for cost in outcome.costs]
        worst = max(outcome.costs, key=lambda cost: cost.advice_s / cost.report_s)
        met = "met" if max(shares) <= 0.1 else "**falls short**"
        lines.append(f"\nAdvice takes {percent(min(shares))} to {percent(max(shares))} of the time of a report (goal ≤ 10 %: {met}; "
                     f"most on {worst.name}: {worst.advice_s * 1000:.1f} of {worst.report_s * 1000:.1f} ms).")
    return "## The same answer, and what it costs\n\n" + "\n".join(lines)


def head(outcome):
    fewer = f" (seeds of real programs: {outcome.recorded_seeds})" if outcome.recorded_seeds != outcome.seeds else ""
    return ("# Does advice name what is wrong?\n\n"
            f"Written by `bench/explain/run.sh --seeds {outcome.seeds} --first-seed {outcome.first_seed} --sources \"{outcome.sources}\"` on "
            f"{outcome.begin}, commit {outcome.commit}{fewer}; only the reasons under *What falls short* are typed by hand "
            "(`bench/explain/short.md`).\n\nCauses are planted (`bench/explain/causes.txt`), each beside its "
            "repaired twin; recordings that look like a cause and are none, or cannot be judged, are traps "
            "(`bench/explain/traps.txt`). The measured saving is the step with the fault minus the step of the twin. A finding "
            "is notable when the low end of its saving is at least 1 % of the step and it limits now. Seeds vary sizes, step "
            "length (5 to 200 ms), how far the host is ahead, 3 % noise on every duration, and add up to two small costs of at "
            "most 2 % of the step; a finding that names one of those is no false alarm, nor is exposed communication (N01) of several ranks where the twin, simulated with transfers of 0.8 and of 0.2 of their length, gains what is said. Of two causes at once, one that hides behind the other, and saves under 1 % of the step alone and after "
            "it, need not be named; savings that differ by less than a tenth, or 1 % of the step, have no order. Intervals of shares are "
            "binomial (Wilson), others come from resampling the seeds.")


def left_out(outcome):
    if not outcome.skipped:
        return ""
    return "## Not run\n\n" + "\n".join(f"- {source} {name}: {reason}" for source, name, reason in outcome.skipped)


def reasons():
    return "## What falls short, and why\n\n" + (Path(__file__).parent / "short.md").read_text().strip()


def document(outcome):
    parts = [head(outcome)]
    for source in "GRD":
        if any(run.source == source for run in outcome.runs):
            parts += [f"## Source {source}, {SOURCES[source]}", goals(outcome, source), by_cause(outcome, source)]
    parts += [reasons(), calibration(outcome), steady(outcome), left_out(outcome), failing(outcome)]
    return "\n\n".join(part for part in parts if part) + "\n"
