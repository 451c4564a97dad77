#include "compare/analysis_difference.h"

#include <algorithm>

#include "analyze/derived.h"
#include "base/parallel.h"

namespace stepscope::compare {
namespace {

constexpr std::size_t kMaxAskedSteps = 12;

/// Numbers of the steps to ask about; empty: the whole recording.
std::vector<std::string> asked_steps(const CountedSteps& counted) {
  std::vector<std::string> out;
  if (!counted.marked) return out;
  const std::size_t n = counted.steps.size(), most = std::min(n, kMaxAskedSteps);
  for (std::size_t i = 0; i < most; ++i) out.push_back(std::to_string(counted.steps[i * n / most].number));
  return out;
}

TableSamples* one_like(std::vector<TableSamples>& tables, const report::Table& table) {
  const auto found =
      std::ranges::find_if(tables, [&](const TableSamples& one) { return alike(one.shape(), table); });
  return found == tables.end() ? nullptr : &*found;
}

void add_tables(const report::Report& report, std::vector<TableSamples>& tables) {
  for (const report::Table& table : report.tables) {
    if (table.rows() == 0 || !joins(table)) continue;
    TableSamples* into = one_like(tables, table);
    (into != nullptr ? *into : tables.emplace_back()).add(table);
  }
}

}  // namespace

AnswersPerStep answers_per_step(const trace::Trace& trace, const CountedSteps& counted,
                                const std::vector<const analyze::Analysis*>& asked, unsigned threads) {
  const std::vector<std::string> steps = asked_steps(counted);
  AnswersPerStep out;
  out.steps = std::max<std::size_t>(1, steps.size());
  std::vector<std::vector<report::Report>> reports(out.steps);
  parallel_for(out.steps, threads, [&](std::size_t i) {
    report::Params params;
    if (!steps.empty()) params.set("step", steps[i]);
    const analyze::Derived derived(trace, params);
    for (const analyze::Analysis* analysis : asked)
      reports[i].push_back(analyze::run(*analysis, derived, params));
  });
  out.tables.resize(asked.size());
  for (const std::vector<report::Report>& of_step : reports)
    for (std::size_t i = 0; i < asked.size(); ++i) add_tables(of_step[i], out.tables[i]);
  return out;
}

std::vector<const analyze::Analysis*> comparable_analyses() {
  std::vector<const analyze::Analysis*> out;
  for (const analyze::Analysis& analysis : analyze::all())
    if (analysis.in_report && analyze::answers_alone(analysis)) out.push_back(&analysis);
  return out;
}

std::vector<report::Report> analysis_differences(const trace::Trace& a, const trace::Trace& b,
                                                 const Pair& recordings,
                                                 const std::vector<const analyze::Analysis*>& asked,
                                                 unsigned threads) {
  AnswersPerStep of_a = answers_per_step(a, recordings.a.counted, asked, threads),
                 of_b = answers_per_step(b, recordings.b.counted, asked, threads);
  const double step = mean_of(recordings.a.step);
  const TableSamples none;
  std::vector<report::Report> out;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    report::Report report{std::string(asked[i]->name), {}, {}, std::string(asked[i]->one_line)};
    const auto add = [&](const TableSamples& of_table_a, const TableSamples& of_table_b) {
      report.tables.push_back(difference(of_table_a, of_table_b, of_a.steps, of_b.steps, step));
    };
    for (const TableSamples& table : of_a.tables[i]) {
      const TableSamples* same = one_like(of_b.tables[i], table.shape());
      add(table, same == nullptr ? none : *same);
    }
    for (const TableSamples& table : of_b.tables[i])
      if (one_like(of_a.tables[i], table.shape()) == nullptr) add(none, table);
    if (!report.tables.empty()) out.push_back(std::move(report));
  }
  return out;
}

}  // namespace stepscope::compare
