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

/// Process groups of all ranks, numbered in order of appearance. Members and name identify a group: names
/// alone are counters, and two communicators may have the same members.
class GroupNames {
 public:
  /// `description`: the program's text about the group. The first non-empty description of a group is kept.
  std::uint32_t id(std::string members, std::string name, std::string_view description = {});
  std::size_t size() const { return names_.size(); }
  /// e.g. "0, 1, 2, 3"; empty if not recorded.
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
  std::int64_t ranks;           ///< participating ranks, 0: not recorded
  std::int64_t step;            ///< number of the profiler step, -1 outside
  timeline::Time start, end;    ///< on the device (host backends: on the host), Unix ns on the rank's clock
  trace::Row row;               ///< its first kernel or range
  std::int64_t peer = -1;       ///< rank at the other end of a message; -1: not recorded, or no message
  bool sends = false;           ///< this rank sends the message to `peer`
  std::string_view dtype = {};  ///< in static storage; "": not recorded
  std::int64_t root = -1;       ///< rank number of the root, -1: none, or not recorded
};

/// A rank's collective rows by start. Several kernels of one op are one row, from the first start to the last
/// end. Without device collectives, the rows are the ranges of the host backend ("gloo:…").
std::vector<CollectiveRow> collective_rows(const trace::Trace& trace, const trace::Rank& rank,
                                           GroupNames& groups);

/// True if ranks leave the collective together: no rank can end it before the last rank has started it.
bool synchronizes(Exchange exchange);
/// True if every rank of the group sends and receives the same amount.
bool is_even(Exchange exchange);

}  // namespace stepscope::derive
