// Where each step's time went: every nanosecond of a step has one role, so the parts add up to the step
// exactly.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/steps/step_outliers.h"
#include "analyze/steps/step_pace.h"
#include "analyze/tb/tb.h"
#include "derive/kernel_class.h"
#include "report/statistics.h"
#include "timeline/interval.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Shape;
using report::Unit;
using timeline::Interval;
using timeline::IntervalSet;
using trace::Kind;
using trace::Rank;
using trace::Row;
using trace::Work;

/// By precedence: of two roles at one instant the first counts.
constexpr std::array<const char*, 8> kRoles = {"kernel",  "communication", "memcpy",   "memset",
                                               "runtime", "data_loader",   "cpu_exec", "other"};
constexpr std::size_t kNamedRoles = kRoles.size() - 1;
/// The columns' order, which readers of the JSON rely on: copies before communication.
constexpr std::array<std::size_t, kRoles.size()> kColumnOrder = {0, 2, 3, 1, 4, 5, 6, 7};

constexpr const char* kAverage = "Average step";

enum class Label : std::uint8_t { unknown, plain, data_loading, collective, step };

/// The role of a row, as an index into kRoles; kNamedRoles for rows that have none.
std::size_t role_of(const Rank& rank, Row row, Label label) {
  const trace::EventTable& e = rank.events;
  const bool loads_data = label == Label::data_loading;
  if (label == Label::collective) return 1;
  switch (e.kind[row]) {
    case Kind::kernel:
      return e.work[row] == Work::communication ? 1 : 0;
    case Kind::memcpy:
      return 2;
    case Kind::memset:
      return 3;
    case Kind::runtime:
      return 4;
    case Kind::annotation:
      return loads_data ? 5 : kNamedRoles;
    case Kind::op:
      return loads_data ? 5 : 6;
    case Kind::python:
      return 6;
    default:
      return kNamedRoles;
  }
}

/// What a host range's name says, asked once per name.
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
  std::array<Column<Interval>, kNamedRoles> intervals;
  const auto plain_work = [&](Row row) {
    return (e.kind[row] == Kind::op || e.kind[row] == Kind::python) && labels.of(e.name[row]) == Label::plain;
  };
  for (Row row = 0; row < e.size(); ++row) {
    const bool host =
        e.kind[row] == Kind::op || e.kind[row] == Kind::annotation || e.kind[row] == Kind::python;
    const Label label = host ? labels.of(e.name[row]) : Label::plain;
    if (label == Label::step) continue;
    const bool inside_work = host && e.parent[row] != trace::kNoRow && plain_work(e.parent[row]);
    if (inside_work && label == Label::plain) continue;  // its parent already covers it
    const std::size_t role = role_of(rank, row, label);
    if (role < kNamedRoles) intervals[role].push_back({e.start[row], e.end[row]});
  }
  std::vector<IntervalSet> sets;
  for (auto& list : intervals) sets.push_back(IntervalSet::of(std::move(list)));
  return sets;
}

struct Columns {
  report::Texts& step;
  std::vector<report::Ints*> parts;
  report::Ints &total, &host_start, &host_end, &device_end, &device_length;
  report::Reals &host_pace, &slower_ops, &device_pace;
  report::Texts& cut_off;
};

Columns step_columns(report::Table& table) {
  report::Texts& step = table.texts("step");
  std::vector<report::Ints*> parts(kRoles.size());
  for (const std::size_t role : kColumnOrder) parts[role] = &table.ints(kRoles[role], Unit::ns);
  report::Ints& total = table.ints("total", Unit::ns);
  return {step,
          parts,
          total,
          table.ints("host_start", Unit::ns, Role::detail),
          table.ints("host_end", Unit::ns, Role::detail),
          table.ints("device_end", Unit::ns, Role::detail),
          table.ints("device_length", Unit::ns, Role::detail),
          table.reals("host_pace", Unit::none, Role::detail),
          table.reals("slower_ops", Unit::share, Role::detail),
          table.reals("device_pace", Unit::none, Role::detail),
          table.texts("cut_off", Role::detail)};
}

