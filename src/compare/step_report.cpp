// The difference of two recordings as tables.
#include <algorithm>
#include <cmath>
#include <map>

#include "compare/step_difference.h"
#include "report/sheet.h"

namespace stepscope::compare {
namespace {

using report::Field;
using report::kNoReal;
using report::Role;
using report::Shape;
using report::Sheet;
using report::Table;
using report::Unit;

constexpr double kMaxRelative = 10;  // no percentage for growth from almost nothing

double ratio_of(double a, double b) { return a > 0 && b / a <= kMaxRelative ? b / a - 1 : kNoReal; }
double bounded(double value) { return std::abs(value) < 1e300 ? value : kNoReal; }

/// The first table of the report: the headline with its numbers.
struct Headline {
  std::string sentence;
  RatioChange step;
  bool same;
};

Table headline_table(const StepDifference& difference) {
  using H = Headline;
  static const Sheet<H> kSheet{
      "Verdict",
      Shape::table,
      {{"headline", &H::sentence, Role::value},
       {"step_a", +[](const H& h) { return h.step.means.mean_a; }, Unit::ns, Role::detail},
       {"step_b", +[](const H& h) { return h.step.means.mean_b; }, Unit::ns, Role::detail},
       {"spread_a", +[](const H& h) { return h.step.means.spread_a; }, Unit::ns, Role::detail},
       {"spread_b", +[](const H& h) { return h.step.means.spread_b; }, Unit::ns, Role::detail},
       {"ratio", +[](const H& h) { return h.step.ratio; }, Unit::none, Role::detail},
       {"ratio_low", +[](const H& h) { return h.step.known() ? h.step.low : kNoReal; }, Unit::none,
        Role::detail},
       {"ratio_high", +[](const H& h) { return h.step.known() ? h.step.high : kNoReal; }, Unit::none,
        Role::detail},
       {"steps_a", +[](const H& h) { return static_cast<std::int64_t>(h.step.steps_a); }, Unit::count,
        Role::detail},
       {"steps_b", +[](const H& h) { return static_cast<std::int64_t>(h.step.steps_b); }, Unit::count,
        Role::detail},
       {"independent_steps", +[](const H& h) { return h.step.means.effective; }, Unit::count, Role::detail},
       {"correlation", +[](const H& h) { return h.step.means.correlation; }, Unit::none, Role::detail},
       {"smallest_change_seen", +[](const H& h) { return h.step.known() ? h.step.seen() : kNoReal; },
        Unit::share, Role::detail},
       {"same", +[](const H& h) { return static_cast<std::int64_t>(h.same); }, Unit::none, Role::detail}}};
  return tabulate(kSheet, {{headline(difference), difference.step, difference.same}}, false);
}

/// Columns: keys, both sides per step, the change and its state, then `details`.
template <class R>
std::vector<Field<R>> compared(std::vector<Field<R>> keys, const std::vector<Field<R>>& details = {}) {
  const Field<R> fields[] = {
      {"a", +[](const R& r) { return r.time.a; }, Unit::ns},
      {"b", +[](const R& r) { return r.time.b; }, Unit::ns},
      {"change", +[](const R& r) { return r.time.change(); }, Unit::ns, Role::change},
      {"relative", +[](const R& r) { return ratio_of(r.time.a, r.time.b); }, Unit::share, Role::change},
      {"state", +[](const R& r) { return std::string(name_of(r.time.state)); }, Role::value},
      {"change_low", +[](const R& r) { return bounded(r.time.low); }, Unit::ns, Role::detail},
      {"change_high", +[](const R& r) { return bounded(r.time.high); }, Unit::ns, Role::detail}};
  keys.insert(keys.end(), std::begin(fields), std::end(fields));
  keys.insert(keys.end(), details.begin(), details.end());
  return keys;
}

Table rows_table(const StepDifference& difference) {
  static const Sheet<Row> kSheet{
      "What changed, per step", Shape::table,
      compared<Row>(
          {{"kernel", &Row::kernel}, {"op", &Row::op}, {"module", &Row::module}},
          {{"calls_a", &Row::calls_a, Unit::none, Role::detail},
           {"calls_b", &Row::calls_b, Unit::none, Role::detail},
           {"match", +[](const Row& r) { return std::string(name_of(r.match.way)); }, Role::detail}})};
  return tabulate(kSheet, difference.rows, false);
}

/// A sum of rows.
struct Sum {
  std::string name;
  double a = 0, b = 0;
  std::int64_t rows = 0;
  double change() const { return b - a; }
  void add(const Row& row) {
    a += row.time.a;
    b += row.time.b;
    ++rows;
  }
};

Table sums_table(std::string_view title, std::vector<Field<Sum>> keys, const std::vector<Sum>& sums) {
  const Field<Sum> fields[] = {{"a", &Sum::a, Unit::ns},
                               {"b", &Sum::b, Unit::ns},
                               {"change", +[](const Sum& s) { return s.change(); }, Unit::ns, Role::change}};
  keys.insert(keys.end(), std::begin(fields), std::end(fields));
  return tabulate(Sheet<Sum>{title, Shape::table, std::move(keys)}, sums, false);
}

/// Rows summed by `place`, the largest change first.
std::vector<Sum> sums_by(std::string Row::* place, const std::vector<Row>& rows) {
  std::map<std::string, Sum> by_place;
  for (const Row& row : rows) by_place[row.*place].add(row);
  std::vector<Sum> sums;
  for (auto& [name, sum] : by_place) sums.emplace_back(std::move(sum)).name = name.empty() ? "(none)" : name;
  std::stable_sort(sums.begin(), sums.end(),
                   [](const Sum& x, const Sum& y) { return std::abs(x.change()) > std::abs(y.change()); });
  return sums;
}

std::vector<Sum> sums_by_match(const StepDifference& d) {
  std::vector<Sum> sums = {
      {"matched"}, {"new"}, {"gone"}, {"step", d.step.means.mean_a, d.step.means.mean_b, std::ssize(d.rows)}};
  for (const Row& row : d.rows) sums[row.match.a.empty() ? 1 : row.match.b.empty() ? 2 : 0].add(row);
  return sums;
}

Table parts_table(const StepDifference& difference) {
  static const Sheet<Part> kSheet{"Step, part by part (means)", Shape::table,
                                  compared<Part>({{"part", &Part::name}})};
  return tabulate(kSheet, difference.parts, false);
}

}  // namespace

report::Report as_report(const StepDifference& d) {
  report::Report report{"diff", {headline_table(d)}, d.notes, "what changed from A to B"};
  if (!d.known()) return report;
  const auto add = [&](Table table) { report.tables.push_back(std::move(table)); };
  add(parts_table(d));
  add(rows_table(d));
  add(sums_table("By module", {{"module", &Sum::name}}, sums_by(&Row::module, d.rows)));
  add(sums_table("By operator", {{"op", &Sum::name}}, sums_by(&Row::op, d.rows)));
  add(sums_table("How it adds up", {{"rows", &Sum::name}, {"count", &Sum::rows, Unit::count}},
                 sums_by_match(d)));
  return report;
}

}  // namespace stepscope::compare
