// The difference of two recordings as tables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compare/step_difference.h"
#include "report/page.h"

namespace stepscope::compare {
namespace {

using report::kNoReal;
using report::Role;
using report::Table;
using report::Unit;

constexpr double kMaxRelative = 10;  // of something that was next to nothing no percentage is told

double ratio_of(double a, double b) { return a > 0 && b / a <= kMaxRelative ? b / a - 1 : kNoReal; }
double bounded(double value) { return std::abs(value) < 1e300 ? value : kNoReal; }

Table verdict_table(const StepDifference& d) {
  Table table{std::string(report::kComparison), report::Shape::table, {}};
  table.texts("headline", Role::value).push_back(headline(d, "A", "B"));
  table.reals("step_a", Unit::ns, Role::detail).push_back(d.step.median_a);
  table.reals("step_b", Unit::ns, Role::detail).push_back(d.step.median_b);
  table.reals("spread_a", Unit::ns, Role::detail).push_back(d.step.spread_a);
  table.reals("spread_b", Unit::ns, Role::detail).push_back(d.step.spread_b);
  table.reals("ratio", Unit::none, Role::detail).push_back(d.step.ratio);
  table.reals("ratio_low", Unit::none, Role::detail).push_back(d.step.known() ? d.step.low : kNoReal);
  table.reals("ratio_high", Unit::none, Role::detail).push_back(d.step.known() ? d.step.high : kNoReal);
  table.ints("steps_a", Unit::count, Role::detail).push_back(static_cast<std::int64_t>(d.step.steps_a));
  table.ints("steps_b", Unit::count, Role::detail).push_back(static_cast<std::int64_t>(d.step.steps_b));
  table.reals("independent_steps", Unit::count, Role::detail).push_back(d.step.effective);
  return table;
}

/// Columns of what is compared: both sides per step, the change, and what to think of it.
struct Columns {
  explicit Columns(Table& table)
      : a(table.reals("a", Unit::ns)),
        b(table.reals("b", Unit::ns)),
        change(table.reals("change", Unit::ns, Role::change)),
        relative(table.reals("relative", Unit::share, Role::change)),
        state(table.texts("state", Role::value)),
        low(table.reals("change_low", Unit::ns, Role::detail)),
        high(table.reals("change_high", Unit::ns, Role::detail)) {}
  void add(const RowJudge::Verdict& row) {
    a.push_back(row.a);
    b.push_back(row.b);
    change.push_back(row.b - row.a);
    relative.push_back(ratio_of(row.a, row.b));
    state.emplace_back(name_of(row.state));
    low.push_back(bounded(row.shift.low));
    high.push_back(bounded(row.shift.high));
  }
  report::Reals &a, &b, &change, &relative;
  report::Texts& state;
  report::Reals &low, &high;
};

Table parts_table(const StepDifference& d, const Recording& a, const Recording& b) {
  Table table{kParts, report::Shape::table, {}};
  report::Texts& part = table.texts("part");
  Columns columns(table);
  const std::size_t n = std::min(a.step.size(), kMaxRowSamples), m = std::min(b.step.size(), kMaxRowSamples);
  const RowJudge judge(n, m, d.mean_a);
  const auto add = [&](const std::string& name, const std::vector<double>& x, const std::vector<double>& y) {
    part.push_back(name);
    columns.add(judge.judge(grouped(x, n), grouped(y, m)));
  };
  add("step", a.step, b.step);
  for (std::size_t p = 0; p < std::min(a.parts.size(), b.parts.size()); ++p)
    if (mean_of(a.parts[p].time) > 0 || mean_of(b.parts[p].time) > 0)
      add(a.parts[p].name, a.parts[p].time, b.parts[p].time);
  return table;
}

Table rows_table(const StepDifference& d) {
  Table table{kChanges, report::Shape::table, {}};
  report::Texts& kernel = table.texts("kernel");
  report::Texts& op = table.texts("op");
  report::Texts& module = table.texts("module");
  Columns columns(table);
  report::Reals& calls_a = table.reals("calls_a", Unit::none, Role::detail);
  report::Reals& calls_b = table.reals("calls_b", Unit::none, Role::detail);
  report::Texts& match = table.texts("match", Role::detail);
  for (const Row& row : d.rows) {
    kernel.push_back(row.kernel);
    op.push_back(row.op);
    module.push_back(row.module);
    columns.add(row.time);
    calls_a.push_back(row.calls_a);
    calls_b.push_back(row.calls_b);
    match.emplace_back(name_of(row.match.way));
  }
  return table;
}

/// The rows of one place together, the largest change first.
Table places_table(const StepDifference& d, const char* title, const char* key, std::string Row::* place) {
  struct Sum {
    double a = 0, b = 0;
  };
  std::map<std::string, Sum> sums;
  for (const Row& row : d.rows) {
    Sum& sum = sums[row.*place];
    sum.a += row.time.a;
    sum.b += row.time.b;
  }
  std::vector<std::pair<std::string, Sum>> order(sums.begin(), sums.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& x, const auto& y) {
    return std::abs(x.second.b - x.second.a) > std::abs(y.second.b - y.second.a);
  });
  Table table{title, report::Shape::table, {}};
  report::Texts& name = table.texts(key);
  report::Reals& a = table.reals("a", Unit::ns);
  report::Reals& b = table.reals("b", Unit::ns);
  report::Reals& change = table.reals("change", Unit::ns, Role::change);
  for (const auto& [text, sum] : order) {
    name.push_back(text.empty() ? "(none)" : text);
    a.push_back(sum.a);
    b.push_back(sum.b);
    change.push_back(sum.b - sum.a);
  }
  return table;
}

Table sum_table(const StepDifference& d) {
  struct Sum {
    const char* name;
    double a = 0, b = 0;
    std::int64_t rows = 0;
  };
  Sum sums[] = {{"matched"}, {"new"}, {"gone"}, {"step"}};
  for (const Row& row : d.rows) {
    Sum& sum = sums[!row.match.a.empty() && !row.match.b.empty() ? 0 : row.match.a.empty() ? 1 : 2];
    sum.a += row.time.a;
    sum.b += row.time.b;
    ++sum.rows;
  }
  sums[3].a = d.mean_a;
  sums[3].b = d.mean_b;
  sums[3].rows = static_cast<std::int64_t>(d.rows.size());
  Table table{"How it adds up", report::Shape::table, {}};
  report::Texts& part = table.texts("rows");
  report::Ints& rows = table.ints("count", Unit::count);
  report::Reals& a = table.reals("a", Unit::ns);
  report::Reals& b = table.reals("b", Unit::ns);
  report::Reals& change = table.reals("change", Unit::ns, Role::change);
  for (const Sum& sum : sums) {
    part.emplace_back(sum.name);
    rows.push_back(sum.rows);
    a.push_back(sum.a);
    b.push_back(sum.b);
    change.push_back(sum.b - sum.a);
  }
  return table;
}

void note_marks(report::Report& report, const char* side, const CountedSteps& counted) {
  if (!counted.marked)
    report.notes.push_back(fmt::format(
        "{} has no step marks: the whole recording stands as one step, and noise cannot be known. "
        "Call prof.step() once per iteration.",
        side));
  if (counted.cut_off > 0)
    report.notes.push_back(
        fmt::format("{}: the last step is cut off by the end of the recording and left out.", side));
}

void note_warm_up(report::Report& report, std::size_t steps) {
  if (steps == 0) return;
  report.notes.push_back(
      fmt::format("Of each recording the first {} left out as warm-up; --skip 0 counts all.",
                  steps == 1 ? "step is" : fmt::format("{} steps are", steps)));
}

void note_noise(report::Report& report, const RatioChange& step, bool marked) {
  if (step.known() || step.steps_a == 0 || step.steps_b == 0 || !marked) return;
  report.notes.push_back(fmt::format(
      "Noise is known from {} independent steps a side on, here are {:.1f}. Record {} or more on each side.",
      kMinSteps, step.effective, kEnoughSteps));
}

}  // namespace

report::Report as_report(const StepDifference& d, const Recording& a, const Recording& b) {
  report::Report report{"diff", {}, {}, "what changed from A to B"};
  report.tables.push_back(verdict_table(d));
  if (d.step.steps_a > 0 && d.step.steps_b > 0) {
    report.tables.push_back(parts_table(d, a, b));
    report.tables.push_back(rows_table(d));
    report.tables.push_back(places_table(d, "By module", "module", &Row::module));
    report.tables.push_back(places_table(d, "By operator", "op", &Row::op));
    report.tables.push_back(sum_table(d));
  }
  note_warm_up(report, a.counted.warming_up);
  note_marks(report, "A", a.counted);
  note_marks(report, "B", b.counted);
  note_noise(report, d.step, a.counted.marked && b.counted.marked);
  return report;
}

}  // namespace stepscope::compare
