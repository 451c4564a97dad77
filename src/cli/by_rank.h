// Commands over folders of many ranks, whose files are read one by one.
#pragma once

#include "advise/by_rank.h"
#include "base/result.h"
#include "cli/commands.h"
#include "read/rank_files.h"

namespace stepscope::cli {

/// Whether --by-rank says so, or the files are too large to be held in memory together.
bool asks_by_rank(const Call& call);

/// A folder of ranks, read once.
class Survey {
 public:
  /// `digests`: what comparing ranks needs is taken along.
  static Result<Survey> of(const Call& call, bool digests);
  /// Only one rank could be read: there is nothing to tell apart.
  bool alone() const { return files_.heads().ranks.size() == 1; }
  /// Valid as long as this; may be asked once.
  advise::RankByRank ranks();

 private:
  Survey(const Call& call, read::RankFiles files) : call_(&call), files_(std::move(files)) {}

  const Call* call_;
  read::RankFiles files_;
  std::vector<analyze::RankDigest> digests_;  // by rank
};

}  // namespace stepscope::cli
