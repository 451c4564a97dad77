#include <fmt/format.h>

#include "advise/ask.h"
#include "cli/present.h"

namespace stepscope::cli {

int run_show(const Call& call) {
  if (call.words.empty())
    return misuse(call, fmt::format("show {} needs a trace: a file, a directory, or - for standard input",
                                    call.analysis->name));
  std::string reason = advise::lacking(*call.analysis, call.params);
  if (!reason.empty()) return misuse(call, reason);
  auto trace = open_trace(call, call.words);
  if (!trace) return fail(trace.error());
  if (call.analysis->name != "overview") say_unread(*trace);  // its notes name them
  const report::Report report = analyze::run(*call.analysis, *trace, call.params);
  reason = advise::sort_misfit(call.params, report);
  if (!reason.empty()) return misuse(call, reason);
  reason = advise::not_found(*call.analysis, report);
  return reason.empty() ? print(call, report) : fail(Error{reason, ""});
}

}  // namespace stepscope::cli
