// What `stepscope report` says of a trace, whoever asks for it.
#pragma once

#include <string>
#include <vector>

#include "report/page.h"
#include "report/params.h"
#include "trace/trace.h"

namespace stepscope::advise {

struct PageOptions {
  report::Params params;           ///< "step" and "top"
  unsigned threads = 0;            ///< 0: as many as the machine has
  std::vector<std::string> paths;  ///< of the trace as they were given, for the commands to try next
  bool everything = false;         ///< every analysis that answers alone, not the first screen only
};
report::Page page_of(const trace::Trace& trace, const PageOptions& options);

}  // namespace stepscope::advise
