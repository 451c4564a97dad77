#include <fmt/format.h>

#include "cli/help.h"
#include "cli/present.h"

namespace stepscope::cli {
namespace {

std::string page_of_analyses() {
  std::string out =
      "# Analyses\n\nThis page is printed by `stepscope docs analyses`. Each analysis answers one question; "
      "`stepscope show NAME TRACE` runs it.\n\nEvery analysis has these options:\n\n";
  for (const report::ParamSpec& spec : report::common_params())
    out += fmt::format("- `{}`: {}\n", spelled(Flag{spec}), spec.help);
  out +=
      "\nTimes are nanoseconds, sizes bytes, shares 0 … 1. With several ranks every table begins with the "
      "column "
      "`rank`. An empty cell is not known.\n";
  for (const analyze::Analysis& analysis : analyze::all()) {
    out += fmt::format("\n## {}\n\n{}.\n", analysis.name, analysis.one_line);
    if (!analysis.doc.empty()) out += fmt::format("\n{}\n", analysis.doc);
    if (!analysis.params.empty()) out += "\nOptions of its own:\n\n";
    for (const report::ParamSpec& spec : analysis.params)
      out += fmt::format("- `{}`: {}\n", spelled(Flag{spec}), spec.help);
  }
  return out;
}

}  // namespace

int run_docs(const Call& call) {
  if (call.words != std::vector<std::string>{"analyses"})
    return misuse(call, "docs prints one page: analyses");
  return put(call, page_of_analyses());
}

}  // namespace stepscope::cli
