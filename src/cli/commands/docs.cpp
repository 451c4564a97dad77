#include <fmt/format.h>

#include <optional>
#include <utility>

#include "advise/analyses.h"
#include "advise/health.h"
#include "advise/rules/constants.h"
#include "advise/rules/rules.h"
#include "cli/help.h"
#include "cli/present.h"

namespace stepscope::cli {
namespace {

void put_analysis(std::string& out, const analyze::Analysis& analysis) {
  out += fmt::format("\n### {}\n\n{}.\n", analysis.name, analysis.one_line);
  if (!analysis.doc.empty()) out += fmt::format("\n{}\n", analysis.doc);
  if (!analysis.params.empty()) out += "\nIts own options:\n\n";
  for (const report::ParamSpec& spec : analysis.params)
    out += fmt::format("- `{}`: {}\n", spelled(Flag{spec}), spec.help);
}

std::string page_of_analyses() {
  std::string out =
      "# Analyses\n\nThis page is printed by `stepscope docs analyses`. `stepscope show NAME TRACE` runs one "
      "analysis.\n\n| question | analysis | answers |\n|---|---|---|\n";
  for (const auto& [topic, question] : analyze::kTopics) {
    std::string_view first = question;
    for (const analyze::Analysis* analysis : advise::analyses_of(topic))
      out += fmt::format("| {} | [`{}`](#{}) | {} |\n", std::exchange(first, ""), analysis->name,
                         analysis->name, analysis->one_line);
  }
  out += "\nEvery analysis has these options:\n\n";
  for (const report::ParamSpec& spec : report::common_params())
    out += fmt::format("- `{}`: {}\n", spelled(Flag{spec}), spec.help);
  out +=
      "\nTimes are nanoseconds, sizes bytes, shares 0 … 1. With several ranks most tables begin with the "
      "column `rank`. An empty cell means unknown.\n";
  for (const auto& [topic, question] : analyze::kTopics) {
    out += fmt::format("\n## {}\n", question);
    for (const analyze::Analysis* analysis : advise::analyses_of(topic)) put_analysis(out, *analysis);
  }
  return out;
}

void put_command(std::string& out, const Command& command) {
  out += fmt::format("\n## {}\n\n`stepscope {}{}{}{}`: {}.\n\n{}\n", command.name, command.name,
                     command.flags.empty() ? "" : " [OPTIONS]", command.usage.empty() ? "" : " ",
                     command.usage, command.one_line, command.about);
  const std::vector<Flag> flags = flags_of(command, nullptr);
  if (!flags.empty()) out += '\n';
  for (const Flag& flag : flags) out += fmt::format("- `{}`: {}\n", spelled(flag), flag.spec.help);
  if (command.examples.empty()) return;
  out += "\n```sh\n";
  for (const std::string_view example : command.examples) out += fmt::format("{}\n", example);
  out += "```\n";
}

std::string page_of_commands() {
  std::string out =
      "# Commands\n\nThis page is printed by `stepscope docs commands`. `stepscope COMMAND --help` prints "
      "the same.\n\n| command | does |\n|---|---|\n";
  for (const Command& command : commands())
    if (!command.hidden)
      out += fmt::format("| [`{}`](#{}) | {} |\n", command.name, command.name, command.one_line);
  out +=
      "\nTRACE is a file (`.json`, `.json.gz`, `.stepscope`), a directory of them, or `-` for standard "
      "input. Several are the ranks of one job. [Traces](traces.md) has the details.\n\nExit codes: 0 done, "
      "1 failed, 2 wrong usage. `gate` has its own.\n";
  for (const Command& command : commands())
    if (!command.hidden) put_command(out, command);
  return out;
}

std::string page_of_advice() {
  std::string out =
      "# Advice\n\nThis page is printed by `stepscope docs advice`. `stepscope report TRACE` runs every "
      "rule; `stepscope explain ID TRACE` shows what a rule read and why it fired or stayed silent. A rule "
      "reads the answers of [analyses](analyses.md), never the trace. Most savings are the difference of "
      "two replays (`whatif`), without and with the rule's change. If recording itself visibly slowed the "
      "host (Q05), the range also covers the difference of two replays with the host faster by that much. "
      "Rules that rely on device events stay silent when the recording's health forbids them.\n";
  std::optional<report::Category> category;
  for (const advise::Rule& rule : advise::rules()) {
    if (category_of(rule.id) != category)
      out += fmt::format("\n## {}\n", name_of(*(category = category_of(rule.id))));
    out += fmt::format("\n### {}: {}\n", name_of(rule.id), rule.one_line);
    out += fmt::format("\n{}\n", rule.doc.text);
  }
  out += "\n## Constants\n\n| constant | value | meaning | source |\n|---|---|---|---|\n";
  for (const advise::Constant& c : advise::kConstants)
    out += fmt::format("| `{}` | {} | {} | {} |\n", c.name, c.value, c.meaning, c.source);
  out +=
      "\n## Health of the recording\n\nChecked before any rule. Class A blocks the conclusions it "
      "names, B may lower confidence, C informs.\n\n| id | meaning |\n|---|---|\n";
  for (const advise::HealthRule& row : advise::health_rules())
    out += fmt::format("| {} | {} |\n", name_of(row.id), row.one_line);
  return out;
}

}  // namespace

int run_docs(const Call& call) {
  const std::string page = call.words.size() == 1 ? call.words.front() : "";
  if (page == "analyses") return put(call, page_of_analyses());
  if (page == "advice") return put(call, page_of_advice());
  if (page == "commands") return put(call, page_of_commands());
  return misuse(call, "docs prints one page: analyses, advice or commands");
}

}  // namespace stepscope::cli
