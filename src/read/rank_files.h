// The ranks of a job read one by one, for jobs that are too large to be held together.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/kept_pipes.h"
#include "base/result.h"
#include "read/open.h"
#include "trace/trace.h"

namespace stepscope::read {

class RankFiles {
 public:
  /// Called with a trace of one rank, derived and marked as one of several, from any thread.
  using Visit = std::function<void(const trace::Trace& one, std::size_t place)>;

  /// Reads every file once and visits its ranks, each with a place of its own. Which rank each is becomes
  /// known only afterwards. Fails only when nothing could be read.
  static Result<RankFiles> survey(std::span<const std::string> paths, const OpenOptions& options,
                                  const Visit& visit);

  /// What open() gives, without tracks, events and long metadata. Their `reading` counts the events that they
  /// had.
  const trace::Trace& heads() const { return heads_; }
  /// The places that survey() gave to the ranks of the heads.
  std::vector<std::size_t> places() const {
    std::vector<std::size_t> places;
    for (const Origin& origin : origins_) places.push_back(origin.place);
    return places;
  }

  /// Reads every rank again, with the number, notes and doubts of the heads; `place` is its index among them.
  /// An Error when a file has changed.
  Result<bool> visit(const OpenOptions& options, const Visit& visit) const;

 private:
  /// Where a rank comes from: a merged file holds several.
  struct Origin {
    std::size_t file, index, place;
    std::int64_t listed;  ///< events of every phase that its file lists
  };
  KeepPipes keep_;  // visit() reads the files again
  std::vector<std::string> files_;
  trace::Trace heads_;
  std::vector<Origin> origins_;  // by rank of the heads
};

/// Number of files and size of their text; compressed files are assumed to unpack to 12 times their size.
/// Zeros when a size is unknown.
struct Extent {
  std::size_t files = 0;
  std::int64_t text = 0;  ///< bytes
};
Extent extent_of(std::span<const std::string> paths);

}  // namespace stepscope::read
