#include "cli/args.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "advise/analyses.h"
#include "advise/ask.h"
#include "cli/exit.h"
#include "cli/help.h"
#include "cli/present.h"
#include "cli/terminal.h"
#include "read/files.h"
#include "report/given.h"
#include "report/suggest.h"

namespace stepscope::cli {
namespace {

using Words = std::vector<std::string>;
using Type = report::ParamSpec::Type;

/// The error when a recording is given twice or is the file that -o names, else "".
std::string inputs_misfit(const Call& call) {
  if (call.command->run == run_merge || call.command->run == run_attach || call.command->runs_program)
    return "";  // these check their own inputs
  std::vector<std::string> paths = call.words;
  for (const char* side : {"base", "new"})
    for (std::string& path : call.params.texts(side)) paths.push_back(std::move(path));
  if (std::count(paths.begin(), paths.end(), "-") > 1) return "-: standard input can be read only once";
  const auto files = read::files_of(paths, read::kReadable);
  if (!files) return "";
  const std::string taken =
      read::overwritten(*files, std::string(call.params.text("output")), "the trace itself");
  if (!taken.empty()) return taken + " with -o";
  if (call.command->run == run_diff || call.command->run == run_gate)
    return "";  // a recording may be on both sides
  const std::string twice = read::given_twice(*files);
  return twice.empty() ? "" : twice + ": is given twice; each recording counts once";
}

Environment environment() {
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string_view(text == nullptr ? "" : text);
  };
  Environment read;
  read.no_colour = !value("NO_COLOR").empty();
  read.dumb = value("TERM") == "dumb" || value("TERM").empty();
  report::Params columns;
  columns.set("columns", std::string(value("COLUMNS")));
  read.columns = static_cast<int>(std::clamp<std::int64_t>(columns.integer("columns"), 0, 1000));
  return read;
}

Answer wrong(const std::string& message, std::string_view more) {
  return {fmt::format("stepscope: {}\n{}\n", message, more), kUsage};
}

bool could_be_a_path(const std::string& word) {
  std::error_code error;
  return word == "-" || word.find_first_of("./") != std::string::npos || std::filesystem::exists(word, error);
}

bool asks_for_help(const Words& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& w) { return w == "--help" || w == "-h"; });
}

/// Removes the name of the analysis, the first word that is not a flag, from `words`.
/// memory-plan is memory_plan.
const analyze::Analysis* typed_analysis(std::string word) {
  std::replace(word.begin(), word.end(), '-', '_');
  return advise::find_analysis(word);
}

std::variant<const analyze::Analysis*, Answer> take_analysis(Words& words) {
  const auto known = std::find_if(words.begin(), words.end(),
                                  [](const std::string& w) { return typed_analysis(w) != nullptr; });
  if (known != words.end()) {
    const analyze::Analysis* analysis = typed_analysis(*known);
    words.erase(known);
    return analysis;
  }
  const auto word =
      std::find_if(words.begin(), words.end(), [](const std::string& w) { return !w.starts_with('-'); });
  if (word == words.end() || could_be_a_path(*word))
    return wrong(
        fmt::format("show needs an analysis: stepscope show steps {}", word == words.end() ? "TRACE" : *word),
        fmt::format("Instead of steps, give one of {}; `stepscope list` explains them.",
                    fmt::join(analysis_names(), ", ")));
  return wrong(advise::analysis_named(*word).error().message, "`stepscope list` shows them all.");
}

/// The flag that `word` names, whole or by its first part: "--top", "--top=3", "-o", "-oFILE". Null if none.
const Flag* flag_of(const std::vector<Flag>& flags, std::string_view word) {
  const bool is_long = word.starts_with("--");
  const std::string_view name = word.substr(0, word.find('=')).substr(is_long ? 2 : 1);
  const auto found = std::find_if(flags.begin(), flags.end(), [&](const Flag& flag) {
    return is_long ? flag.spec.name == name : flag.letter != 0 && flag.letter == word[1];
  });
  return found == flags.end() ? nullptr : &*found;
}

/// The value inside a flag's own word; nothing when the value is the next word.
std::optional<std::string> value_in(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (word.starts_with("--"))
    return equals == word.npos ? std::nullopt : std::optional(std::string(word.substr(equals + 1)));
  if (word.size() == 2) return std::nullopt;
  return std::string(word.substr(equals == 2 ? 3 : 2));
}

