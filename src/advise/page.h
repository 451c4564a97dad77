// The page of `stepscope report`, for every front end.
#pragma once

#include <string>
#include <vector>

#include "advise/by_rank.h"
#include "analyze/derived.h"
#include "base/result.h"
#include "report/page.h"
#include "report/params.h"
#include "trace/trace.h"

namespace stepscope::advise {

struct PageOptions {
  report::Params params;           ///< "step" and "top"
  unsigned threads = 0;            ///< 0: as many as the machine has
  std::vector<std::string> paths;  ///< of the trace, as given; for the commands to try next
  bool everything = false;         ///< with every analysis that needs no id, not only the first screen
};
report::Page page_of(const trace::Trace& trace, const PageOptions& options);
/// The same; `derived` has the steps of `options`.
report::Page page_of(const analyze::Derived& derived, const PageOptions& options);
Result<report::Page> page_of(RankByRank ranks, const PageOptions& options);

}  // namespace stepscope::advise
