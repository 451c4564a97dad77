// Checks of questions as people type them, at a shell or in Python, with the same sentences everywhere.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/analyses.h"
#include "base/result.h"
#include "report/params.h"
#include "report/table.h"

namespace stepscope::advise {

/// The error is a sentence. For the name of another tool's form, it names the analysis to ask.
Result<const analyze::Analysis*> analysis_named(std::string_view name);

/// One of another tool's answers, found by its name in that tool.
struct FormNamed {
  const analyze::Analysis* question;
  const analyze::Form* form;
};
std::optional<FormNamed> form_named(analyze::Tool tool, std::string_view name);

/// The params of an analysis: those that all have, and its own.
std::vector<report::ParamSpec> with_common(std::span<const report::ParamSpec> own);
/// Those of a page: step, top.
std::vector<report::ParamSpec> page_params();
/// Those of an explanation: step.
std::vector<report::ParamSpec> step_params();

/// One sentence if `params` cannot be answered: an id is missing, a change to replay is misspelt, or two
/// tools are asked for; else "".
std::string unanswerable(const analyze::Analysis& analysis, const report::Params& params);

/// One sentence if "sort" names no column of the report, else "".
std::string sort_misfit(const report::Params& params, const report::Report& report);

/// One sentence if the range or event that `params` name was not found, else "".
std::string not_found(const analyze::Analysis& analysis, const report::Params& params,
                      const report::Report& report);

}  // namespace stepscope::advise
