#include "compare/metric.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "analyze/analyses.h"
#include "base/text.h"
#include "compare/analysis_difference.h"
#include "report/suggest.h"

namespace stepscope::compare {
namespace {

using report::Unit;

struct UnitName {
  std::string_view name;
  double factor;
  Unit unit;
};
constexpr UnitName kUnits[] = {{"ns", 1, Unit::ns},
                               {"us", 1e3, Unit::ns},
                               {"µs", 1e3, Unit::ns},
                               {"ms", 1e6, Unit::ns},
                               {"s", 1e9, Unit::ns},
                               {"B", 1, Unit::bytes},
                               {"kB", 1e3, Unit::bytes},
                               {"MB", 1e6, Unit::bytes},
                               {"GB", 1e9, Unit::bytes},
                               {"KiB", 1024, Unit::bytes},
                               {"MiB", 1024.0 * 1024, Unit::bytes},
                               {"GiB", 1024.0 * 1024 * 1024, Unit::bytes},
                               {"", 1, Unit::none}};

constexpr std::string_view kForm =
    "write METRIC>LIMIT, e.g. step.total>5%, step.data_loader>10ms, "
    "'kernels.total[NAME]>3%'";

/// Reads the number and its unit; false if the text is anything else.
bool read_bound(std::string_view text, Limit& limit) {
  text = trimmed(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), limit.bound);
  if (error != std::errc{} || !(limit.bound > -1e18 && limit.bound < 1e18)) return false;
  const std::string_view unit = trimmed(text.substr(static_cast<std::size_t>(rest - text.data())));
  limit.relative = unit == "%";
  if (limit.relative) {
    limit.bound /= 100;
    return limit.bound > -1;
  }
  const auto* found = std::find_if(std::begin(kUnits), std::end(kUnits),
                                   [&](const UnitName& known) { return known.name == unit; });
  if (found == std::end(kUnits)) return false;
  limit.bound *= found->factor;
  limit.unit = found->unit;
  return true;
}

/// One sentence if the unit of an absolute limit does not fit `unit`, else "".
std::string unit_misfit(const Limit& limit, Unit unit) {
  const Unit wanted = unit == Unit::ns || unit == Unit::bytes ? unit : Unit::none;
  if (limit.relative || limit.unit == wanted) return "";
  const char* say = wanted == Unit::ns      ? "a time: use ns, us, ms or s"
                    : wanted == Unit::bytes ? "a size: use B, KiB, MiB or GiB"
                                            : "a plain number without a unit";
  return fmt::format("{}.{} is {}, or a percentage of BASE", limit.analysis, limit.column, say);
}

Error wrong(std::string_view text, const std::string& why) {
  return Error{fmt::format("--fail-on {}: {}", text, why), ""};
}

std::vector<std::string> names_of_parts() {
  std::vector<std::string> names = {"total"};
  for (const analyze::StepRole role : analyze::kStepColumns) names.emplace_back(name_of(role));
  return names;
}

/// One sentence when there is no such metric, else "".
std::string unknown(const Limit& limit) {
  if (limit.analysis == "step") {
    const std::vector<std::string> parts = names_of_parts();
    if (std::find(parts.begin(), parts.end(), limit.column) != parts.end()) return "";
    return fmt::format("a step has no part '{}'.{} It has {}", limit.column,
                       report::did_you_mean(limit.column, parts), fmt::join(parts, ", "));
  }
  std::vector<std::string> names = {"step"};
  for (const analyze::Analysis* analysis : comparable_analyses()) names.emplace_back(analysis->name);
  if (std::find(names.begin(), names.end(), limit.analysis) != names.end()) return "";
  return fmt::format("there is no analysis '{}' to compare.{} `stepscope list` names them", limit.analysis,
                     report::did_you_mean(limit.analysis, names));
}

/// The rows of the table whose `key` matches, as one key or as all keys joined by ", ". "": all rows.
std::vector<const TableSamples::Row*> rows_named(const TableSamples& table, const std::string& key) {
  std::vector<const TableSamples::Row*> out;
  for (const auto& [full, row] : table.rows()) {
    const std::string all = fmt::format("{}", fmt::join(row.keys, ", "));
    if (key.empty() || all == key || std::find(row.keys.begin(), row.keys.end(), key) != row.keys.end())
      out.push_back(&row);
  }
  return out;
}

/// The names in a table that `key` may have meant, as the end of a sentence; "" if there are none.
std::string near(const TableSamples& table, const std::string& key) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> all, found;
  for (const auto& [full, row] : table.rows())
    for (const std::string& name : row.keys) {
      all.push_back(name);
      if (name.find(key) != std::string::npos && found.size() < kNamed) found.push_back(name);
    }
  if (const std::string one = report::nearest(key, all); found.empty() && !one.empty()) found.push_back(one);
  return found.empty() ? "" : fmt::format("; a name must be exact, e.g. '{}'", fmt::join(found, "' or '"));
}

