// What a step would take if something in it were faster: the recording replayed with changes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/whatif_changes.h"
#include "derive/replay.h"
#include "derive/thread_role.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using derive::Replayed;
using derive::ReplayPlan;
using report::kNoInt;
using report::Role;
using report::Shape;
using report::Unit;
using timeline::Interval;
using timeline::Time;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::TrackId;

constexpr double kLargestError = 0.05;

/// The window of the chosen steps in a replay: the same two instants as in the recording.
class ReplayedWindow {
 public:
  ReplayedWindow(const trace::Trace& trace, const Rank& rank, const StepChoice& choice)
      : rank_(rank), spans_(step_spans(rank)) {
    for (const StepSpan& s : spans_)
      chosen_.push_back(choice.includes(rank.steps[s.index]) && !(s.partial && choice.all()));
    recorded_ = window_of(rank, choice);
    add_marks(trace);
  }
  const std::vector<ReplayPlan::Mark>& marks() const { return marks_; }
  Time recorded() const { return recorded_.length(); }
  std::int64_t steps() const {
    return std::max<std::int64_t>(1, std::count(chosen_.begin(), chosen_.end(), true));
  }

  Time length(const ReplayPlan& plan, const Replayed& replayed) const {
    const std::vector<Time> device_end = device_ends(plan, replayed);
    Time previous = first_begin(plan, replayed);
    Interval window{0, 0};
    bool any = false;
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      const Time begin = std::max(previous, host_time(replayed, i, begins_));
      const Time end = std::max({begin, host_time(replayed, i, ends_), device_end[i]});
      if (chosen_[i]) {
        if (!any) window.begin = begin;
        window.end = end;
        any = true;
      }
      previous = end;
    }
    return window.length();
  }

 private:
  /// Marks first … of a step; a step that stands for the whole recording has an end on every thread.
  struct Marks {
    std::size_t first = 0, count = 0;
  };

  void add_marks(const trace::Trace& trace) {
    const trace::EventTable& e = rank_.events;
    for (const trace::Step& step : rank_.steps) {
      if (step.row != kNoRow) {
        begins_.push_back({marks_.size(), 1});
        marks_.push_back({e.track[step.row], step.start});
        ends_.push_back({marks_.size(), 1});
        marks_.push_back({e.track[step.row], step.end});
        continue;
      }
      begins_.push_back({marks_.size(), 0});
      ends_.push_back({marks_.size(), 0});
      for (const ReplayPlan::Mark& mark : last_ends(trace)) {
        marks_.push_back(mark);
        ++ends_.back().count;
      }
    }
  }

  /// Where each thread that launches, and the main thread, ended.
  std::vector<ReplayPlan::Mark> last_ends(const trace::Trace& trace) const {
    const trace::EventTable& e = rank_.events;
    const auto roles = derive::thread_roles(trace, rank_);
    std::vector<bool> wanted(rank_.tracks.size());
    for (TrackId t = 0; t < wanted.size(); ++t) wanted[t] = roles[t] == derive::ThreadRole::main;
    for (Row row = 0; row < e.size(); ++row)
      if (is_device_work(e.kind[row]) && e.launch[row] != kNoRow) wanted[e.track[e.launch[row]]] = true;
    std::vector<ReplayPlan::Mark> ends;
    for (TrackId t = 0; t < wanted.size(); ++t) {
      Time end = trace::kNoTime;
      for (Row row = rank_.tracks[t].begin; wanted[t] && row < rank_.tracks[t].end; ++row)
        if (is_host_range(e.kind[row])) end = std::max(end, e.end[row]);
      if (end != trace::kNoTime) ends.push_back({t, end});
    }
    return ends;
  }

  Time host_time(const Replayed& replayed, std::size_t step, const std::vector<Marks>& of) const {
    Time time = std::numeric_limits<Time>::min();
    for (std::size_t m = 0; m < of[step].count; ++m)
      time = std::max(time, replayed.marks[of[step].first + m]);
    return time;
  }

  std::vector<Time> device_ends(const ReplayPlan& plan, const Replayed& replayed) const {
    std::vector<Time> ends(rank_.steps.size(), std::numeric_limits<Time>::min());
    for (std::size_t i = 0; i < plan.events.size(); ++i) {
      const std::int32_t step = rank_.events.step[plan.events[i].row];
      if (step < 0 || plan.events[i].call == ReplayPlan::kNone) continue;
      Time& end = ends[static_cast<std::size_t>(step)];
      end = std::max(end, replayed.end[i]);
    }
    return ends;
  }

  /// The first step begins with its mark, or when the device was done with the step before.
  Time first_begin(const ReplayPlan& plan, const Replayed& replayed) const {
    if (spans_.empty()) return 0;
    const Time begin = spans_.front().span.begin;
    Time moved = std::numeric_limits<Time>::min();
    if (begin > rank_.steps.front().start)
      for (std::size_t i = 0; i < plan.events.size(); ++i)
        if (rank_.events.end[plan.events[i].row] == begin) moved = std::max(moved, replayed.end[i]);
    const bool marked = rank_.steps.front().row != kNoRow;
    return moved != std::numeric_limits<Time>::min() || marked ? moved : begin;
  }

  const Rank& rank_;
  std::vector<StepSpan> spans_;
  std::vector<bool> chosen_;
  Interval recorded_;
  std::vector<ReplayPlan::Mark> marks_;
  std::vector<Marks> begins_, ends_;
};

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
  bool usable() const { return !plan_.events.empty() && error() <= kLargestError; }
  bool has_device() const { return !plan_.events.empty(); }

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
    for (const Scale& scale : scales) found |= derive_changes(scale, changes);
    out.rank.add(rank_);
    out.change.push_back(std::move(name));
    out.found.emplace_back(found ? "yes" : "nothing of that name");
    const Time now = !usable() ? kNoInt : found ? length(changes) : identity_;
    const Time saved = identity_ - now;
    out.step.push_back(usable() ? report::mean(now, window_.steps()) : kNoInt);
    out.saving.push_back(usable() ? report::mean(saved, window_.steps()) : kNoInt);
    out.share.push_back(usable() ? report::ratio(saved, identity_) : report::kNoReal);
  }

 private:
  bool derive_changes(const Scale& scale, derive::Changes& changes) const {
    return add_changes(trace_, rank_, plan_, scale, changes);
  }
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

