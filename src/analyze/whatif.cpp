// What a step would take if something in it were faster: the recording replayed with changes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/list.h"
#include "analyze/whatif_job.h"
#include "report/judgement.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using report::kNoInt;
using report::Role;
using report::Shape;
using report::Unit;
using trace::Rank;

struct CheckTable {
  explicit CheckTable(const trace::Trace& trace)
      : rank(table, trace),
        steps(table.ints("steps", Unit::count)),
        recorded(table.ints("recorded", Unit::ns)),
        identity(table.ints("identity", Unit::ns)),
        error(table.reals("error", Unit::share)) {}
  report::Table table{"Replay without changes", Shape::table, {}};
  RankColumn rank;
  report::Ints &steps, &recorded, &identity;
  report::Reals& error;
};

struct ChangeTable {
  explicit ChangeTable(const trace::Trace& trace)
      : rank(table, trace),
        change(table.texts("change")),
        step(table.ints("step", Unit::ns)),
        saving(table.ints("saving", Unit::ns)),
        share(table.reals("share", Unit::share, Role::share)),
        found(table.texts("found", Role::detail)) {}
  report::Table table{"What would change", Shape::bars, {}};
  RankColumn rank;
  report::Texts& change;
  report::Ints &step, &saving;
  report::Reals& share;
  report::Texts& found;
};

std::vector<Asked> asked_by(const std::vector<Scale>& scales) {
  std::vector<Asked> asked;
  for (const Scale& scale : scales) asked.push_back({scale.text, {&scale, 1}});
  if (scales.size() > 1) asked.push_back({"all together", scales});
  return asked;
}

Answered answer_alone(const Derived& derived, const Asked& asked) {
  Answered out;
  for (const Rank& rank : derived.trace().ranks) {
    const ReplayedRank& replayed = derived.replayed(rank);
    const Change change = replayed.change_of(asked.scales);
    out.found.push_back(change.found);
    out.lengths.push_back(replayed.usable() && change.found ? replayed.length(change) : replayed.identity());
  }
  return out;
}

Answered answer_together(const Derived& derived, const Asked& asked) {
  Answered out;
  const ReplayedJob& job = derived.job();
  std::vector<bool> absent = stragglers_in(asked.scales, derived.trace());
  for (std::size_t r = 0; r < absent.size(); ++r)
    if (absent[r] && !job.does_without(r))
      out.refused =
          fmt::format("The others cannot be replayed without rank {}: it sends them what they work on.",
                      derived.trace().ranks[r].rank);
  if (out.refused.empty() && std::find(absent.begin(), absent.end(), false) != absent.end())
    out.changes.absent = std::move(absent);
  for (std::size_t r = 0; r < derived.trace().ranks.size(); ++r) {
    Change change = job.rank(r).change_of(asked.scales);
    out.found.push_back(change.found || !out.changes.absent.empty());
    out.changes.ranks.push_back(std::move(change.changes));
  }
  out.lengths = job.lengths(out.changes);
  return out;
}

void add_check(CheckTable& out, const Rank& rank, const ReplayedRank& replayed, std::int64_t identity) {
  out.rank.add(rank);
  out.steps.push_back(replayed.steps());
  out.recorded.push_back(report::mean(replayed.recorded(), replayed.steps()));
  out.identity.push_back(report::mean(identity, replayed.steps()));
  out.error.push_back(std::abs(report::ratio(identity - replayed.recorded(), replayed.recorded())));
}

void add_change(ChangeTable& out, const Rank& rank, const ReplayedRank& replayed, const Asked& asked,
                bool found, bool usable, std::int64_t identity, std::int64_t now) {
  out.rank.add(rank);
  out.change.push_back(asked.name);
  out.found.emplace_back(found ? "yes" : "nothing of that name");
  out.step.push_back(usable ? report::mean(now, replayed.steps()) : kNoInt);
  out.saving.push_back(usable ? report::mean(identity - now, replayed.steps()) : kNoInt);
  out.share.push_back(usable ? report::ratio(identity - now, identity) : report::kNoReal);
}

std::string nothing_of(const Scale& scale, const trace::Trace& trace) {
  std::string said = fmt::format("Nothing in the recording is what {} speaks of.", scale.text);
  if (scale.what != Scale::What::straggler || !trace.several()) return said;
  std::vector<std::int64_t> ranks;
  for (const Rank& rank : trace.ranks) ranks.push_back(rank.rank);
  return said + fmt::format(" The ranks are {}.", report::listed_ranks(std::move(ranks)));
}

}  // namespace

constexpr report::ParamSpec kParams[] = {
    {"scale", report::ParamSpec::Type::texts,
     "data_loading=0;sync=0;alloc=0;launch=0;host=0.5;compute=0.5;comm=0;copy=0", "",
     "what to change, e.g. 'data_loading=0; kernel:/gemm|conv/=0.5': WHAT=FACTOR, separated by ';'"}};

