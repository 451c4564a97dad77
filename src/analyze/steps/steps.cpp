#include "analyze/steps/steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/steps/step_outliers.h"
#include "derive/kernel_class.h"
#include "derive/thread_role.h"
#include "report/statistics.h"
#include "timeline/interval.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Shape;
using report::Tag;
using report::Unit;
using timeline::Interval;
using timeline::IntervalSet;
using trace::Kind;
using trace::Rank;
using trace::Row;
using trace::Work;

constexpr auto kNamedRoles = static_cast<std::size_t>(StepRole::other);

enum class Label : std::uint8_t { unknown, plain, data_loading, collective, step };

/// The role of a row; `other` for rows that have none of their own.
StepRole role_of(const Rank& rank, Row row, Label label) {
  const trace::EventTable& e = rank.events;
  const bool loads_data = label == Label::data_loading;
  if (label == Label::collective) return StepRole::communication;
  switch (e.kind[row]) {
    case Kind::kernel:
      return e.work[row] == Work::communication ? StepRole::communication : StepRole::kernel;
    case Kind::memcpy:
      return StepRole::memcpy;
    case Kind::memset:
      return StepRole::memset;
    case Kind::runtime:
      return StepRole::runtime;
    case Kind::annotation:
      return loads_data ? StepRole::data_loader : StepRole::other;
    case Kind::op:
      return loads_data ? StepRole::data_loader : StepRole::cpu_exec;
    case Kind::python:
      return StepRole::cpu_exec;
    default:
      return StepRole::other;
  }
}

/// The label of a host range, by its name; computed once per name.
class Labels {
 public:
  explicit Labels(const trace::Trace& trace)
      : trace_(trace), by_name_(trace.strings.size(), Label::unknown) {}
  Label of(trace::StringId name) {
    Label& label = by_name_[name];
    if (label == Label::unknown) {
      const std::string_view text = trace_.text(name);
      label = derive::is_data_loading(text)      ? Label::data_loading
              : derive::is_step_mark(text)       ? Label::step
              : derive::is_host_collective(text) ? Label::collective
                                                 : Label::plain;
    }
    return label;
  }

 private:
  const trace::Trace& trace_;
  std::vector<Label> by_name_;
};

std::vector<IntervalSet> role_sets(const trace::Trace& trace, const Rank& rank) {
  const trace::EventTable& e = rank.events;
  Labels labels(trace);
  const std::vector<bool> is_sampled = derive::sampled_tracks(trace, rank);
  std::array<Column<Interval>, kNamedRoles> intervals;
  const auto plain_work = [&](Row row) {
    return (e.kind[row] == Kind::op || e.kind[row] == Kind::python) && labels.of(e.name[row]) == Label::plain;
  };
  for (Row row = 0; row < e.size(); ++row) {
    const bool host =
        e.kind[row] == Kind::op || e.kind[row] == Kind::annotation || e.kind[row] == Kind::python;
    const Label label = host ? labels.of(e.name[row]) : Label::plain;
    if (label == Label::step || is_sampled[e.track[row]]) continue;
    const bool inside_work = host && e.parent[row] != trace::kNoRow && plain_work(e.parent[row]);
    if (inside_work && label == Label::plain) continue;  // its parent already covers it
    const auto role = static_cast<std::size_t>(role_of(rank, row, label));
    if (role < kNamedRoles) intervals[role].push_back({e.start[row], e.end[row]});
  }
  std::vector<IntervalSet> sets;
  for (auto& list : intervals) sets.push_back(IntervalSet::of(std::move(list)));
  return sets;
}

/// All steps of a rank.
std::vector<StepTime> times_of(const trace::Trace& trace, const Rank& rank,
                               const std::vector<StepSpan>& spans) {
  const std::int64_t origin = origin_of(rank);
  const std::vector<IntervalSet> sets = role_sets(trace, rank);
  const std::vector<StepPace> paces = step_paces(trace, rank);
  std::vector<StepTime> times;
  for (const StepSpan& s : spans) {
    const trace::Step& step = rank.steps[s.index];
    std::vector<IntervalSet> in_step;
    for (const IntervalSet& set : sets) in_step.push_back(set.within(s.span));
    const std::vector<IntervalSet> parts = timeline::partition(s.span, in_step);
    StepTime& time = times.emplace_back();
    time.rank = rank.rank;
    if (step.counts()) time.number = step.number;
    for (std::size_t i = 0; i < kStepRoles; ++i) time.parts[i] = parts[i].length();
    time.total = s.span.length();
    time.host_start = step.start - origin;
    time.host_end = step.end - origin;
    if (s.device_events > 0) time.device_end = step.device_end - origin;
    time.device_length = s.device_length;
    time.pace = paces[s.index];
    time.cut_off = s.partial;
  }
  return times;
}

template <StepRole role>
report::Field<StepTime> part_field() {
  return {name_of(role), +[](const StepTime& s) { return s.part(role); }, Unit::ns, Tag::part};
}

