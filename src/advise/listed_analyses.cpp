#include "advise/listed_analyses.h"

#include <fmt/format.h>

#include "advise/analyses.h"

namespace stepscope::advise {

report::Report listed_analyses() {
  report::Report report{"list", {}, {}};
  report::Table table{"Analyses", report::Shape::table, {}};
  auto& name = table.texts("name");
  auto& answers = table.texts("answers", report::Role::value);
  auto& options = table.texts("options", report::Role::detail);
  for (const analyze::Analysis& analysis : all_analyses()) {
    name.emplace_back(analysis.name);
    answers.emplace_back(analysis.one_line);
    std::string flags;
    for (const report::ParamSpec& spec : analysis.params)
      flags += fmt::format("{}--{}", flags.empty() ? "" : " ", spec.name);
    options.push_back(flags);
  }
  report.tables.push_back(std::move(table));
  return report;
}

}  // namespace stepscope::advise
