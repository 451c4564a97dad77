// What a step would take if something in it were faster: the recording replayed with changes.
#include <fmt/format.h>

#include <cmath>

#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/replayed_window.h"
#include "analyze/whatif_changes.h"
#include "derive/replay.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using derive::ReplayPlan;
using report::kNoInt;
using report::Role;
using report::Shape;
using report::Unit;
using timeline::Time;
using trace::Rank;

constexpr double kLargestError = 0.05;

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

/// One rank: its plan, and the answers that come from it.
class Question {
 public:
  Question(const trace::Trace& trace, const Rank& rank, const StepChoice& choice)
      : trace_(trace),
        rank_(rank),
        window_(trace, rank, choice),
        plan_(derive::replay_plan(trace, rank, window_.marks())),
        identity_(length({})) {}

  double error() const { return std::abs(report::ratio(identity_ - window_.recorded(), window_.recorded())); }
  bool has_device() const { return !plan_.events.empty(); }
  bool usable() const { return has_device() && error() <= kLargestError; }
  bool refused() const { return has_device() && error() > kLargestError; }

  void check(CheckTable& out) const {
    out.rank.add(rank_);
    out.steps.push_back(window_.steps());
    out.recorded.push_back(report::mean(window_.recorded(), window_.steps()));
    out.identity.push_back(report::mean(identity_, window_.steps()));
    out.error.push_back(error());
  }

  void add(ChangeTable& out, std::string name, std::span<const Scale> scales) const {
    derive::Changes changes;
    bool found = false;
    for (const Scale& scale : scales) found |= add_changes(trace_, rank_, plan_, scale, changes);
    out.rank.add(rank_);
    out.change.push_back(std::move(name));
    out.found.emplace_back(found ? "yes" : "nothing of that name");
    if (!usable()) {
      out.step.push_back(kNoInt);
      out.saving.push_back(kNoInt);
      out.share.push_back(report::kNoReal);
      return;
    }
    const Time now = found ? length(changes) : identity_;
    const Time saved = identity_ - now;
    out.step.push_back(report::mean(now, window_.steps()));
    out.saving.push_back(report::mean(saved, window_.steps()));
    out.share.push_back(report::ratio(saved, identity_));
  }

 private:
  Time length(const derive::Changes& changes) const {
    return window_.length(plan_, derive::replay(rank_, plan_, changes));
  }

  const trace::Trace& trace_;
  const Rank& rank_;
  ReplayedWindow window_;
  ReplayPlan plan_;
  Time identity_;
};

}  // namespace

constexpr report::ParamSpec kParams[] = {
    {"scale", report::ParamSpec::Type::text, "data_loading=0;sync=0;alloc=0;comm=0;copy=0", "",
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
| kernel:NAME | device events of that name |
| host:NAME | host time in ops, annotations, Python and runtime calls of that name and in all they call on their thread |
| device:NAME | device events launched inside host ranges of that name |
| op:NAME | both: host:NAME and device:NAME |

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

report::Report whatif(const trace::Trace& trace, const report::Params& params) {
  const StepChoice choice(params);
  CheckTable checks(trace);
  ChangeTable changes(trace);
  report::Report report{"whatif", {}, {}};
  bool device = false;
  const auto scales = parse_scales(params.text("scale", kParams[0].fallback));
  if (!scales) report.notes.push_back("--scale: " + scales.error().message + ".");
  for (const Rank& rank : trace.ranks) {
    const Question question(trace, rank, choice);
    question.check(checks);
    if (!scales) continue;
    for (const Scale& scale : *scales) question.add(changes, scale.text, {&scale, 1});
    if (scales->size() > 1) question.add(changes, "all together", *scales);
    device |= question.has_device();
    if (question.refused())
      report.notes.push_back(fmt::format(
          "Refused: replayed without changes, {} is {} off what was recorded (at most 5 % is "
          "accepted), so savings would be guesses. The recording lacks what its events waited for.",
          rank.rank < 0 ? "the recording" : fmt::format("rank {}", rank.rank),
          report::format_value(question.error(), Unit::share)));
  }
  if (!device && scales)
    report.notes.emplace_back(
        "There is nothing to replay: no device activity is recorded. Record with ProfilerActivity.CUDA (or "
        "XPU, MTIA …) beside CPU.");
  report.tables.push_back(std::move(checks.table));
  report.tables.push_back(std::move(changes.table));
  return report;
}

}  // namespace stepscope::analyze
