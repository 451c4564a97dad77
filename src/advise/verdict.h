// The answer to "why is my step slow": one sentence, ranked findings, and what the recording cannot prove.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "advise/bound.h"
#include "advise/evidence.h"
#include "advise/health.h"
#include "advise/pricing/pricing.h"
#include "analyze/derived.h"
#include "report/params.h"
#include "report/verdict.h"

namespace stepscope::advise {

/// Runs the analyses that the rules read, in parallel on up to `threads` threads (0: all).
Reports gather(const analyze::Derived& derived, unsigned threads = 0);

/// The judgement of one rank.
struct Judged {
  std::vector<Health> health;
  Bound bound{};
  Prices prices;  ///< including findings that are too small to show
};
Judged judge(const analyze::Derived& derived, const Evidence& evidence, const trace::Rank& rank,
             unsigned threads = 0);

/// The same, in the form that is merged with other ranks.
struct JudgedRank {
  report::RankVerdict verdict;
  std::vector<Ranked> findings;
  std::vector<Health> health;
  std::shared_ptr<const JobReports> job = std::make_shared<JobReports>();
};
/// `all`: with findings that are too small to show.
JudgedRank judged_rank(const analyze::Derived& derived, const Reports& reports, const trace::Rank& rank,
                       unsigned threads = 0, bool all = false);

/// Merges ranks; findings are ordered by ranks_before().
report::Verdict verdict(std::vector<JudgedRank> ranks, bool several, std::vector<std::string> notes);
/// The verdict on all ranks of a trace.
report::Verdict verdict(const analyze::Derived& derived, const Reports& reports, unsigned threads = 0,
                        bool all = false);

}  // namespace stepscope::advise
