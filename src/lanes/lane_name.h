// Roles, names and keys of lanes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "derive/thread_role.h"
#include "lanes/lane.h"

namespace stepscope::lanes {

/// A stream's role is the work that takes most of its time, a thread's role that of derive.
class TrackRoles {
 public:
  TrackRoles(const trace::Trace& trace, const trace::Rank& rank);
  Role of(trace::TrackId track) const;
  /// "main", "stream 7"
  std::string name_of(trace::TrackId track) const;
  /// With the thread's number, its own name, and its process unless that is the main thread's.
  std::string title_of(trace::TrackId track) const;

 private:
  Role of_stream(const trace::Track& track) const;

  const trace::Rank& rank_;
  std::vector<derive::ThreadRole> threads_;
  std::vector<bool> sampled_;  // by track: it holds samples of a thread's Python stack
  std::string process_;        // of the main thread
};

/// Gives out keys, e.g. "r0/t123" and "r0/d0s7"; with the process where that is taken: "r0/p5t123".
class LaneKeys {
 public:
  std::string of(const trace::Rank& rank, const trace::Track& track);

 private:
  std::map<std::string, int> taken_;  // how often each was asked for
};

}  // namespace stepscope::lanes