constinit const About whatif_about = {R"()", kParams};

report::Report whatif(const trace::Trace& trace, const report::Params& params) {
  const StepChoice choice(params);
  CheckTable checks(trace);
  ChangeTable changes(trace);
  report::Report report{"whatif", {}, {}};
  const auto scales = parse_scales(params.text("scale", kParams[0].fallback));
  if (!scales) report.notes.push_back("--scale: " + scales.error().message + ".");
  for (const Rank& rank : trace.ranks) {
    const Question question(trace, rank, choice);
    question.check(checks);
    if (!scales) continue;
    for (const Scale& scale : *scales) question.add(changes, scale.text, {&scale, 1});
    if (scales->size() > 1) question.add(changes, "all together", *scales);
    if (!question.has_device())
      report.notes.push_back("No device activity is recorded: there is nothing to replay.");
    else if (!question.usable())
      report.notes.push_back(fmt::format(
          "Refused: replayed without changes, {} is {} off what was recorded (at most 5 % is "
          "accepted), so savings would be guesses. The recording lacks what its events waited for.",
          rank.rank < 0 ? "the recording" : fmt::format("rank {}", rank.rank),
          report::format_value(question.error(), Unit::share)));
  }
  report.tables.push_back(std::move(checks.table));
  report.tables.push_back(std::move(changes.table));
  return report;
}

}  // namespace stepscope::analyze
