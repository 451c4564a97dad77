// The program's commands. Flags, help, completion and the man page are made from these arrays.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/analyses.h"
#include "report/params.h"

namespace stepscope::cli {

struct Flag {
  report::ParamSpec spec;
  char letter = 0;              ///< short form, 0 for none
  std::string_view value = "";  ///< what help calls the value, e.g. "FILE"; "" derives it from the type
};

/// Environment variables, read once at the start.
struct Environment {
  bool no_colour = false;  ///< NO_COLOR is set and not empty
  bool dumb = false;       ///< the terminal cannot move its cursor
  int columns = 0;         ///< COLUMNS, 0 when not set
};

struct Command;

struct Call {
  const Command* command = nullptr;
  const analyze::Analysis* analysis = nullptr;  ///< for `show`
  std::vector<std::string> words;               ///< words that are not flags, without the analysis' name
  std::vector<std::string> program;             ///< for a command that runs a program: the words after --
  report::Params params;                        ///< the given flags, by name
  Environment environment;
};

struct Command {
  std::string_view name;
  std::string_view one_line;
  std::string_view usage;  ///< after the name, e.g. "NAME TRACE..."
  std::string_view about;  ///< a paragraph
  std::span<const Flag> flags;
  std::span<const std::string_view> examples;
  int (*run)(const Call&);
  bool hidden = false;
  bool runs_program = false;
};

/// In the order of the help text.
std::span<const Command> commands();
const Command* find_command(std::string_view name);
/// Names of the commands that are not hidden.
std::vector<std::string> command_names();
std::vector<std::string> analysis_names();

/// Every flag of a command; for `show` also those of `analysis` (nullptr: those that all analyses have).
std::vector<Flag> flags_of(const Command& command, const analyze::Analysis* analysis);

int run_report(const Call& call);
int run_show(const Call& call);
int run_list(const Call& call);
int run_explain(const Call& call);
int run_whatif(const Call& call);
int run_diff(const Call& call);
int run_gate(const Call& call);
int run_validate(const Call& call);
int run_export(const Call& call);
int run_merge(const Call& call);
int run_overlay(const Call& call);
int run_sql(const Call& call);
int run_serve(const Call& call);
int run_record(const Call& call);
int run_run(const Call& call);
int run_attach(const Call& call);
int run_try(const Call& call);
int run_tune(const Call& call);
int run_completion(const Call& call);
int run_man(const Call& call);
int run_docs(const Call& call);

}  // namespace stepscope::cli
