// `stepscope explain ID TRACE`: why a rule fired or stayed silent, to debug an answer that looks wrong.
#include "advise/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/markdown.h"
#include "cli/present.h"
#include "cli/terminal.h"
#include "report/suggest.h"
#include "report/utf8.h"

namespace stepscope::cli {
namespace {

std::string paragraph(std::string_view first, std::string_view text, int columns) {
  std::string out;
  const int indent = report::cells_of(first);
  for (const std::string& line : report::wrapped(report::one_line(text), columns - indent))
    out +=
        (out.empty() ? std::string(first) : std::string(static_cast<std::size_t>(indent), ' ')) + line + '\n';
  return out;
}

/// What is read, the numbers and the constants, without the columns that are for machines.
report::Report for_people(report::Report all) {
  report::Report shown{all.name, {}, {}};
  for (const char* title : {"Inputs", "Numbers", "Constants"}) {
    for (report::Table& table : all.tables) {
      if (table.title != title || table.rows() == 0) continue;
      std::erase_if(table.columns,
                    [](const report::Column& c) { return c.name == "number" || c.name == "unit"; });
      shown.tables.push_back(std::move(table));
    }
  }
  return shown;
}

std::string as_text(const Call& call, std::string_view id, const std::vector<advise::Explained>& explained) {
  const int columns = width(call.environment);
  const advise::Entry entry = advise::entry_of(id);
  std::string out =
      paragraph(fmt::format("{}  ", id), fmt::format("{} ({})", entry.one_line, entry.category), columns);
  for (const advise::Explained& e : explained) {
    out +=
        '\n' + paragraph(explained.size() > 1 ? fmt::format("rank {}: ", e.rank) : "", e.sentence, columns);
    for (std::size_t i = 0; i < e.because.size(); ++i)
      out += paragraph(i == 0 ? fmt::format("{} confidence: ", e.confidence) : "    ", e.because[i], columns);
  }
  const report::Report tables = for_people(advise::explanation(id, explained));
  if (!tables.tables.empty()) out += '\n' + drawn(call, tables);
  if (!entry.doc.empty()) out += '\n' + plain_text(entry.doc, columns);
  return out;
}

/// The first word that is an id, taken out of `words`; "" when there is none.
std::string take_id(std::vector<std::string>& words, const std::vector<std::string>& ids) {
  for (auto word = words.begin(); word != words.end(); ++word) {
    const std::string id = advise::id_of(*word);
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) continue;
    words.erase(word);
    return id;
  }
  return "";
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

}  // namespace

int run_explain(const Call& call) {
  const std::vector<std::string> ids = advise::explainable_ids();
  if (call.words.empty())
    return misuse(call, "explain what? Say: stepscope explain I01 TRACE. The ids are " + joined(ids));
  std::vector<std::string> paths = call.words;
  const std::string id = take_id(paths, ids);
  if (id.empty())
    return misuse(call,
                  fmt::format("there is no rule '{}'.{} The ids are {}", call.words.front(),
                              report::did_you_mean(advise::id_of(call.words.front()), ids), joined(ids)));
  std::vector<advise::Explained> explained;
  if (!paths.empty()) {
    auto trace = open_trace(call, paths);
    if (!trace) return fail(trace.error());
    say_unread(*trace);
    const auto threads = static_cast<unsigned>(call.params.integer("threads"));
    const analyze::Derived derived(*trace, call.params);
    explained = advise::explain(id, derived, advise::gather(derived, call.params, threads), threads);
  }
  if (format_of(call) == "text") return put(call, as_text(call, id, explained));
  return print(call, advise::explanation(id, explained));
}

}  // namespace stepscope::cli
