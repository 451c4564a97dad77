// Every analysis there is, in one visible array. CLI, HTTP, Python, the web menu and docs/analyses.md all
// read it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/params.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::analyze {

class Derived;

/// What an analysis says of itself, beside its code.
struct About {
  std::string_view
      doc;  ///< definitions in Markdown: each column's numerator, denominator, unit, what is excluded
  std::span<const report::ParamSpec> params;  ///< its own; report::common_params() come on top
  bool in_report = true;                      ///< false: too long for a page that shows everything
};

struct Analysis {
  std::string_view name;      ///< as typed by people, snake_case
  std::string_view one_line;  ///< what it answers
  std::string_view doc;
  std::span<const report::ParamSpec> params;
  report::Report (*run)(const Derived&, const report::Params&);
  bool in_report = true;
};

std::span<const Analysis> all();

/// False for an analysis that must be told what to look at (a param named "id").
bool answers_alone(const Analysis& analysis);

/// nullptr if there is none of that name.
const Analysis* find(std::string_view name);

/// A sentence when `--step` names a step that no rank has, else "".
std::string absent_step(const trace::Trace& trace, const report::Params& params);

/// Runs and applies the common params (sort, top). The analysis itself handles `step`.
report::Report run(const Analysis& analysis, const trace::Trace& trace, const report::Params& params);
/// The same; what other analyses that were asked with `derived` have derived is not derived again.
report::Report run(const Analysis& analysis, const Derived& derived, const report::Params& params);

}  // namespace stepscope::analyze
