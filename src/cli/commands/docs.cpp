#include <fmt/format.h>

#include <optional>

#include "advise/analyses.h"
#include "advise/health.h"
#include "advise/rules/constants.h"
#include "advise/rules/rules.h"
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
  for (const analyze::Analysis& analysis : advise::all_analyses()) {
    out += fmt::format("\n## {}\n\n{}.\n", analysis.name, analysis.one_line);
    if (!analysis.doc.empty()) out += fmt::format("\n{}\n", analysis.doc);
    if (!analysis.params.empty()) out += "\nOptions of its own:\n\n";
    for (const report::ParamSpec& spec : analysis.params)
      out += fmt::format("- `{}`: {}\n", spelled(Flag{spec}), spec.help);
  }
  return out;
}

std::string page_of_advice() {
  std::string out =
      "# Advice\n\nThis page is printed by `stepscope docs advice`. `stepscope report TRACE` runs every "
      "rule; "
      "`stepscope explain ID TRACE` shows what one read and why it fired or stayed silent. A rule reads the "
      "answers of [analyses](analyses.md), never the trace. Its saving is a difference of replays "
      "(`whatif`): "
      "without a change, and with the change that it names. Where recording itself slowed the host visibly "
      "(Q05), the range also holds the difference of two replays whose host is as much faster. What is drawn "
      "from device events is silent when "
      "the recording's health forbids it.\n";
  std::optional<report::Category> category;
  for (const advise::Rule& rule : advise::rules()) {
    if (category_of(rule.id) != category)
      out += fmt::format("\n## {}\n", name_of(*(category = category_of(rule.id))));
    out += fmt::format("\n### {}: {}\n", name_of(rule.id), rule.one_line);
    if (!rule.doc.empty()) out += fmt::format("\n{}\n", rule.doc);
  }
  out += "\n## Constants\n\n| constant | value | meaning | source |\n|---|---|---|---|\n";
  for (const advise::Constant& c : advise::kConstants)
    out += fmt::format("| `{}` | {} | {} | {} |\n", c.name, c.value, c.meaning, c.source);
  out +=
      "\n## Health of the recording\n\nAsked before any rule. Class A stops the conclusions that it names, B "
      "lowers confidence, C informs.\n\n| id | says |\n|---|---|\n";
  for (const advise::HealthRule& row : advise::health_rules())
    out += fmt::format("| {} | {} |\n", name_of(row.id), row.one_line);
  return out;
}

}  // namespace

int run_docs(const Call& call) {
  const std::string page = call.words.size() == 1 ? call.words.front() : "";
  if (page == "analyses") return put(call, page_of_analyses());
  if (page == "advice") return put(call, page_of_advice());
  return misuse(call, "docs prints one page: analyses or advice");
}

}  // namespace stepscope::cli
