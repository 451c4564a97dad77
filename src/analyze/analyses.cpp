#include "analyze/analyses.h"

#include "analyze/list.h"

namespace stepscope::analyze {

std::span<const Analysis> all() {
#define STEPSCOPE_ENTRY(name, one_line) {#name, one_line, name##_about.doc, name##_about.params, name},
  static const Analysis kAll[] = {STEPSCOPE_ANALYSES(STEPSCOPE_ENTRY)};
#undef STEPSCOPE_ENTRY
  return kAll;
}

const Analysis* find(std::string_view name) {
  for (const Analysis& analysis : all())
    if (analysis.name == name) return &analysis;
  return nullptr;
}

report::Report run(const Analysis& analysis, const trace::Trace& trace, const report::Params& params) {
  report::Report report = analysis.run(trace, params);
  const auto top = static_cast<std::size_t>(params.integer("top"));
  const std::string_view sort = params.text("sort");
  for (report::Table& table : report.tables) {
    if (sort.empty()) report::cut(table, top);
    else if (!report::sort_and_cut(table, sort, top)) report::cut(table, top);
  }
  return report;
}

}  // namespace stepscope::analyze
