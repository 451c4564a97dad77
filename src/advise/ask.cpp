#include "advise/ask.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/analyses.h"
#include "analyze/list.h"
#include "analyze/replay/scale.h"
#include "report/suggest.h"

namespace stepscope::advise {

Result<const analyze::Analysis*> analysis_named(std::string_view name) {
  if (const analyze::Analysis* analysis = find_analysis(name)) return analysis;
  std::vector<std::string> names;
  for (const analyze::Analysis& known : all_analyses()) names.emplace_back(known.name);
  const std::string near = report::did_you_mean(name, names);
  for (const analyze::Tool tool : {analyze::Tool::tensorboard_plugin, analyze::Tool::hta})
    if (const auto found = form_named(tool, name))
      return Error{fmt::format("'{0}' is another tool's name for '{1}': ask {1} with --{2}.{3}", name,
                               found->question->name, analyze::flag_of(tool).name, near),
                   ""};
  return Error{fmt::format("there is no analysis '{}'.{}", name, near), ""};
}

std::optional<FormNamed> form_named(analyze::Tool tool, std::string_view name) {
  for (const analyze::Analysis& analysis : analyze::all())
    for (const analyze::Form& form : analysis.forms)
      if (form.tool == tool && form.name == name) return FormNamed{&analysis, &form};
  return std::nullopt;
}

namespace {

std::vector<report::ParamSpec> common_params(std::initializer_list<std::string_view> names) {
  std::vector<report::ParamSpec> specs;
  for (const report::ParamSpec& spec : report::common_params())
    if (std::ranges::find(names, spec.name) != names.end()) specs.push_back(spec);
  return specs;
}

}  // namespace

std::vector<report::ParamSpec> with_common(std::span<const report::ParamSpec> own) {
  const std::span<const report::ParamSpec> common = report::common_params();
  std::vector<report::ParamSpec> specs(common.begin(), common.end());
  specs.insert(specs.end(), own.begin(), own.end());
  return specs;
}

std::vector<report::ParamSpec> page_params() { return common_params({"step", "top"}); }

std::vector<report::ParamSpec> step_params() { return common_params({"step"}); }

std::string unanswerable(const analyze::Analysis& analysis, const report::Params& params) {
  if (!analyze::answers_alone(analysis) && !params.has("id"))
    return fmt::format("show {} needs --id N, a position in the file's list of events", analysis.name);
  if (analysis.about == &analyze::whatif_about && params.has("scale"))
    if (const auto scales = analyze::parse_scales(params.text("scale")); !scales)
      return "--scale: " + scales.error().message;
  const auto asks = [&](const analyze::Form& form) { return params.flag(analyze::flag_of(form.tool).name); };
  const auto first = std::find_if(analysis.forms.begin(), analysis.forms.end(), asks);
  const auto other = std::find_if(first, analysis.forms.end(), [&](const analyze::Form& form) {
    return form.tool != first->tool && asks(form);
  });
  if (first == analysis.forms.end() || other == analysis.forms.end()) return "";
  return fmt::format("--{} and --{} give the numbers of two tools: ask for one of them",
                     analyze::flag_of(first->tool).name, analyze::flag_of(other->tool).name);
}

std::string sort_misfit(const report::Params& params, const report::Report& report) {
  const std::string_view wanted = params.text("sort");
  if (wanted.empty() || report.tables.empty()) return "";
  std::vector<std::string> names;
  for (const report::Table& table : report.tables) {
    if (table.column(wanted) != nullptr) return "";
    for (const report::Column& c : table.columns) names.push_back(c.name);
  }
  std::string all;
  for (const report::Column& c : report.tables.front().columns) all += (all.empty() ? "" : ", ") + c.name;
  return fmt::format("--sort: there is no column '{}'.{} The columns are {}.", wanted,
                     report::did_you_mean(wanted, names), all);
}

std::string not_found(const analyze::Analysis& analysis, const report::Params& params,
                      const report::Report& report) {
  const bool a_range = (params.has("annotation") || params.has("instance")) &&
                       !analyze::tool_asked(analysis, params);  // HTA's form does not stop here
  const bool told = a_range || !analyze::answers_alone(analysis);
  return told && report.tables.front().rows() == 0 && !report.notes.empty() ? report.notes.front() : "";
}

}  // namespace stepscope::advise
