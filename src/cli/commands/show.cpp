#include <fmt/format.h>

#include "advise/ask.h"
#include "analyze/list.h"
#include "cli/by_rank.h"
#include "cli/present.h"

namespace stepscope::cli {
namespace {

int finish(const Call& call, const advise::Answer& answer) {
  std::string reason = advise::sort_misfit(call.params, answer.report);
  if (!reason.empty()) return misuse(call, reason);
  reason = advise::not_found(*call.analysis, call.params, answer.report);
  return reason.empty() ? print(call, answer) : fail(Error{reason, ""});
}

/// `overview` names unreadable files in its notes.
bool names_unread(const Call& call) { return call.analysis->about == &analyze::overview_about; }

/// Other tools compute their numbers for all ranks together.
bool needs_all_ranks(const Call& call) {
  return call.analysis->needs == analyze::Needs::all_ranks ||
         analyze::tool_asked(*call.analysis, call.params).has_value();
}

int show_together(const Call& call) {
  const auto trace = open_trace(call, call.words);
  if (!trace) return fail(trace.error());
  if (!names_unread(call)) say_unread(*trace);
  return finish(call, advise::answer(*call.analysis, analyze::Derived(*trace, call.params), call.params));
}

int show_by_rank(const Call& call) {
  const bool compares =
      call.analysis->needs == analyze::Needs::digests || advise::asks_findings(*call.analysis, call.params);
  auto survey = Survey::of(call, compares);
  if (!survey) return fail(survey.error());
  if (survey->alone()) return show_together(call);
  advise::RankByRank ranks = survey->ranks();
  if (!names_unread(call)) say_unread(ranks.heads);
  const auto answer = advise::ask(std::move(ranks), *call.analysis, call.params);
  return answer ? finish(call, *answer) : fail(answer.error());
}

}  // namespace

int run_show(const Call& call) {
  if (call.words.empty()) return no_trace(call);
  const std::string reason = advise::unanswerable(*call.analysis, call.params);
  if (!reason.empty()) return misuse(call, reason);
  return !needs_all_ranks(call) && asks_by_rank(call) ? show_by_rank(call) : show_together(call);
}

}  // namespace stepscope::cli