/// Splits `words` into the call's flags, with their values, and the call's words. Returns the error, else "".
std::string take_flags(const std::vector<Flag>& flags, const Words& words, Call& call) {
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (*word == "--") {  // no flags follow
      call.words.insert(call.words.end(), word + 1, words.end());
      break;
    }
    if (!word->starts_with('-') || *word == "-") {
      call.words.push_back(*word);
      continue;
    }
    const Flag* flag = flag_of(flags, *word);
    if (flag == nullptr) {
      Words known;
      for (const Flag& f : flags) known.push_back(fmt::format("--{}", f.spec.name));
      return report::no_such_option(word->substr(0, word->find('=')), known);
    }
    std::optional<std::string> value = value_in(*word);
    if (flag->spec.type == Type::flag) {
      if (value) return fmt::format("--{} takes no value", flag->spec.name);
      call.params.set(std::string(flag->spec.name), "true");
      continue;
    }
    if (value ? value->empty() : word + 1 == words.end())
      return fmt::format("--{} needs a value", flag->spec.name);
    if (!value) value = *++word;
    std::string reason = report::store(flag->spec, std::move(*value), call.params);
    if (!reason.empty()) return reason;
  }
  return "";
}

/// Removes the first -- and all after it from `words`; returns what followed the --.
Words take_program(Words& words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes == words.end()) return {};
  Words program(dashes + 1, words.end());
  words.erase(dashes, words.end());
  return program;
}

std::variant<Call, Answer> parse_command(const Command& command, Words words) {
  Call call;
  call.command = &command;
  call.environment = environment();
  if (command.runs_program) call.program = take_program(words);
  const bool help = asks_for_help(words);
  if (command.run == run_show) {
    auto found = take_analysis(words);
    if (help && std::holds_alternative<Answer>(found))
      return Answer{help_of(command, nullptr, width(environment())), kDone};
    if (auto* answer = std::get_if<Answer>(&found)) return *answer;
    call.analysis = std::get<const analyze::Analysis*>(found);
  }
  const std::string more =
      fmt::format("`stepscope {}{} --help` explains it.", command.name,
                  call.analysis == nullptr ? "" : " " + std::string(call.analysis->name));
  if (help) return Answer{help_of(command, call.analysis, width(call.environment)), kDone};
  std::string reason = take_flags(flags_of(command, call.analysis), words, call);
  if (reason.empty()) reason = ending_misfit(call);
  if (reason.empty()) reason = inputs_misfit(call);
  if (!reason.empty()) return wrong(reason, more);
  return call;
}

Answer help_on(const Words& words) {
  if (words.size() < 2) return {full_help(width(environment())), kDone};
  if (const Command* command = find_command(words[1])) {
    const analyze::Analysis* analysis = words.size() > 2 ? typed_analysis(words[2]) : nullptr;
    return {help_of(*command, analysis, width(environment())), kDone};
  }
  if (const analyze::Analysis* analysis = typed_analysis(words[1]))
    return {help_of(*find_command("show"), analysis, width(environment())), kDone};
  return wrong(
      fmt::format("there is no command '{}'.{}", words[1], report::did_you_mean(words[1], command_names())),
      "`stepscope --help` shows them all.");
}

}  // namespace

std::variant<Call, Answer> parse(int argc, const char* const* argv) {
  Words words(argv + 1, argv + argc);
  if (argc > 0 && std::filesystem::path(argv[0]).filename() == "merge_trace")
    return parse_command(*find_command("merge_trace"), std::move(words));
  if (words.empty()) return Answer{short_help(), kUsage};
  const std::string first = words.front();
  if (first == "--version") return Answer{"stepscope " STEPSCOPE_VERSION "\n", kDone};
  if (first == "--help" || first == "-h") return Answer{full_help(width(environment())), kDone};
  if (first == "help") return help_on(words);
  if (const Command* command = find_command(first)) {
    words.erase(words.begin());
    return parse_command(*command, std::move(words));
  }
  const bool any_path = std::any_of(words.begin(), words.end(), could_be_a_path);
  if (first.starts_with('-') ? first == "-" || any_path : could_be_a_path(first))
    return parse_command(*find_command("report"), std::move(words));
  if (typed_analysis(first) != nullptr) return parse_command(*find_command("show"), std::move(words));
  return wrong(fmt::format("there is no command and no file '{}'.{}", first,
                           report::did_you_mean(first, command_names())),
               "`stepscope --help` shows every command.");
}

}  // namespace stepscope::cli
