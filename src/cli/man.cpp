// The manual page as roff (man(7) macros), from the same arrays as the help texts.
#include <fmt/format.h>

#include "advise/analyses.h"
#include "cli/help.h"
#include "cli/present.h"

namespace stepscope::cli {
namespace {

constexpr std::string_view kRevised = "2026-11-23";  // when the words of this page last changed

/// Escapes text so that roff prints it unchanged.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '`')
      out += "\\(ga";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '~')
      out += "\\(ti";
    else if (c == '|')
      out += "|\\:";  // a long list of choices may break here
    else
      out += c;
  }
  if (out.starts_with('.')) out.insert(0, "\\&");
  return out;
}

void put_roff_flags(std::string& out, const std::vector<Flag>& flags) {
  for (const Flag& flag : flags)
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", plain(spelled(flag)), plain(flag.spec.help));
}

void put_roff_examples(std::string& out, std::span<const std::string_view> examples) {
  for (const std::string_view example : examples) out += fmt::format(".PP\n.nf\n{}\n.fi\n", plain(example));
}

void put_command(std::string& out, const Command& command) {
  out += fmt::format(".SS {} {}\n{}\n", command.name, plain(command.usage), plain(command.about));
  put_roff_flags(out, flags_of(command, nullptr));
  put_roff_examples(out, command.examples);
}

std::string page() {
  std::string out = fmt::format(".TH STEPSCOPE 1 {} \"stepscope {}\" \"User Commands\"\n.ad l\n", kRevised,
                                STEPSCOPE_VERSION);
  out += ".SH NAME\nstepscope \\- say why a training or inference step is slow\n";
  out += ".SH SYNOPSIS\n.B stepscope\n.RI [ command ]\n.RI [ options ]\n.IR trace ...\n";
  out +=
      ".SH DESCRIPTION\nReads what torch.profiler recorded and says what limits a step, where its time goes, "
      "what to change and how much that would save.\nA \\fItrace\\fR is a file (.json, .json.gz), a "
      "directory of them, or \\- for standard input; several are the ranks of one job.\nWithout a command, "
      "\\fBreport\\fR runs.\n";
  out += ".SH COMMANDS\n";
  for (const Command& command : commands())
    if (!command.hidden) put_command(out, command);
  out += ".SH ANALYSES\nFor \\fBshow\\fR and \\fBexport \\-\\-what\\fR.\n";
  for (const analyze::Analysis& analysis : advise::all_analyses()) {
    out += fmt::format(".TP\n\\fB{}\\fR\n{}.\n", plain(analysis.name), plain(analysis.one_line));
    for (const report::ParamSpec& spec : analysis.params)
      out += fmt::format("\\fB{}\\fR: {}.\n", plain(spelled(Flag{spec})), plain(spec.help));
  }
  out +=
      ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nIf set and not empty, nothing is coloured.\n"
      ".TP\n\\fBCOLUMNS\\fR\nThe width of text if the output is not a terminal.\n"
      ".TP\n\\fBTERM\\fR\nIf \\fIdumb\\fR, there is no colour and no progress line.\n";
  out +=
      ".SH EXIT STATUS\n.TP\n0\nDone.\n.TP\n1\nFailed: nothing could be read or written, \\fBvalidate\\fR "
      "found damage, or \\fBgate\\fR found a regression.\n.TP\n2\nThe command line was wrong, or "
      "\\fBgate\\fR could not read a recording.\n.TP\n3\n\\fBgate\\fR was inconclusive.\n";
  return out;
}

}  // namespace

int run_man(const Call& call) {
  if (!call.words.empty()) return misuse(call, "man takes no argument");
  return put(call, page());
}

}  // namespace stepscope::cli
