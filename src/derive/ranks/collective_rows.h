// The collectives of one rank as rows that can be compared with those of other ranks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "derive/ranks/collective.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// Process groups of all ranks, numbered in the order in which they are met. A group is its members and its
/// name: names alone are counters, and two communicators may have the same members.
class GroupNames {
 public:
  /// `description`: what the program says of the group; of one group the first that is not empty is kept.
  std::uint32_t id(std::string members, std::string name, std::string_view description = {});
  std::size_t size() const { return names_.size(); }
  /// e.g. "0, 1, 2, 3"; empty when the files do not say.
  const std::string& members(std::uint32_t id) const { return names_[id].first; }
  const std::string& name(std::uint32_t id) const { return names_[id].second; }
  const std::string& description(std::uint32_t id) const { return descriptions_[id]; }
  bool known(std::uint32_t id) const { return !names_[id].first.empty() || !names_[id].second.empty(); }

 private:
  std::map<std::pair<std::string, std::string>, std::uint32_t> ids_;
  std::vector<std::pair<std::string, std::string>> names_;
  std::vector<std::string> descriptions_;
};

/// One rank's part in one collective.
struct CollectiveRow {
  std::uint32_t group;  ///< in GroupNames
  Exchange exchange;
  std::int64_t sequence;        ///< counted by the process group, -1: not recorded
  std::int64_t bytes;           ///< see Collective
  std::int64_t ranks;           ///< that take part, 0: not recorded
  std::int64_t step;            ///< number of the profiler step, -1 outside
  timeline::Time start, end;    ///< on the device (host backends: on the host), Unix ns on the rank's clock
  trace::Row row;               ///< its first kernel or range
  std::int64_t peer = -1;       ///< rank at the other end of a message; -1: not recorded, or no message
  bool sends = false;           ///< the message, to the peer
  std::string_view dtype = {};  ///< of the program's own storage; "": not recorded
  std::int64_t root = -1;  ///< rank number that gives to or takes from all others, -1: none, or not recorded
};

/// By start. Several kernels of one op are one row, from the first start to the last end. Ranks without
/// device collectives give the ranges of their host backend ("gloo:…").
std::vector<CollectiveRow> collective_rows(const trace::Trace& trace, const trace::Rank& rank,
                                           GroupNames& groups);

/// Ranks leave such a collective together: none can end before the last one came.
bool synchronizes(Exchange exchange);
/// Every rank of the group gives and takes equally much.
bool is_even(Exchange exchange);

}  // namespace stepscope::derive
