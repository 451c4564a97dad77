// Commands over folders of many ranks, whose files are read one by one.
#pragma once

#include "advise/by_rank.h"
#include "base/result.h"
#include "cli/commands.h"
#include "read/rank_files.h"

namespace stepscope::cli {

/// Whether to read ranks one by one: for --by-rank, or if the files are too large to be held together.
bool asks_by_rank(const Call& call);

/// A folder of ranks, read once.
class Survey {
 public:
  /// `digests`: also keep what comparing ranks needs.
  static Result<Survey> of(const Call& call, bool digests);
  /// Only one rank could be read: there is nothing to compare.
  bool alone() const { return files_.heads().ranks.size() == 1; }
  /// Valid while this object exists; may be called only once.
  advise::RankByRank ranks();

 private:
  Survey(const Call& call, read::RankFiles files) : call_(&call), files_(std::move(files)) {}

  const Call* call_;
  read::RankFiles files_;
  std::vector<analyze::RankDigest> digests_;  // by rank
};

}  // namespace stepscope::cli
