#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/markdown.h"
#include "report/utf8.h"

namespace stepscope::cli {
namespace {

std::string_view value_of(const Flag& flag) {
  if (!flag.value.empty()) return flag.value;
  switch (flag.spec.type) {
    case report::ParamSpec::Type::flag:
      return "";
    case report::ParamSpec::Type::steps:
      return "N|N-M";
    case report::ParamSpec::Type::integer:
      return "N";
    case report::ParamSpec::Type::percentage:
      return "PERCENT";
    case report::ParamSpec::Type::choice:
      return flag.spec.choices;
    default:
      return "TEXT";
  }
}

/// The width of help: long lines are hard to read.
int held(int columns) { return std::clamp(columns, 40, 100); }

void put_wrapped(std::string& out, const std::string& front, std::string_view text, std::size_t indent,
                 int columns) {
  const auto lines = report::wrapped(text, columns - static_cast<int>(indent));
  const bool own_line = front.size() + 2 > indent;
  out += own_line ? front + "\n" : fmt::format("{:<{}}", front, indent);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0 || own_line) out += std::string(indent, ' ');
    out += lines[i] + "\n";
  }
}

void put_flags(std::string& out, const std::vector<Flag>& flags, int columns) {
  const std::size_t indent = columns < 60 ? 8 : 28;
  if (flags.empty()) return;
  out += "\nOptions:\n";
  for (const Flag& flag : flags) {
    std::string text(flag.spec.help);
    if (flag.spec.type == report::ParamSpec::Type::choice && !flag.spec.fallback.empty())
      text += fmt::format(" (default: {})", flag.spec.fallback);
    std::string front = "  " + spelled(flag);
    if (report::cells_of(front) > columns) {
      front = fmt::format("  --{} NAME", flag.spec.name);
      std::string choices(flag.spec.choices);
      for (std::size_t at = 0; (at = choices.find('|', at)) != std::string::npos;)
        choices.replace(at, 1, ", ");
      text += ": " + choices;
    }
    put_wrapped(out, front, text, indent, columns);
  }
  put_wrapped(out, "  -h, --help", "print this text", indent, columns);
}

void put_examples(std::string& out, std::span<const std::string_view> examples) {
  if (examples.empty()) return;
  out += "\nExamples:\n";
  for (const std::string_view example : examples) out += fmt::format("  {}\n", example);
}

void put_paragraph(std::string& out, std::string_view text, int columns) {
  for (const std::string& line : report::wrapped(text, columns)) out += line + "\n";
}

}  // namespace

std::string spelled(const Flag& flag) {
  std::string out = flag.letter == 0 ? "" : fmt::format("-{}, ", flag.letter);
  out += fmt::format("--{}", flag.spec.name);
  const std::string_view value = value_of(flag);
  if (!value.empty()) out += fmt::format(" {}", value);
  return out;
}

std::string short_help() {
  return "stepscope says why a training or inference step is slow.\n\n"
         "  stepscope trace.json.gz                   what limits the step and what to change\n"
         "  stepscope show steps trace.json.gz        one analysis; `stepscope list` names them\n"
         "  stepscope report traces/ -o report.html   all ranks of a job, as a page to share\n\n"
         "A trace is what torch.profiler writes: export_chrome_trace(\"trace.json.gz\"). A memory snapshot\n"
         "(torch.cuda.memory._dump_snapshot(\"mem.pickle\")) is one, too: stepscope mem.pickle\n"
         "`stepscope --help` shows every command.\n";
}

std::string full_help(int columns) {
  columns = held(columns);
  std::string out = "Usage: stepscope [COMMAND] TRACE...\n\n";
  put_paragraph(
      out,
      "stepscope reads what torch.profiler recorded and says why a step is slow. TRACE is a file "
      "(.json, .json.gz), a directory of them, or - for standard input; several are the ranks of one job.",
      columns);
  out += "\nCommands:\n";
  for (const Command& command : commands())
    if (!command.hidden) put_wrapped(out, fmt::format("  {}", command.name), command.one_line, 14, columns);
  out += "\nOptions:\n";
  put_wrapped(out, "  -h, --help", "print this text; after a command, its help", 28, columns);
  put_wrapped(out, "  --version", "print the version", 28, columns);
  put_examples(out, find_command("report")->examples);
  out += '\n';
  put_paragraph(out,
                "Exit codes: 0 done, 1 failed, 2 wrong usage; for gate, 1 regression, 3 inconclusive. Colour "
                "is used on a terminal unless NO_COLOR is set.",
                columns);
  return out;
}

std::string help_of(const Command& command, const analyze::Analysis* analysis, int columns) {
  columns = held(columns);
  const std::string usage(analysis == nullptr ? command.usage : "TRACE...");
  const std::string name =
      analysis == nullptr ? std::string(command.name) : fmt::format("{} {}", command.name, analysis->name);
  std::string out;
  put_paragraph(out,
                fmt::format("Usage: stepscope {}{}{}{}", name, command.flags.empty() ? "" : " [OPTIONS]",
                            usage.empty() ? "" : " ", usage),
                columns);
  out += '\n';
  if (analysis != nullptr) {
    put_paragraph(out, fmt::format("{}: {}.", analysis->name, analysis->one_line), columns);
    if (analysis->doc.size() > 8) {
      out += '\n';
      out += plain_text(analysis->doc, columns);
    }
  } else {
    put_paragraph(out, command.about, columns);
  }
  put_flags(out, flags_of(command, analysis), columns);
  if (analysis == nullptr) put_examples(out, command.examples);
  return out;
}

}  // namespace stepscope::cli
