// `stepscope explain ID TRACE`: why a rule fired or stayed silent, to debug an answer that looks wrong.
#include "advise/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <variant>

#include "cli/markdown.h"
#include "cli/present.h"
#include "cli/terminal.h"
#include "report/judgement.h"
#include "report/suggest.h"
#include "report/text/layout.h"
#include "report/utf8.h"

namespace stepscope::cli {
namespace {

std::string paragraph(std::string_view first, std::string_view text, int columns) {
  return report::hung(first, report::one_line(text), columns);
}

/// Ranks with the same explanation, numbers aside, and the explanation of the first.
struct Alike {
  std::vector<std::int64_t> ranks;
  advise::Explained said;
  bool same = true;  ///< the numbers are the same too
};

/// The whole explanation of a rank.
std::string all_of(const advise::Explained& e) {
  std::string all = e.sentence;
  for (const std::string& reason : e.because) all += '\n' + reason;
  for (const auto* asked : {&e.inputs, &e.numbers})
    for (const advise::Asked& row : *asked) all += '\n' + row.what + '\n' + row.value;
  return all;
}

std::vector<Alike> alike(const std::vector<advise::Explained>& explained) {
  std::vector<Alike> groups;
  std::map<std::string, std::size_t> places;  // by the words of the explanation
  for (const advise::Explained& e : explained) {
    const std::string key = e.outcome + '\n' + e.confidence + '\n' + report::words_of(e.sentence);
    const auto [place, added] = places.try_emplace(key, groups.size());
    if (added) groups.push_back({{}, e});
    Alike& group = groups[place->second];
    group.ranks.push_back(e.rank);
    group.same = group.same && all_of(e) == all_of(group.said);
  }
  return groups;
}

/// "ranks 0–3 (rank 0 shown): ", "" when only one rank is open.
std::string whose(const Alike& group, std::size_t open) {
  if (open < 2) return "";
  return fmt::format("{} {}{}: ", group.ranks.size() == 1 ? "rank" : "ranks",
                     report::listed_ranks(group.ranks),
                     group.same ? "" : fmt::format(" (rank {} shown)", group.said.rank));
}

std::string as_text(const Call& call, const advise::ExplainedId& id,
                    const std::vector<advise::Explained>& explained) {
  const int columns = width(call.environment);
  const advise::Entry entry = advise::entry_of(id);
  std::string out = paragraph(fmt::format("{}  ", advise::name_of(id)),
                              fmt::format("{} ({})", entry.one_line, entry.category), columns);
  std::vector<advise::Explained> told;
  for (const Alike& group : alike(explained)) {
    const advise::Explained& e = told.emplace_back(group.said);
    out += '\n' + paragraph("", whose(group, explained.size()) + e.sentence, columns);
    for (std::size_t i = 0; i < e.because.size(); ++i)
      out += paragraph(i == 0 ? fmt::format("{} confidence: ", e.confidence) : "    ", e.because[i], columns);
  }
  const report::Report numbers = advise::numbers_for_people(entry, told);
  if (!numbers.tables.empty()) out += '\n' + drawn(call, numbers);
  if (!entry.doc.empty()) out += '\n' + plain_text(entry.doc, columns);
  return out;
}

/// The first word that is an id, taken out of `words`.
std::optional<advise::ExplainedId> take_id(std::vector<std::string>& words) {
  for (auto word = words.begin(); word != words.end(); ++word) {
    const std::optional<advise::ExplainedId> id = advise::id_of(*word);
    if (!id) continue;
    words.erase(word);
    return id;
  }
  return std::nullopt;
}

/// The error for words without an id.
std::string no_id(const std::vector<std::string>& words) {
  std::string typed = words.front();
  for (char& c : typed) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const std::string hint = report::did_you_mean(typed, advise::explainable_names());
  std::error_code unknown;
  if (words.size() == 1 && hint.empty() && std::filesystem::exists(words.front(), unknown))
    return fmt::format(
        "explain needs an id first, e.g. `stepscope explain N05 {0}`. `stepscope show findings {0} --all` "
        "lists those that fired; `stepscope explain` lists all",
        words.front());
  return fmt::format("there is no rule '{}'.{} `stepscope explain` lists all", words.front(), hint);
}

}  // namespace

int run_explain(const Call& call) {
  if (call.words.empty()) {
    const int code = misuse(call, "explain needs an id: stepscope explain I01 TRACE. The ids:");
    for (const advise::ExplainedId& id : advise::explainable_ids())
      fmt::print(stderr, "{}",
                 paragraph(fmt::format("  {}  ", advise::name_of(id)), advise::entry_of(id).one_line,
                           width(call.environment)));
    return code;
  }
  std::vector<std::string> paths = call.words;
  const std::optional<advise::ExplainedId> id = take_id(paths);
  if (!id) return misuse(call, no_id(call.words));
  std::vector<advise::Explained> explained;
  if (!paths.empty()) {
    auto trace = open_trace(call, paths);
    if (!trace) return fail(trace.error());
    say_unread(*trace);
    const auto threads = static_cast<unsigned>(call.params.integer("threads"));
    const analyze::Derived derived(*trace, call.params);
    explained = advise::explain(*id, derived, advise::gather(derived, threads), threads);
  }
  if (format_of(call) == "text") return put(call, as_text(call, *id, explained));
  return print(call, advise::explanation(advise::entry_of(*id), explained));
}

}  // namespace stepscope::cli
