#include <fmt/format.h>

#include <algorithm>

#include "advise/analyses.h"
#include "advise/listed_analyses.h"
#include "cli/present.h"
#include "cli/terminal.h"
#include "report/utf8.h"

namespace stepscope::cli {
namespace {

/// A line of the list, by columns: question, name, answer.
struct ListLine {
  std::string question, name, answer;
};

std::vector<ListLine> lines_of(analyze::Topic topic, std::string_view question, int question_columns,
                               int answer_columns) {
  std::vector<ListLine> lines;
  for (const analyze::Analysis* analysis : advise::analyses_of(topic)) {
    const std::size_t first = lines.size();
    for (const std::string& answer : report::wrapped(analysis->one_line, answer_columns))
      lines.push_back({"", "", answer});
    lines[first].name = analysis->name;
  }
  const auto wrapped = report::wrapped(question, question_columns);
  lines.resize(std::max(lines.size(), wrapped.size()));
  for (std::size_t i = 0; i < wrapped.size(); ++i) lines[i].question = wrapped[i];
  return lines;
}

/// The question is beside its analyses, or above them on a narrow terminal.
std::string as_text(int columns) {
  constexpr int kMinBeside = 80, kQuestion = 18;
  const bool beside = columns >= kMinBeside;
  const int question_columns = beside ? kQuestion : 0;
  int name = 0;
  for (const analyze::Analysis& analysis : advise::all_analyses())
    name = std::max(name, static_cast<int>(analysis.name.size()));
  std::string out;
  for (const auto& [topic, question] : analyze::kTopics) {
    if (!beside) out += fmt::format("{}\n", question);
    for (const ListLine& line :
         lines_of(topic, beside ? question : "", kQuestion, columns - question_columns - name - 4)) {
      std::string text =
          fmt::format("{:<{}}  {:<{}}  {}", line.question, question_columns, line.name, name, line.answer);
      text.resize(text.find_last_not_of(' ') + 1);
      out += text + "\n";
    }
  }
  for (const std::string& line : report::wrapped(
           "stepscope show NAME TRACE runs one; stepscope show NAME --help explains it.", columns))
    out += line + "\n";
  return out;
}

}  // namespace

int run_list(const Call& call) {
  if (!call.words.empty()) return misuse(call, "list takes no trace");
  return format_of(call) == "text" ? put(call, as_text(width(call.environment)))
                                   : print(call, advise::listed_analyses());
}

}  // namespace stepscope::cli
