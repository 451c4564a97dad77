// What a step would take if something in it were faster: the recording replayed with changes.
#include <fmt/format.h>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/replayed_rank.h"
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

void add_check(CheckTable& out, const Rank& rank, const ReplayedRank& replayed) {
  out.rank.add(rank);
  out.steps.push_back(replayed.steps());
  out.recorded.push_back(report::mean(replayed.recorded(), replayed.steps()));
  out.identity.push_back(report::mean(replayed.identity(), replayed.steps()));
  out.error.push_back(replayed.error());
}

/// Returns whether the rank has anything of that kind.
bool add_change(ChangeTable& out, const Rank& rank, const ReplayedRank& replayed, std::string name,
                std::span<const Scale> scales) {
  const Change change = replayed.change_of(scales);
  const bool usable = replayed.usable();
  out.rank.add(rank);
  out.change.push_back(std::move(name));
  out.found.emplace_back(change.found ? "yes" : "nothing of that name");
  const std::int64_t now = usable && change.found ? replayed.length(change) : replayed.identity();
  const std::int64_t saved = replayed.identity() - now;
  out.step.push_back(usable ? report::mean(now, replayed.steps()) : kNoInt);
  out.saving.push_back(usable ? report::mean(saved, replayed.steps()) : kNoInt);
  out.share.push_back(usable ? report::ratio(saved, replayed.identity()) : report::kNoReal);
  return change.found;
}

}  // namespace

constexpr report::ParamSpec kParams[] = {
    {"scale", report::ParamSpec::Type::texts, "data_loading=0;sync=0;alloc=0;comm=0;copy=0", "",
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
| alloc, launch | host time in calls that allocate or free device or pinned memory; in calls that launch |
| compute, comm, copy | compute kernels; collective kernels; copies and fills |
| plain_cores | compute kernels of products and convolutions that use no matrix units, by name; double precision aside |
| fp64 | compute kernels in double precision, by name |
| kernel:NAME | device events of that name |
| kind:NAME | compute kernels of that kind, as `kernels` tells kinds: pointwise, norm, cast, … |
| host:NAME | host time in ops, annotations, Python and runtime calls of that name and in all they call on their thread |
| device:NAME | device events launched inside host ranges of that name |
| op:NAME | both: host:NAME and device:NAME |
| call:NAME | host time in the calls that launched device events of that name |

NAME is the exact name, or `/a|b/` for names that contain a or b.

**Replay without changes**: `recorded` and `identity` are the mean step of the window as recorded and as replayed; `error` is their
difference / recorded. Above 5 % savings are refused and empty.

**What would change**: `step`: mean step with the change; `saving`: identity - step; `share`: saving / identity; `found`: whether the trace
has anything of that kind. The last row makes all changes at once: less than the sum when they overlap, more when one uncovers another.

What the model knows: an event starts when it was launched, the event before it on its stream has ended and so has what it waits for on
other streams, plus its recorded latency (at most 20 µs). Waits between streams that are not recorded are inferred from the times. A waiting
call returns when its work has ended. A thread that slept goes on as long after the thread that woke it as it was recorded. Unknown to it:
other ranks (a collective keeps its recorded length, in which it waited for them), events that slow each other down, a processor that is
shared, and work whose launch is not in the file: it only follows its stream.)",
    kParams};

report::Report whatif(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  CheckTable checks(trace);
  ChangeTable changes(trace);
  report::Report report{"whatif", {}, {}};
  bool device = false;
  std::vector<bool> found;  // by scale
  const auto scales = parse_scales(params.text("scale", kParams[0].fallback));
  if (!scales) report.notes.push_back("--scale: " + scales.error().message + ".");
  for (const Rank& rank : trace.ranks) {
    const ReplayedRank& replayed = derived.replayed(rank);
    add_check(checks, rank, replayed);
    if (!scales) continue;
    found.resize(scales->size());
    for (std::size_t i = 0; i < scales->size(); ++i)
      if (add_change(changes, rank, replayed, (*scales)[i].text, {&(*scales)[i], 1})) found[i] = true;
    if (scales->size() > 1) add_change(changes, rank, replayed, "all together", *scales);
    device |= replayed.has_device();
    if (replayed.has_device() && !replayed.usable())
      report.notes.push_back(fmt::format(
          "Refused: replayed without changes, {} is {} off what was recorded (at most 5 % is "
          "accepted), so savings would be guesses. The recording lacks what its events waited for.",
          rank.rank < 0 ? "the recording" : fmt::format("rank {}", rank.rank),
          report::format_value(replayed.error(), Unit::share)));
  }
  for (std::size_t i = 0; params.has("scale") && device && i < found.size(); ++i)
    if (!found[i])
      report.notes.push_back(
          fmt::format("Nothing in the recording is what {} speaks of.", (*scales)[i].text));
  if (!device && scales)
    report.notes.emplace_back(
        "There is nothing to replay: no device activity is recorded. Record with ProfilerActivity.CUDA (or "
        "XPU, MTIA …) beside CPU.");
  report.tables.push_back(std::move(checks.table));
  report.tables.push_back(std::move(changes.table));
  return report;
}

}  // namespace stepscope::analyze