const report::Sheet<StepTime> kStepSheet{
    "Step time by what the time went to",
    Shape::bars,
    {report::rank_field<StepTime>(&StepTime::rank),
     {"step", +[](const StepTime& s) { return s.name(); }, Tag::of_one_run},
     part_field<kStepColumns[0]>(),
     part_field<kStepColumns[1]>(),
     part_field<kStepColumns[2]>(),
     part_field<kStepColumns[3]>(),
     part_field<kStepColumns[4]>(),
     part_field<kStepColumns[5]>(),
     part_field<kStepColumns[6]>(),
     part_field<kStepColumns[7]>(),
     {"total", &StepTime::total, Unit::ns, Tag::whole},
     {"host_start", &StepTime::host_start, Unit::ns, Role::detail},
     {"host_end", &StepTime::host_end, Unit::ns, Role::detail},
     {"device_end", &StepTime::device_end, Unit::ns, Role::detail},
     {"device_length", &StepTime::device_length, Unit::ns, Role::detail},
     {"host_pace", +[](const StepTime& s) { return s.pace.host; }, Unit::none, Role::detail},
     {"slower_ops", +[](const StepTime& s) { return s.pace.slower; }, Unit::share, Role::detail},
     {"device_pace", +[](const StepTime& s) { return s.pace.device; }, Unit::none, Role::detail},
     {"cut_off", +[](const StepTime& s) { return std::string(s.cut_off ? "yes" : ""); }, Role::detail}}};

const report::Sheet<StepOutlier> kOutlierSheet{
    "Outlier steps: what grew against the median step",
    Shape::table,
    {report::rank_field<StepOutlier>(&StepOutlier::rank),
     {"step", +[](const StepOutlier& o) { return std::to_string(o.step); }, Tag::of_one_run},
     {"lane", report::named<&StepOutlier::lane>},
     {"what", &StepOutlier::what},
     {"time", &StepOutlier::time, Unit::ns},
     {"median_step_time", &StepOutlier::median_time, Unit::ns},
     {"growth", +[](const StepOutlier& o) { return o.growth(); }, Unit::ns}}};

void note_rank(const Rank& rank, const std::vector<StepSpan>& spans, std::vector<std::string>& notes) {
  if (!rank.step_border.empty())
    notes.push_back(
        fmt::format("No profiler steps are marked. {} were found: they are counted by {}, which repeats.",
                    rank.steps.size(), rank.step_border));
  if (rank.steps.size() == 1 && !rank.steps.front().counts())
    notes.push_back(
        "No profiler steps are marked: the whole recording counts as one step. Call prof.step() once per "
        "iteration, with a schedule, to see steps.");
  for (const StepSpan& s : spans)
    if (s.partial)
      notes.push_back(
          fmt::format("Step {} is cut off by the end of the recording (under 80 % of the previous step's "
                      "device events); it is shown, but left out of the average.",
                      rank.steps[s.index].number));
}

}  // namespace

std::string_view name_of(StepRole role) {
  constexpr std::array<std::string_view, kStepRoles> kNames = {
      "kernel", "communication", "memcpy", "memset", "runtime", "data_loader", "cpu_exec", "other"};
  return kNames[static_cast<std::size_t>(role)];
}

std::string_view name_of(StepLane lane) { return lane == StepLane::step ? "step" : "host"; }

std::optional<report::Table> average_step(const std::vector<StepTime>& steps) {
  struct Average {
    StepRole role;
    std::int64_t time;
    double share;
  };
  static const report::Sheet<Average> kSheet{"Average step",
                                             Shape::bars,
                                             {{"role", report::named<&Average::role>},
                                              {"time", &Average::time, Unit::ns},
                                              {"share", &Average::share, Unit::share, Role::share}}};
  std::array<std::int64_t, kStepRoles> sums{};
  std::int64_t count = 0, total = 0;
  for (const StepTime& step : steps) {
    if (step.cut_off) continue;
    ++count;
    for (std::size_t i = 0; i < kStepRoles; ++i) report::add_to(sums[i], step.parts[i]);
  }
  if (count == 0) return std::nullopt;
  for (const std::int64_t sum : sums) report::add_to(total, sum);
  std::vector<Average> rows;
  for (const StepRole role : kStepColumns) {
    const std::int64_t sum = sums[static_cast<std::size_t>(role)];
    rows.push_back({role, sum / count, total == 0 ? 0 : report::ratio(sum, total)});
  }
  report::Table table = tabulate(kSheet, rows, false);
  table.divides_step = true;
  return table;
}

Steps steps_of(const Derived& derived) {
  Steps of;
  for (const Rank& rank : derived.trace().ranks) {
    const std::vector<StepSpan> spans = step_spans(rank);
    note_rank(rank, spans, of.notes);
    const std::vector<StepTime> all = times_of(derived.trace(), rank, spans);
    add_outliers(of.outliers, derived, rank, all);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (derived.choice().includes(rank.steps[i])) of.steps.push_back(all[i]);
  }
  return of;
}

Steps joined(std::vector<Steps> of_ranks) {
  const auto says = [](const Steps& of) { return !of.steps.empty() || !of.outliers.empty(); };
  const bool any = std::any_of(of_ranks.begin(), of_ranks.end(), says);
  Steps all;
  for (Steps& of : of_ranks) {
    all.steps.insert(all.steps.end(), of.steps.begin(), of.steps.end());
    std::move(of.outliers.begin(), of.outliers.end(), std::back_inserter(all.outliers));
    if (any && !says(of)) continue;
    for (std::string& note : of.notes)
      if (std::find(all.notes.begin(), all.notes.end(), note) == all.notes.end())
        all.notes.push_back(std::move(note));
  }
  return all;
}

report::Report printed(Steps of, bool several) {
  report::Report report{"steps", {tabulate(kStepSheet, of.steps, several)}, std::move(of.notes)};
  if (auto average = average_step(of.steps)) report.tables.push_back(std::move(*average));
  report.tables.push_back(tabulate(kOutlierSheet, of.outliers, several));
  return report;
}

constinit const About steps_about = {};

report::Report steps(const Derived& derived, const report::Params& /*params*/) {
  return printed(steps_of(derived), derived.trace().several());
}

}  // namespace stepscope::analyze
