// A gate's decision as tables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/gate.h"
#include "report/page.h"
#include "report/units.h"

namespace stepscope::compare {
namespace {

using report::Role;
using report::Table;
using report::Unit;

std::string limit_text(const Check& check) {
  const Limit& limit = check.limit;
  const std::string bound = limit.relative ? fmt::format("{:+g} %", 100 * limit.bound)
                                           : report::format_value(limit.bound, check.unit);
  return fmt::format("{} {}", limit.above ? "at most" : "at least", bound);
}

std::string metric_text(const Limit& limit) {
  return limit.analysis + "." + limit.column + (limit.key.empty() ? "" : "[" + limit.key + "]");
}

std::string headline(const Gate& gate) {
  const auto count = [&](Outcome outcome) {
    return std::count_if(gate.checks.begin(), gate.checks.end(),
                         [&](const Check& check) { return check.outcome == outcome; });
  };
  if (!gate.not_comparable.empty())
    return "Inconclusive: BASE and NEW are not comparable. " + gate.not_comparable.front();
  const Outcome outcome = gate.outcome();
  const auto first = std::find_if(gate.checks.begin(), gate.checks.end(),
                                  [&](const Check& check) { return check.outcome == outcome; });
  const std::string_view word = outcome == Outcome::pass         ? "Pass"
                                : outcome == Outcome::regression ? "Regression"
                                                                 : "Inconclusive";
  const std::string rest =
      count(outcome) > 1 ? fmt::format(" And {} more of {} limits.", count(outcome) - 1, gate.checks.size())
                         : "";
  return first == gate.checks.end()
             ? std::string(word)
             : fmt::format("{}: {} {}{}", word, metric_text(first->limit), first->reason, rest);
}

Table checks_table(const Gate& gate) {
  Table table{"Checks", report::Shape::table, {}};
  report::Texts& metric = table.texts("metric");
  report::Texts& limit = table.texts("limit", Role::value);
  report::Texts& outcome = table.texts("outcome", Role::value);
  report::Texts& base = table.texts("base", Role::value);
  report::Texts& now = table.texts("new", Role::value);
  report::Reals& change = table.reals("change", Unit::share, Role::change);
  report::Reals& low = table.reals("change_low", Unit::share, Role::detail);
  report::Reals& high = table.reals("change_high", Unit::share, Role::detail);
  report::Reals& base_value = table.reals("base_value", Unit::none, Role::detail);
  report::Reals& new_value = table.reals("new_value", Unit::none, Role::detail);
  report::Reals& p = table.reals("p", Unit::none, Role::detail);
  report::Reals& corrected = table.reals("p_corrected", Unit::none, Role::detail);
  report::Ints& samples_base = table.ints("samples_base", Unit::count, Role::detail);
  report::Ints& samples_new = table.ints("samples_new", Unit::count, Role::detail);
  report::Texts& reason = table.texts("reason", Role::detail);
  for (const Check& check : gate.checks) {
    const auto relative = [&](double value) { return check.limit.relative ? value : report::kNoReal; };
    metric.push_back(metric_text(check.limit));
    limit.push_back(limit_text(check));
    outcome.emplace_back(name_of(check.outcome));
    base.push_back(check.samples_base > 0 ? report::format_value(check.base, check.unit) : "");
    now.push_back(check.samples_now > 0 ? report::format_value(check.now, check.unit) : "");
    change.push_back(check.base > 0 && check.samples_now > 0 ? check.now / check.base - 1 : report::kNoReal);
    low.push_back(relative(check.low));
    high.push_back(relative(check.high));
    base_value.push_back(check.base);
    new_value.push_back(check.now);
    p.push_back(check.p);
    corrected.push_back(check.corrected);
    samples_base.push_back(static_cast<std::int64_t>(check.samples_base));
    samples_new.push_back(static_cast<std::int64_t>(check.samples_now));
    reason.push_back(check.reason);
  }
  return table;
}

}  // namespace

report::Report as_report(const Gate& gate) {
  report::Report report{"gate", {}, {}, "whether NEW may follow BASE"};
  Table verdict{std::string(report::kComparison), report::Shape::table, {}};
  verdict.texts("headline", Role::value).push_back(headline(gate));
  verdict.texts("outcome", Role::detail).emplace_back(name_of(gate.outcome()));
  report.tables.push_back(std::move(verdict));
  report.tables.push_back(checks_table(gate));
  report.notes = gate.not_comparable;
  report.notes.insert(report.notes.end(), gate.notes.begin(), gate.notes.end());
  return report;
}

}  // namespace stepscope::compare
