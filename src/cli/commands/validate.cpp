#include <algorithm>

#include "advise/validation.h"
#include "cli/exit.h"
#include "cli/present.h"
#include "merge/strictness.h"
#include "read/files.h"

namespace stepscope::cli {

int run_validate(const Call& call) {
  if (call.words.empty()) return no_trace(call);
  const bool strict = call.params.flag("strict");
  if (strict && std::find(call.words.begin(), call.words.end(), "-") != call.words.end())
    return misuse(
        call, "validate --strict reads its files twice, which standard input does not allow; name a file");
  auto trace = open_trace(call, call.words);
  if (!trace) return fail(trace.error());
  const auto files = read::files_of(call.words, read::kReadable);
  if (!files) return fail(files.error());
  const auto threads = static_cast<unsigned>(call.params.integer("threads"));
  const auto breached = merge::breached(*files, threads);
  const advise::Validation validation = advise::validation(*trace, breached, format_of(call) == "text");
  const int printed = print(call, validation.report);
  if (printed != kDone) return printed;
  return (strict ? validation.strict : validation.fine) ? kDone : kFailed;
}

}  // namespace stepscope::cli
