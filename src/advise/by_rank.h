// Answers about a job whose ranks are read one at a time, because they do not fit in memory together. The
// answers are the same as from a trace that holds all ranks.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
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

/// Collects the digests of ranks that are read one by one, from any thread.
class Digests {
 public:
  explicit Digests(const report::Params& params) : params_(params) {}
  void add(const trace::Trace& one, std::size_t place);
  /// Those of the ranks with these places; call it once.
  std::vector<analyze::RankDigest> at(const std::vector<std::size_t>& places);

 private:
  const report::Params& params_;
  std::mutex mutex_;
  std::vector<analyze::RankDigest> by_place_;
};

struct RankByRank {
  const trace::Trace& heads;                   ///< ranks without events; outlives this
  std::vector<analyze::RankDigest> digests{};  ///< by rank of `heads`; may be empty if no ranks are compared
  /// Calls back once per rank, from any thread, with a trace of that rank alone. An Error ends the answer.
  std::function<Result<bool>(const std::function<void(const trace::Trace& one, std::size_t rank)>&)> visit;
};

struct RankAnswers {
  std::vector<report::Report> reports;   ///< by analysis, finished
  std::vector<JudgedRank> judged;        ///< by rank; empty unless judged
  std::vector<analyze::StepTime> steps;  ///< of all ranks; empty unless judged
  std::vector<std::string> notes;        ///< of the overview; empty unless judged
};

/// Visits each rank at most once; each adds its rows to the answers. Memory: the ranks that `visit` holds at
/// a time, and the answers. `judged`: with a verdict on each rank. `all`: with findings that are too small to
/// show.
Result<RankAnswers> ask(RankByRank ranks, std::span<const analyze::Analysis* const> analyses,
                        const report::Params& params, bool judged, bool all = false);

/// One answer, also that of "findings". `rank`: only rows of that rank.
Result<Answer> ask(RankByRank ranks, const analyze::Analysis& analysis, const report::Params& params,
                   std::optional<std::int64_t> rank = std::nullopt);

}  // namespace stepscope::advise
