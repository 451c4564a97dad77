// Answers about a job whose ranks are looked at one by one, because they do not fit in memory together. The
// same answers as of a trace that holds them all.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "advise/analyses.h"
#include "advise/verdict.h"
#include "analyze/analyses.h"
#include "analyze/ranks/rank_digest.h"
#include "base/result.h"
#include "report/params.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::advise {

struct RankByRank {
  const trace::Trace& heads;  ///< ranks without events; outlives this
  std::vector<analyze::RankDigest>
      digests{};  ///< by rank of `heads`; may be left out where ranks are not compared
  /// Shows every rank once, from any thread, as a trace of its own; false ends with an error.
  std::function<Result<bool>(const std::function<void(const trace::Trace& one, std::size_t rank)>&)> visit;
};

struct RankAnswers {
  std::vector<report::Report> reports;   ///< by analysis, finished
  std::vector<JudgedRank> judged;        ///< by rank; empty unless asked for
  std::vector<analyze::StepTime> steps;  ///< of all ranks; empty unless judged
  std::vector<std::string> notes;        ///< of the overview; empty unless judged
};

/// Visits the ranks once, at most; each adds its rows to the answers. Memory: what `visit` holds at a time,
/// and the answers. `all`: verdicts with findings that are too small to be shown.
Result<RankAnswers> ask(RankByRank ranks, std::span<const analyze::Analysis* const> analyses,
                        const report::Params& params, bool judged, bool all = false);

/// One answer. "findings" is one too.
Result<Answer> ask(RankByRank ranks, const analyze::Analysis& analysis, const report::Params& params);

}  // namespace stepscope::advise
