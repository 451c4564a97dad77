#include "analyze/analyses.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/texts.h"
#include "base/check.h"

namespace stepscope::analyze {

namespace {

struct FormOf {
  const About* question;
  Form form;
};

/// In the order of their answers in a report.
const std::vector<FormOf>& all_forms() {
#define STEPSCOPE_TB_FORM(question, name) \
  {&question##_about, {Tool::tensorboard_plugin, #name, {}, tb::name}},
#define STEPSCOPE_HTA_FORM(question, name) \
  {&question##_about, {Tool::hta, #name, hta::name##_params, hta::name}},
  static const std::vector<FormOf> kForms = {STEPSCOPE_TB_FORMS(STEPSCOPE_TB_FORM)
                                                 STEPSCOPE_HTA_FORMS(STEPSCOPE_HTA_FORM)};
#undef STEPSCOPE_TB_FORM
#undef STEPSCOPE_HTA_FORM
  return kForms;
}

constexpr report::ParamSpec kHtaLastStep = {"hta-last-step", report::ParamSpec::Type::flag, "", "",
                                            "with --hta-compat: keep the last step, which HTA drops"};

/// The analysis' own params, the flags of the tools that have forms of it, and the params of these forms.
std::vector<report::ParamSpec> params_with(const Analysis& analysis) {
  static std::deque<std::string> texts;  // help texts; all() makes each once
  std::vector<report::ParamSpec> params(analysis.params.begin(), analysis.params.end());
  std::optional<Tool> last;
  for (const Form& form : analysis.forms) {
    if (form.tool != last) params.push_back(flag_of(form.tool));
    if (form.tool == Tool::hta && form.tool != last) params.push_back(kHtaLastStep);
    last = form.tool;
    for (report::ParamSpec spec : form.params) {
      spec.help = texts.emplace_back(fmt::format("with --{}: {}", flag_of(form.tool).name, spec.help));
      params.push_back(spec);
    }
  }
  return params;
}

Analysis with_forms(Analysis analysis) {
  static std::deque<std::vector<report::ParamSpec>> params;
  for (const FormOf& of : all_forms())
    if (of.question == analysis.about) analysis.forms.push_back(of.form);
  if (!analysis.forms.empty()) analysis.params = params.emplace_back(params_with(analysis));
  return analysis;
}

/// The answers of one tool's forms, concatenated; equal notes appear once.
report::Report answer_as(Tool tool, const Analysis& analysis, const Derived& derived,
                         const report::Params& params) {
  report::Report report{std::string(analysis.name), {}, {}};
  for (const Form& form : analysis.forms) {
    if (form.tool != tool) continue;
    report::Report part = form.run(derived, params);
    std::move(part.tables.begin(), part.tables.end(), std::back_inserter(report.tables));
    for (std::string& note : part.notes)
      if (std::find(report.notes.begin(), report.notes.end(), note) == report.notes.end())
        report.notes.push_back(std::move(note));
  }
  return report;
}

}  // namespace

std::span<const Analysis> all() {
#define STEPSCOPE_ENTRY(topic, name, one_line) \
  with_forms({name##_about, &name##_about, Topic::topic, #name, one_line, texts::name, name, {}}),
  static const Analysis kAll[] = {STEPSCOPE_ANALYSES(STEPSCOPE_ENTRY)};
#undef STEPSCOPE_ENTRY
  return kAll;
}

const Analysis& analysis_of(const About& about) {
  const auto found = std::find_if(all().begin(), all().end(),
                                  [&](const Analysis& analysis) { return analysis.about == &about; });
  CHECK(found != all().end());
  return *found;
}

const report::ParamSpec& flag_of(Tool tool) {
  using Type = report::ParamSpec::Type;
  static constexpr report::ParamSpec kFlags[] = {
      {"tb-compat", Type::flag, "", "", "the TensorBoard plugin's own numbers, including its defects"},
      {"hta-compat", Type::flag, "", "",
       "Holistic Trace Analysis' own numbers, including its defects: whole microseconds, classes by its name "
       "patterns"}};
  return kFlags[static_cast<std::size_t>(tool)];
}

std::optional<Tool> tool_asked(const Analysis& analysis, const report::Params& params) {
  for (const Form& form : analysis.forms)
    if (params.flag(flag_of(form.tool).name)) return form.tool;
  return std::nullopt;
}

bool answers_alone(const Analysis& analysis) { return analysis.about != &event_about; }

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
      if (step.counts()) numbers.insert(step.number);
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
  const std::optional<Tool> tool = tool_asked(analysis, params);
  report::Report report = tool ? answer_as(*tool, analysis, derived, params) : analysis.run(derived, params);
  finish(analysis, derived.trace(), params, report);
  return report;
}

report::Report run(const Analysis& analysis, const Form& form, const Derived& derived,
                   const report::Params& params) {
  report::Report report = form.run(derived, params);
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
    else if (table.shape != report::Shape::curve)  // the first points of a curve are not its largest
      report::cut(table, top);
  }
  if (!sorted)
    report.notes.push_back("There is no column '" + std::string(sort) + "' to sort by; the columns are " +
                           columns_of(report) + ".");
}

}  // namespace stepscope::analyze
