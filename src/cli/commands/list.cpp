#include <fmt/format.h>

#include "advise/analyses.h"
#include "cli/present.h"
#include "cli/terminal.h"
#include "report/utf8.h"

namespace stepscope::cli {
namespace {

report::Report as_report() {
  report::Report report{"list", {}, {}};
  report::Table table{"Analyses", report::Shape::table, {}};
  auto& name = table.texts("name");
  auto& answers = table.texts("answers", report::Role::value);
  auto& options = table.texts("options", report::Role::detail);
  for (const analyze::Analysis& analysis : advise::all_analyses()) {
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

std::string as_text(int columns) {
  std::size_t widest = 0;
  for (const analyze::Analysis& analysis : advise::all_analyses())
    widest = std::max(widest, analysis.name.size());
  std::string out;
  for (const analyze::Analysis& analysis : advise::all_analyses()) {
    const auto lines = report::wrapped(analysis.one_line, columns - static_cast<int>(widest) - 4);
    for (std::size_t i = 0; i < lines.size(); ++i)
      out += fmt::format("  {:<{}}  {}\n", i == 0 ? analysis.name : "", widest, lines[i]);
  }
  return out + "\nstepscope show NAME TRACE runs one; stepscope show NAME --help explains it.\n";
}

}  // namespace

int run_list(const Call& call) {
  if (!call.words.empty()) return misuse(call, "list takes no trace");
  return format_of(call) == "text" ? put(call, as_text(width(call.environment))) : print(call, as_report());
}

}  // namespace stepscope::cli
