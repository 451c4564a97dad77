// Questions as people type them, at a shell or in Python: why one makes no sense, in the same sentence
// everywhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/analyses.h"
#include "base/result.h"
#include "report/params.h"
#include "report/table.h"

namespace stepscope::advise {

/// Or a sentence; of another tool's form it names the question to ask.
Result<const analyze::Analysis*> analysis_named(std::string_view name);

/// One of another tool's answers, by its name there.
struct FormNamed {
  const analyze::Analysis* question;
  const analyze::Form* form;
};
std::optional<FormNamed> form_named(analyze::Tool tool, std::string_view name);

/// Of an option that is none of `known`, all with their dashes.
std::string no_such_option(std::string_view typed, const std::vector<std::string>& known);

/// One sentence if `params` cannot be answered: an id is missing, or two tools are asked for; else "".
std::string unanswerable(const analyze::Analysis& analysis, const report::Params& params);

/// One sentence when "sort" names no column of the report, or "".
std::string sort_misfit(const report::Params& params, const report::Report& report);

/// One sentence when the report found nothing of what it was told to look at, or "".
std::string not_found(const analyze::Analysis& analysis, const report::Params& params,
                      const report::Report& report);

}  // namespace stepscope::advise
