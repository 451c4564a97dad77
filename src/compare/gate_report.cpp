// A gate's decision as tables.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compare/gate.h"
#include "report/sheet.h"
#include "report/units.h"

namespace stepscope::compare {
namespace {

using report::format_value;
using report::kNoReal;
using report::Role;
using report::Shape;
using report::Sheet;
using report::Unit;

/// The first table of the report.
struct Decision {
  std::string sentence;
  Outcome outcome;
};

report::Table headline_table(const Gate& gate) {
  static const Sheet<Decision> kSheet{"Verdict",
                                      Shape::table,
                                      {{"headline", &Decision::sentence, Role::value},
                                       {"outcome", report::named<&Decision::outcome>, Role::detail}}};
  return tabulate(kSheet, {{headline(gate), gate.outcome()}}, false);
}

report::Table checks_table(const std::vector<Check>& checks, bool for_programs) {
  using C = Check;
  Sheet<C> sheet{"Checks",
                 Shape::table,
                 {{"metric", +[](const C& c) { return c.limit.metric(); }},
                  {"limit", +[](const C& c) { return c.limit_text(); }, Role::value},
                  {"outcome", report::named<&C::outcome>, Role::value},
                  {"base", +[](const C& c) { return c.base_text(); }, Role::value},
                  {"new", +[](const C& c) { return c.now_text(); }, Role::value},
                  {"change", +[](const C& c) { return c.growth(); }, Unit::share, Role::change}}};
  if (for_programs)
    for (const report::Field<C>& field : std::initializer_list<report::Field<C>>{
             {"change_low", +[](const C& c) { return c.limit.relative ? c.low : kNoReal; }, Unit::share,
              Role::detail},
             {"change_high", +[](const C& c) { return c.limit.relative ? c.high : kNoReal; }, Unit::share,
              Role::detail},
             {"base_value", &C::base, Unit::none, Role::detail},
             {"new_value", &C::now, Unit::none, Role::detail},
             {"p", &C::p, Unit::none, Role::detail},
             {"p_corrected", &C::corrected, Unit::none, Role::detail},
             {"samples_base", +[](const C& c) { return static_cast<std::int64_t>(c.samples_base); },
              Unit::count, Role::detail},
             {"samples_new", +[](const C& c) { return static_cast<std::int64_t>(c.samples_now); },
              Unit::count, Role::detail}})
      sheet.fields.push_back(field);
  sheet.fields.push_back({"reason", &C::reason, Role::detail});
  return tabulate(sheet, checks, false);
}

/// A recording of a history, in the trend of one metric.
struct TrendRow {
  std::string metric, run, date, value;
  double number, change;  ///< change: of the mean, where it changes; else kNoReal
};

report::Table trend_table(const std::vector<Trend>& trends, bool for_programs) {
  using R = TrendRow;
  std::vector<R> rows;
  for (const Trend& trend : trends) {
    std::vector<double> change(trend.points.size(), kNoReal);
    for (std::size_t i = 0; i < trend.changes.size(); ++i) {
      const std::size_t at = trend.changes[i], begin = i > 0 ? trend.changes[i - 1] : 0,
                        end = i + 1 < trend.changes.size() ? trend.changes[i + 1] : trend.points.size();
      if (const double before = trend.mean(begin, at); before > 0)
        change[at] = trend.mean(at, end) / before - 1;
    }
    for (std::size_t i = 0; i < trend.points.size(); ++i) {
      const Trend::Point& point = trend.points[i];
      rows.push_back({trend.metric, point.run, point.date, format_value(point.value, trend.unit), point.value,
                      change[i]});
    }
  }
  Sheet<R> sheet{"Trend",
                 Shape::table,
                 {{"metric", &R::metric},
                  {"recording", &R::run},
                  {"recorded", &R::date, Role::value},
                  {"median", &R::value, Role::value}}};
  const bool changes =
      std::any_of(trends.begin(), trends.end(), [](const Trend& trend) { return !trend.changes.empty(); });
  if (changes || for_programs)
    sheet.fields.push_back({"mean_changes", &R::change, Unit::share, Role::change});
  if (for_programs) sheet.fields.push_back({"value", &R::number, Unit::none, Role::detail});
  return tabulate(sheet, rows, false);
}

}  // namespace

std::string Limit::metric() const { return analysis + "." + column + (key.empty() ? "" : "[" + key + "]"); }

std::string Check::limit_text() const {
  return fmt::format(
      "{} {}", limit.above ? "at most" : "at least",
      limit.relative ? fmt::format("{:+g} %", 100 * limit.bound) : format_value(limit.bound, unit));
}
std::string Check::base_text() const { return samples_base > 0 ? format_value(base, unit) : ""; }
std::string Check::now_text() const { return samples_now > 0 ? format_value(now, unit) : ""; }
double Check::growth() const { return base > 0 && samples_now > 0 ? now / base - 1 : kNoReal; }

std::string headline(const Gate& gate) {
  if (!gate.not_comparable.empty())
    return "Inconclusive: BASE and NEW are not comparable. " + gate.not_comparable.front();
  const Outcome outcome = gate.outcome();
  std::string said(name_of(outcome));
  said.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(said.front())));
  const auto first = std::find_if(gate.checks.begin(), gate.checks.end(),
                                  [&](const Check& check) { return check.outcome == outcome; });
  if (first == gate.checks.end()) return said;
  said += fmt::format(": {}: {}", first->limit.metric(), first->reason);
  if (const std::size_t more = gate.count(outcome) - 1; more > 0)
    said += fmt::format(" And {} more of {} limits.", more, gate.checks.size());
  return said;
}

report::Report as_report(const Gate& gate, bool for_programs) {
  report::Report report{"gate",
                        {headline_table(gate), checks_table(gate.checks, for_programs)},
                        gate.notes,
                        "whether NEW may replace BASE"};
  if (!gate.trends.empty()) report.tables.push_back(trend_table(gate.trends, for_programs));
  return report;
}

}  // namespace stepscope::compare
