#include "advise/validation.h"
#include "cli/exit.h"
#include "cli/present.h"

namespace stepscope::cli {

int run_validate(const Call& call) {
  if (call.words.empty()) return no_trace(call);
  auto trace = open_trace(call, call.words);
  if (!trace) return fail(trace.error());
  const advise::Validation validation = advise::validation(*trace, format_of(call) == "text");
  const int printed = print(call, validation.report);
  return printed != kDone ? printed : validation.fine ? kDone : kFailed;
}

}  // namespace stepscope::cli
