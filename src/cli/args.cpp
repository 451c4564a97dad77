#include "cli/args.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "advise/analyses.h"
#include "advise/ask.h"
#include "cli/exit.h"
#include "cli/help.h"
#include "cli/inputs.h"
#include "cli/present.h"
#include "cli/terminal.h"
#include "report/suggest.h"

namespace stepscope::cli {
namespace {

using Words = std::vector<std::string>;
using Type = report::ParamSpec::Type;

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

Words names_of_commands() {
  Words names;
  for (const Command& command : commands())
    if (!command.hidden) names.emplace_back(command.name);
  return names;
}

Words names_of_analyses() {
  Words names;
  for (const analyze::Analysis& analysis : advise::all_analyses()) names.emplace_back(analysis.name);
  return names;
}

bool could_be_a_path(const std::string& word) {
  std::error_code error;
  return word == "-" || word.find_first_of("./") != std::string::npos || std::filesystem::exists(word, error);
}

std::string listed(const Words& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

bool asks_for_help(const Words& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& w) { return w == "--help" || w == "-h"; });
}

/// Removes the name of the analysis, the first word that is no flag, from `words`.
std::variant<const analyze::Analysis*, Answer> take_analysis(Words& words) {
  const auto known = std::find_if(words.begin(), words.end(),
                                  [](const std::string& w) { return advise::find_analysis(w) != nullptr; });
  if (known != words.end()) {
    const analyze::Analysis* analysis = advise::find_analysis(*known);
    words.erase(known);
    return analysis;
  }
  const auto word =
      std::find_if(words.begin(), words.end(), [](const std::string& w) { return !w.starts_with('-'); });
  if (word == words.end() || could_be_a_path(*word))
    return wrong(
        fmt::format("show what? Say: stepscope show steps {}", word == words.end() ? "TRACE" : *word),
        "Or, instead of steps, one of " + listed(names_of_analyses()) + "; `stepscope list` explains them.");
  return wrong(advise::analysis_named(*word).error().message, "`stepscope list` names them all.");
}

/// What CLI11 fills.
struct Given {
  std::map<std::string, std::string> texts;
  std::map<std::string, bool> switches;
  Words words;
};

void declare(CLI::App& app, const std::vector<Flag>& flags, Given& given) {
  app.set_help_flag();
  for (const Flag& flag : flags) {
    const std::string name(flag.spec.name);
    const std::string names = (flag.letter == 0 ? "" : fmt::format("-{},", flag.letter)) + "--" + name;
    if (flag.spec.type == Type::flag)
      app.add_flag(names, given.switches[name]);
    else if (flag.spec.type == Type::texts)
      app.add_option(names, given.texts[name])->join(';');
    else
      app.add_option(names, given.texts[name]);
  }
  app.add_option("words", given.words);
}

/// One sentence why the values do not fit, or "".
std::string store(const std::vector<Flag>& flags, const CLI::App& app, const Given& given,
                  report::Params& params) {
  for (const Flag& flag : flags) {
    const std::string name(flag.spec.name);
    if (app.count("--" + name) == 0) continue;
    if (flag.spec.type == Type::flag) {
      params.set(name, "true");
      continue;
    }
    const std::string& value = given.texts.at(name);
    std::string reason = report::misfit(flag.spec, value);
    if (!reason.empty()) return reason;
    params.set(name, value);
  }
  return "";
}

std::string explain(const CLI::App& app, const CLI::ParseError& error, const std::vector<Flag>& flags) {
  const Words left = app.remaining();
  if (left.empty()) return error.what();
  Words known;
  for (const Flag& flag : flags) known.push_back(fmt::format("--{}", flag.spec.name));
  return advise::no_such_option(left.front(), known);
}

/// Removes what stands behind the first -- from `words`.
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
  const std::vector<Flag> flags = flags_of(command, call.analysis);
  CLI::App app;
  Given given;
  declare(app, flags, given);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return wrong(explain(app, error, flags), more);
  }
  call.words = std::move(given.words);
  std::string reason = store(flags, app, given, call.params);
  if (reason.empty()) reason = ending_misfit(call);
  if (reason.empty()) reason = inputs_misfit(call);
  if (!reason.empty()) return wrong(reason, more);
  return call;
}

Answer help_on(const Words& words) {
  if (words.size() < 2) return {full_help(width(environment())), kDone};
  if (const Command* command = find_command(words[1])) {
    const analyze::Analysis* analysis = words.size() > 2 ? advise::find_analysis(words[2]) : nullptr;
    return {help_of(*command, analysis, width(environment())), kDone};
  }
  if (const analyze::Analysis* analysis = advise::find_analysis(words[1]))
    return {help_of(*find_command("show"), analysis, width(environment())), kDone};
  return wrong(fmt::format("there is no command '{}'.{}", words[1],
                           report::did_you_mean(words[1], names_of_commands())),
               "`stepscope --help` names them all.");
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
  if (advise::find_analysis(first) != nullptr)
    return wrong(fmt::format("'{}' is an analysis.", first),
                 fmt::format("Say: stepscope show {} TRACE", first));
  return wrong(fmt::format("there is no command and no file '{}'.{}", first,
                           report::did_you_mean(first, names_of_commands())),
               "`stepscope --help` shows every command.");
}

}  // namespace stepscope::cli