/// Of the steps that are not cut off; nothing without any.
std::optional<report::Table> average_of(const report::Table& steps) {
  const auto& cut_off = std::get<report::Texts>(steps.column("cut_off")->values);
  const auto count = static_cast<std::int64_t>(std::count(cut_off.begin(), cut_off.end(), ""));
  if (count == 0) return std::nullopt;
  std::array<std::int64_t, kRoles.size()> sums{};
  std::int64_t total = 0;
  for (std::size_t i = 0; i < kRoles.size(); ++i) {
    const auto& times = std::get<report::Ints>(steps.column(kRoles[i])->values);
    for (std::size_t row = 0; row < times.size(); ++row)
      if (cut_off[row].empty()) report::add_to(sums[i], times[row]);
    report::add_to(total, sums[i]);
  }
  report::Table table{kAverage, Shape::bars, {}};
  report::Texts& role = table.texts("role");
  report::Ints& time = table.ints("time", Unit::ns);
  report::Reals& share = table.reals("share", Unit::share, Role::share);
  for (const std::size_t i : kColumnOrder) {
    role.emplace_back(kRoles[i]);
    time.push_back(sums[i] / count);
    share.push_back(total == 0 ? 0 : static_cast<double>(sums[i]) / static_cast<double>(total));
  }
  return table;
}

/// The average over all ranks, after the steps it is of.
void add_average(report::Report& report) {
  const auto is_average = [](const report::Table& table) { return table.title == kAverage; };
  std::erase_if(report.tables, is_average);
  const auto steps = report.tables.begin();
  if (auto average = average_of(*steps)) report.tables.insert(steps + 1, std::move(*average));
}

void note_rank(const Rank& rank, const std::vector<StepSpan>& spans, report::Report& report) {
  if (rank.steps.size() == 1 && rank.steps.front().row == trace::kNoRow)
    report.notes.push_back(
        "No profiler steps are marked: the whole recording stands as one step. Call prof.step() once per "
        "iteration, with a schedule, to see steps.");
  for (const StepSpan& s : spans)
    if (s.partial)
      report.notes.push_back(
          fmt::format("Step {} is cut off by the end of the recording (under 80 % of the previous step's "
                      "device events); it is shown, and left out of the average.",
                      rank.steps[s.index].number));
}

}  // namespace

constexpr report::ParamSpec kParams[] = {kTbCompat};

constinit const About steps_about = {kParams, true, Needs::one_rank, add_average};

report::Report steps(const trace::Trace& trace, const report::Params& params) {
  if (params.flag("tb-compat")) return tb_steps(trace, params);
  const StepChoice choice(params);
  report::Report report{"steps", {}, {}};
  report::Table table{"Step time by what the time went to", Shape::bars, {}};
  RankColumn rank_column(table, trace);
  Columns out = step_columns(table);
  report::Table outliers = outlier_table(trace);
  for (const Rank& rank : trace.ranks) {
    const std::int64_t origin = origin_of(rank);
    const std::vector<StepSpan> spans = step_spans(rank);
    const std::vector<IntervalSet> sets = role_sets(trace, rank);
    const std::vector<StepPace> paces = step_paces(trace, rank);
    note_rank(rank, spans, report);
    std::vector<StepParts> all_parts;
    for (const StepSpan& s : spans) {
      const trace::Step& step = rank.steps[s.index];
      std::vector<IntervalSet> in_step;
      for (const IntervalSet& set : sets) in_step.push_back(set.within(s.span));
      const std::vector<IntervalSet> parts = timeline::partition(s.span, in_step);
      all_parts.push_back({s, {}});
      for (const IntervalSet& part : parts) all_parts.back().parts.push_back(part.length());
      if (!choice.includes(step)) continue;
      rank_column.add(rank);
      out.step.push_back(step.row == trace::kNoRow ? "all" : std::to_string(step.number));
      for (std::size_t i = 0; i < parts.size(); ++i) out.parts[i]->push_back(parts[i].length());
      out.total.push_back(s.span.length());
      out.host_start.push_back(step.start - origin);
      out.host_end.push_back(step.end - origin);
      out.device_end.push_back(s.device_events > 0 ? step.device_end - origin : report::kNoInt);
      out.device_length.push_back(s.device_length);
      out.host_pace.push_back(paces[s.index].host);
      out.slower_ops.push_back(paces[s.index].slower);
      out.device_pace.push_back(paces[s.index].device);
      out.cut_off.emplace_back(s.partial ? "yes" : "");
    }
    add_outliers(outliers, trace, rank, choice, all_parts, kRoles);
  }
  report.tables.push_back(std::move(table));
  report.tables.push_back(std::move(outliers));
  add_average(report);
  return report;
}

}  // namespace stepscope::analyze
