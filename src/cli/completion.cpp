// Completion scripts, made from the arrays. They complete the commands, the analyses, their flags and the
// flags' choices; everything else is a file name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "advise/analyses.h"
#include "advise/explain.h"
#include "cli/present.h"
#include "report/suggest.h"

namespace stepscope::cli {
namespace {

using Type = report::ParamSpec::Type;

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::vector<std::string> names_of(analyze::Topic topic) {
  std::vector<std::string> names;
  for (const analyze::Analysis* analysis : advise::analyses_of(topic)) names.emplace_back(analysis->name);
  return names;
}

/// Escapes a text for a shell's single quotes.
std::string shell_text(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out;
}

/// zsh: the analyses under the question of their topic.
std::string grouped_names() {
  std::string out;
  for (const auto& [topic, question] : analyze::kTopics)
    out +=
        fmt::format("    compadd -V '{0}' -X '{0}' -- {1}\n", shell_text(question), joined(names_of(topic)));
  return out;
}

std::vector<std::string> flag_names(const Command& command, const analyze::Analysis* analysis) {
  std::vector<std::string> names;
  for (const Flag& flag : flags_of(command, analysis)) names.push_back(fmt::format("--{}", flag.spec.name));
  names.emplace_back("--help");
  return names;
}

std::string spaced(std::string_view choices) {
  std::string out(choices);
  std::replace(out.begin(), out.end(), '|', ' ');
  return out;
}

/// Every flag with choices, once per set of choices.
std::vector<Flag> flags_with_choices() {
  std::vector<Flag> found;
  const auto add = [&](const Flag& flag) {
    const auto same = [&](const Flag& f) {
      return f.spec.name == flag.spec.name && f.spec.choices == flag.spec.choices;
    };
    if (flag.spec.type == Type::choice && std::none_of(found.begin(), found.end(), same))
      found.push_back(flag);
  };
  for (const Command& command : commands())
    for (const Flag& flag : flags_of(command, nullptr)) add(flag);
  for (const analyze::Analysis& analysis : advise::all_analyses())
    for (const report::ParamSpec& spec : analysis.params) add(Flag{spec});
  return found;
}

/// "a) words=...;;" for each name with choices; several sets under one name are merged.
std::string choice_cases() {
  std::vector<std::pair<std::string, std::string>> cases;
  for (const Flag& flag : flags_with_choices()) {
    const std::string name = fmt::format("--{}", flag.spec.name);
    const auto at = std::find_if(cases.begin(), cases.end(), [&](const auto& c) { return c.first == name; });
    if (at == cases.end())
      cases.emplace_back(name, spaced(flag.spec.choices));
    else
      at->second += " " + spaced(flag.spec.choices);
  }
  std::string out;
  for (const auto& [name, choices] : cases) out += fmt::format("    {}) words=\"{}\" ;;\n", name, choices);
  return out;
}

/// Sets `words` from $command and $analysis.
std::string flag_cases() {
  std::string out = "  case \"$command $analysis\" in\n";
  for (const analyze::Analysis& analysis : advise::all_analyses())
    out += fmt::format("    \"show {}\") flags=\"{}\" ;;\n", analysis.name,
                       joined(flag_names(*find_command("show"), &analysis)));
  for (const Command& command : commands())
    if (!command.hidden)
      out +=
          fmt::format("    \"{} \"*) flags=\"{}\" ;;\n", command.name, joined(flag_names(command, nullptr)));
  out += fmt::format("    *) flags=\"{} --version\" ;;\n  esac\n",
                     joined(flag_names(*find_command("report"), nullptr)));
  return out;
}

std::string bash() {
  return fmt::format(R"(# bash completion of stepscope
_stepscope() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  local command="" analysis="" words="" flags=""
  [ "$COMP_CWORD" -gt 1 ] && command="${{COMP_WORDS[1]}}"
  [ "$COMP_CWORD" -gt 2 ] && analysis="${{COMP_WORDS[2]}}"
  COMPREPLY=()
  case "$previous" in
{}    --what) words="events {}" ;;
  esac
  if [ -n "$words" ]; then
    COMPREPLY=( $(compgen -W "$words" -- "$current") )
    return
  fi
{}  case "$current" in
    -*) COMPREPLY=( $(compgen -W "$flags" -- "$current") ); return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=( $(compgen -W "{}" -- "$current") )
  elif [ "$COMP_CWORD" -eq 2 ] && [ "$command" = show ]; then
    COMPREPLY=( $(compgen -W "{}" -- "$current") )
    return
  elif [ "$COMP_CWORD" -eq 2 ] && [ "$command" = explain ]; then
    COMPREPLY=( $(compgen -W "{}" -- "$current") )
    return
  elif [ "$command" = completion ]; then
    COMPREPLY=( $(compgen -W "bash zsh fish" -- "$current") )
    return
  fi
  COMPREPLY+=( $(compgen -f -- "$current") )
}}
complete -o filenames -F _stepscope stepscope
)",
                     choice_cases(), joined(analysis_names()), flag_cases(), joined(command_names()),
                     joined(analysis_names()), joined(advise::explainable_names()));
}