constinit const About whatif_about = {
    R"(The recording is replayed: launches and waiting calls of each thread in their order, device events in the order of their streams. A
change makes host work or device events shorter or longer, and everything that waited for it moves. Savings are differences to the replay
without changes, per step, so a change that nothing waits for saves 0.

`--scale` lists changes WHAT=FACTOR, separated by `;`. A factor of 0 removes, 0.5 halves, 2 doubles. Where several hold, the smallest does.

| WHAT | is scaled |
|---|---|
| data_loading | host time in data loaders |
| sync | the time that calls wait for device work; 0: they return at once |
| alloc, launch | host time in calls that allocate or free device or pinned memory; in calls that launch, and the time from there to the start on an idle stream |
| compute, comm, copy | compute kernels; collective kernels; copies and fills |
| plain_cores | compute kernels of products and convolutions that use no matrix units, by name; double precision aside |
| fp64 | compute kernels in double precision, by name |
| kernel:NAME | device events of that name |
| kind:NAME | compute kernels of that kind, as `kernels` tells kinds: pointwise, norm, cast, … |
| host | all host time in ops, annotations, Python and runtime calls, on every thread |
| host:NAME | host time in ops, annotations, Python and runtime calls of that name and in all they call on their thread |
| device:NAME | device events launched inside host ranges of that name |
| op:NAME | both: host:NAME and device:NAME |
| call:NAME | host time in the calls that launched device events of that name |
| straggler:RANK | what others wait for that rank, with several ranks; only 0, as if it kept pace with them; not of stages of a pipeline |

NAME is the exact name, or `/a|b/` for names that contain a or b.

**Replay without changes**: `recorded` and `identity` are the mean step of the window as recorded and as replayed; `error` is their
difference / recorded. Above 5 % savings are refused and empty.

**What would change**: `step`: mean step with the change; `saving`: identity - step; `share`: saving / identity; `found`: whether the trace
has anything of that kind. The last row makes all changes at once: less than the sum when they overlap, more when one uncovers another.

**Several ranks** are replayed together where their collectives are matched (`clock_alignment`): a collective begins when the last rank comes and
then takes its transfer, the length where it lasts least. A factor on a collective is one on its transfer, and what ranks wait for each other
follows; comm=0 leaves the waits. Without matches each rank is replayed alone, and waits for others are part of its collectives' length.
**The job replayed without changes** and **What would change the job** are the slowest rank's mean step; `alone`: communication kernels that keep their
waits. `low`: what the busiest stream or the host alone needs, on the rank that needs most, named by `limit`, with its share of the step; that is
what limits next. `high`: 5 % of the host's time more (25 % when data loading moves to other processes), and the replay's error.

What the model knows: an event starts when it was launched, the event before it on its stream has ended and so has what it waits for on
other streams, plus its recorded latency (at most 20 µs). Waits between streams that are not recorded are inferred from the times. A waiting
call returns when its work has ended. A thread that slept goes on as long after the thread that woke it as it was recorded. Unknown to it:
ranks that are not open (a collective keeps the length in which it waited for them), other algorithms for other sizes, clocks and power, events that slow each other down, a processor that is
shared, and work whose launch is not in the file: it only follows its stream.)",
    kParams, true, Needs::all_ranks};

report::Report whatif(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  CheckTable checks(trace);
  ChangeTable changes(trace);
  report::Report report{"whatif", {}, {}};
  const auto scales = parse_scales(params.text("scale", kParams[0].fallback));
  if (!scales) report.notes.push_back("--scale: " + scales.error().message + ".");
  const std::vector<Asked> asked = scales ? asked_by(*scales) : std::vector<Asked>{};
  const bool together = trace.ranks.size() > 1 && derived.job().usable();
  std::vector<Answered> answers;
  for (const Asked& one : asked)
    answers.push_back(together ? answer_together(derived, one) : answer_alone(derived, one));
  std::int64_t devices = 0;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const Rank& rank = trace.ranks[r];
    const ReplayedRank& replayed = derived.replayed(rank);
    const std::int64_t identity = together ? derived.job().identity()[r] : replayed.identity();
    add_check(checks, rank, replayed, identity);
    for (std::size_t i = 0; i < asked.size(); ++i)
      add_change(changes, rank, replayed, asked[i], answers[i].found[r],
                 together ? replayed.has_device() : replayed.usable(), identity, answers[i].lengths[r]);
    devices += replayed.has_device();
    if (scales && !together && replayed.has_device() && !replayed.usable())
      report.notes.push_back(fmt::format(
          "Refused: replayed without changes, {} is {} off what was recorded (at most 5 % is "
          "accepted), so savings would be guesses. The recording lacks what its events waited for.",
          rank.rank < 0 ? "the recording" : fmt::format("rank {}", rank.rank),
          report::format_value(replayed.error(), report::Unit::share)));
  }
  for (std::size_t i = 0; params.has("scale") && devices > 0 && scales && i < scales->size(); ++i)
    if (std::find(answers[i].found.begin(), answers[i].found.end(), true) == answers[i].found.end())
      report.notes.push_back(answers[i].refused.empty() ? nothing_of((*scales)[i], trace)
                                                        : answers[i].refused);
  if (devices == 0 && scales)
    report.notes.emplace_back(
        "There is nothing to replay: no device activity is recorded. Record with ProfilerActivity.CUDA (or "
        "XPU, MTIA …) beside CPU.");
  if (devices > 1 && scales) note_ranks(trace, derived.job(), together, report);
  report.tables.push_back(std::move(checks.table));
  report.tables.push_back(std::move(changes.table));
  if (together) add_job(derived, asked, answers, report);
  return report;
}

}  // namespace stepscope::analyze
