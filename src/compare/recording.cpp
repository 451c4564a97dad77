#include "compare/recording.h"

#include <algorithm>
#include <numeric>

#include "analyze/analyses.h"
#include "report/units.h"

namespace stepscope::compare {
namespace {

/// The parts and the length of every step, from the rows of the analysis `steps`: a row per rank and step, in
/// their order.
void read_parts(const trace::Trace& trace, Recording& out) {
  const report::Report report = analyze::run(*analyze::find("steps"), trace, {});
  const report::Table& table = report.tables.front();
  std::vector<std::size_t> first_row(1, 0);
  for (const trace::Rank& rank : trace.ranks) first_row.push_back(first_row.back() + rank.steps.size());
  const auto ranks = static_cast<double>(trace.ranks.size());
  const auto mean = [&](const report::Column& column, const CountedStep& step) {
    double sum = 0;
    for (std::size_t rank = 0; rank < step.spans.size(); ++rank)
      sum += report::number_at(column, first_row[rank] + step.spans[rank].index);
    return sum / ranks;
  };
  for (const report::Column& column : table.columns) {
    if (column.role != report::Role::value || column.unit != report::Unit::ns) continue;
    std::vector<double> time;
    for (const CountedStep& step : out.counted.steps) time.push_back(mean(column, step));
    if (column.name == "total")
      out.mean_step = std::move(time);
    else
      out.parts.push_back({column.name, std::move(time)});
  }
}

}  // namespace

double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> grouped(const std::vector<double>& values, std::size_t most) {
  const std::size_t n = values.size(), groups = std::min(n, most);
  std::vector<double> out(groups);
  std::vector<double> size(groups);
  for (std::size_t i = 0; i < n; ++i) {
    out[i * groups / n] += values[i];
    ++size[i * groups / n];
  }
  for (std::size_t g = 0; g < groups; ++g) out[g] /= size[g];
  return out;
}

Recording recording_of(const trace::Trace& trace, CountedSteps counted) {
  Recording out;
  out.counted = std::move(counted);
  if (out.counted.steps.empty()) return out;
  read_parts(trace, out);
  for (const CountedStep& step : out.counted.steps) {
    std::int64_t slowest = 0;
    for (const analyze::StepSpan& span : step.spans) slowest = std::max(slowest, span.span.length());
    out.step.push_back(static_cast<double>(slowest));
  }
  return out;
}

}  // namespace stepscope::compare
