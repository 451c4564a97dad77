#include "advise/page.h"
#include "cli/present.h"

namespace stepscope::cli {

int run_report(const Call& call) {
  if (call.words.empty())
    return misuse(call, "report needs a trace: a file, a directory, or - for standard input");
  auto trace = open_trace(call, call.words);
  if (!trace) return fail(trace.error());
  advise::PageOptions options;
  for (const char* name : {"step", "top"})
    if (call.params.has(name)) options.params.set(name, std::string(call.params.text(name)));
  options.threads = static_cast<unsigned>(call.params.integer("threads"));
  options.paths = call.words;
  options.everything = format_of(call) != "text";
  return print(call, advise::page_of(*trace, options));
}

}  // namespace stepscope::cli