std::string zsh() {
  return fmt::format(
      R"(#compdef stepscope
_stepscope() {{
  local current="${{words[CURRENT]}}" previous="${{words[CURRENT-1]}}"
  local command="" analysis="" flags="" choices=""
  (( CURRENT > 2 )) && command="${{words[2]}}"
  (( CURRENT > 3 )) && analysis="${{words[3]}}"
  case "$previous" in
{}    --what) choices="events {}" ;;
  esac
  if [[ -n "$choices" ]]; then
    compadd -- ${{=choices}}
    return
  fi
{}  if [[ "$current" == -* ]]; then
    compadd -- ${{=flags}}
    return
  fi
  if (( CURRENT == 2 )); then
    compadd -- {}
  elif (( CURRENT == 3 )) && [[ "$command" == show ]]; then
{}    return
  elif (( CURRENT == 3 )) && [[ "$command" == explain ]]; then
    compadd -- {}
    return
  elif [[ "$command" == completion ]]; then
    compadd -- bash zsh fish
    return
  fi
  _files
}}
if [ "$funcstack[1]" = "_stepscope" ]; then
  _stepscope "$@"
else
  compdef _stepscope stepscope
fi
)",
      [] {
        std::string cases = choice_cases();
        for (std::size_t at = 0; (at = cases.find("words=", at)) != std::string::npos; at += 8)
          cases.replace(at, 6, "choices=");
        return cases;
      }(),
      joined(analysis_names()), flag_cases(), joined(command_names()), grouped_names(),
      joined(advise::explainable_names()));
}

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

void put_fish_flag(std::string& out, const Flag& flag, const std::string& condition) {
  out += fmt::format("complete -c stepscope -n {} -l {}", fish_quoted(condition), flag.spec.name);
  if (flag.letter != 0) out += fmt::format(" -s {}", flag.letter);
  if (flag.spec.type != Type::flag) out += flag.spec.name == "output" ? " -r -F" : " -x";
  if (flag.spec.type == Type::choice) out += " -a " + fish_quoted(spaced(flag.spec.choices));
  if (flag.spec.name == "what") out += " -a " + fish_quoted("events " + joined(analysis_names()));
  out += " -d " + fish_quoted(flag.spec.help) + "\n";
}

std::string fish() {
  std::string out = "# fish completion of stepscope\n";
  for (const Command& command : commands())
    if (!command.hidden)
      out += fmt::format("complete -c stepscope -n __fish_use_subcommand -a {} -d {}\n", command.name,
                         fish_quoted(command.one_line));
  const std::string names = joined(analysis_names());
  for (const analyze::Analysis& analysis : advise::all_analyses())
    out += fmt::format(
        "complete -c stepscope -n '__fish_seen_subcommand_from show; and not __fish_seen_subcommand_from {}' "
        "-a {} -d {}\n",
        names, analysis.name, fish_quoted(analysis.one_line));
  out += fmt::format("complete -c stepscope -n '__fish_seen_subcommand_from explain' -a '{}'\n",
                     joined(advise::explainable_names()));
  out += "complete -c stepscope -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n";
  for (const Command& command : commands()) {
    if (command.hidden) continue;
    for (const Flag& flag : flags_of(command, nullptr))
      put_fish_flag(out, flag, fmt::format("__fish_seen_subcommand_from {}", command.name));
  }
  for (const analyze::Analysis& analysis : advise::all_analyses())
    for (const report::ParamSpec& spec : analysis.params)
      put_fish_flag(out, Flag{spec}, fmt::format("__fish_seen_subcommand_from {}", analysis.name));
  return out;
}

}  // namespace

int run_completion(const Call& call) {
  const std::string shell = call.words.size() == 1 ? call.words.front() : "";
  if (shell == "bash") return put(call, bash());
  if (shell == "zsh") return put(call, zsh());
  if (shell == "fish") return put(call, fish());
  return misuse(call, "completion needs one shell: bash, zsh or fish." +
                          report::did_you_mean(shell, {"bash", "zsh", "fish"}));
}

}  // namespace stepscope::cli