MetricValues samples_of_table(const Limit& limit, const TableSamples& table, std::size_t column) {
  MetricValues out;
  out.unit = compared_columns(table.shape())[column]->unit;
  out.wrong = unit_misfit(limit, out.unit);
  if (!out.wrong.empty()) return out;
  const auto rows = rows_named(table, limit.key);
  if (rows.empty())
    out.missing =
        fmt::format("no row '{}' in \"{}\"{}", limit.key, table.shape().title, near(table, limit.key));
  else if (rows.size() > 1)
    out.missing =
        fmt::format("{} rows of \"{}\" match; name one in brackets: {}.{}[KEY], or all its keys: [KEY, KEY]",
                    rows.size(), table.shape().title, limit.analysis, limit.column);
  else
    out.values = rows.front()->values[column];
  if (out.values.empty() && out.missing.empty()) out.missing = "the metric has no value";
  return out;
}

MetricValues samples_of_analysis(const Limit& limit, const trace::Trace& trace, const Recording& recording,
                                 unsigned threads) {
  const AnswersPerStep answers =
      answers_per_step(trace, recording.counted, {analyze::find(limit.analysis)}, threads);
  std::vector<std::string> columns;
  MetricValues last;
  for (const TableSamples& table : answers.tables.front()) {
    const auto numbers = compared_columns(table.shape());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (std::find(columns.begin(), columns.end(), numbers[i]->name) == columns.end())
        columns.push_back(numbers[i]->name);
      if (numbers[i]->name != limit.column) continue;
      MetricValues found = samples_of_table(limit, table, i);
      if (found.missing.empty() || !found.wrong.empty()) return found;
      if (last.missing.empty() || !rows_named(table, limit.key).empty()) last = std::move(found);
    }
  }
  if (!last.missing.empty()) return last;
  if (columns.empty()) return {{}, fmt::format("{} has no numbers", limit.analysis)};
  return {{},
          "the metric has no value",
          Unit::ns,
          fmt::format("{} has no column '{}'; it has {}", limit.analysis, limit.column,
                      fmt::join(columns, ", "))};
}

}  // namespace

Result<Limit> parse_limit(std::string_view text) {
  Limit limit;
  limit.text = std::string(trimmed(text));
  const std::string_view all = limit.text;
  const std::size_t close = all.rfind(']');  // kernel names contain < and >
  const std::size_t sign = all.find_first_of("<>", close == std::string_view::npos ? 0 : close);
  if (sign == std::string_view::npos) return wrong(text, std::string(kForm));
  limit.above = all[sign] == '>';
  if (!read_bound(all.substr(sign + 1), limit))
    return wrong(text,
                 fmt::format("'{}' is not a limit; write a number and %, ns, us, ms, s, B, KiB, MiB or GiB",
                             all.substr(sign + 1)));
  std::string_view metric = trimmed(all.substr(0, sign));
  if (const std::size_t open = metric.find('['); open != std::string_view::npos) {
    if (!metric.ends_with(']')) return wrong(text, "the bracket is not closed: " + std::string(kForm));
    limit.key = std::string(metric.substr(open + 1, metric.size() - open - 2));
    metric = metric.substr(0, open);
  }
  const std::size_t dot = metric.find('.');
  if (dot == std::string_view::npos) return wrong(text, std::string(kForm));
  limit.analysis = std::string(metric.substr(0, dot));
  limit.column = std::string(metric.substr(dot + 1));
  if (limit.analysis == "steps") limit.analysis = "step";
  if (const std::string why = unknown(limit); !why.empty()) return wrong(text, why);
  if (limit.analysis != "step") return limit;
  if (!limit.key.empty())
    return wrong(text, "a part of the step has no rows to choose from; --step chooses steps");
  if (const std::string why = unit_misfit(limit, Unit::ns); !why.empty()) return wrong(text, why);
  return limit;
}

MetricValues samples_of(const Limit& limit, const trace::Trace& trace, const Recording& recording,
                        unsigned threads) {
  if (limit.analysis != "step") return samples_of_analysis(limit, trace, recording, threads);
  if (recording.step.empty()) return {{}, "there is no whole step"};
  if (limit.column == "total") return {recording.step, ""};
  for (const PartOfStep& part : recording.parts)
    if (part.name() == limit.column) return {part.time, ""};
  return {{}, "the step has no such part"};
}

}  // namespace stepscope::compare
