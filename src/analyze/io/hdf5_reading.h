// What HDF5 does while batches are fetched: a read of a few bytes may read and unpack whole chunks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyze/io/io.h"

namespace stepscope::analyze {

class Hdf5Reading {
 public:
  Hdf5Reading(const trace::Trace& trace, const trace::Rank& rank, const RankIo& io);
  /// Adds the calls of the process that begin in the fetch.
  void add_to(FetchIo& sum, const std::string& pid, timeline::Interval fetch);
  /// Says which call took most of the time that was added.
  void name(FetchIo& sum) const;

 private:
  std::string told(trace::Row row) const;

  const trace::Trace& trace_;
  const trace::Rank& rank_;
  trace::ArgReader file_, object_;
  std::map<std::string, std::vector<const derive::LibraryCall*>> calls_;  ///< by process, by begin
  std::map<std::string, std::int64_t> times_;                             ///< ns, by told()
};

}  // namespace stepscope::analyze
