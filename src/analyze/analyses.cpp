#include "analyze/analyses.h"

#include <set>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/texts.h"

namespace stepscope::analyze {

namespace {

template <report::Report (*answer)(const Derived&, const report::Params&)>
report::Report answered(const Derived& derived, const report::Params& params) {
  return answer(derived, params);
}
template <report::Report (*answer)(const trace::Trace&, const report::Params&)>
report::Report answered(const Derived& derived, const report::Params& params) {
  return answer(derived.trace(), params);
}

}  // namespace

std::span<const Analysis> all() {
#define STEPSCOPE_ENTRY(topic, name, one_line) \
  {name##_about, Topic::topic, #name, one_line, texts::name, answered<name>},
  static const Analysis kAll[] = {STEPSCOPE_ANALYSES(STEPSCOPE_ENTRY, STEPSCOPE_ENTRY)};
#undef STEPSCOPE_ENTRY
  return kAll;
}

bool answers_alone(const Analysis& analysis) {
  for (const report::ParamSpec& spec : analysis.params)
    if (spec.name == "id") return false;
  return true;
}

const Analysis* find(std::string_view name) {
  for (const Analysis& analysis : all())
    if (analysis.name == name) return &analysis;
  return nullptr;
}

std::string absent_step(const trace::Trace& trace, const report::Params& params) {
  const StepChoice choice(params);
  if (choice.all()) return "";
  std::set<std::int64_t> numbers;
  for (const trace::Rank& rank : trace.ranks) {
    for (const trace::Step& step : rank.steps) {
      if (choice.includes(step)) return "";
      if (step.row != trace::kNoRow) numbers.insert(step.number);
    }
  }
  std::string has;
  for (auto number = numbers.begin(); number != numbers.end() && has.size() < 60; ++number)
    has += (has.empty() ? "" : ", ") + std::to_string(*number);
  return "The trace has no step " + std::string(params.text("step")) +
         (has.empty() ? "; no steps are marked in it." : "; it has " + has + ".");
}

namespace {

std::string columns_of(const report::Report& report) {
  std::string names;
  for (const report::Table& table : report.tables)
    for (const report::Column& column : table.columns)
      if (names.find(column.name) == std::string::npos) names += (names.empty() ? "" : ", ") + column.name;
  return names;
}

}  // namespace

report::Report run(const Analysis& analysis, const trace::Trace& trace, const report::Params& params) {
  const Derived derived(trace, params);
  return run(analysis, derived, params);
}

report::Report run(const Analysis& analysis, const Derived& derived, const report::Params& params) {
  report::Report report = analysis.run(derived, params);
  finish(analysis, derived.trace(), params, report);
  return report;
}

void finish(const Analysis& analysis, const trace::Trace& trace, const report::Params& params,
            report::Report& report) {
  report.question = analysis.one_line;
  if (std::string absent = absent_step(trace, params); !absent.empty())
    report.notes.push_back(std::move(absent));
  const auto top = static_cast<std::size_t>(params.integer("top"));
  const std::string_view sort = params.text("sort");
  bool sorted = sort.empty();
  for (report::Table& table : report.tables) {
    if (!sort.empty() && report::sort_and_cut(table, sort, top))
      sorted = true;
    else if (table.shape != report::Shape::curve)  // its first points are no ranking
      report::cut(table, top);
  }
  if (!sorted)
    report.notes.push_back("There is no column '" + std::string(sort) + "' to sort by; the columns are " +
                           columns_of(report) + ".");
}

}  // namespace stepscope::analyze
