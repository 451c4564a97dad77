// What a merged file holds about its sources: in its head what merging changed, at its end their totals.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "read/merged/ids.h"
#include "trace/trace.h"

namespace stepscope::read {

/// A process or thread that merging renumbered.
struct Renamed {
  std::int64_t pid = 0, tid = 0;  ///< in the merged file; tid for threads only
  std::string was;                ///< its pid or tid in the source
  std::string name;               ///< for processes: the name that merging gave
};

/// One source of a merged file.
struct MergedSource {
  std::string name;        ///< its file's name
  std::int64_t rank = -1;  ///< -1: no rank
  bool foreign = false;    ///< no rank's recording: drawn on the time line, left out of answers
  bool dftracer = false;   ///< foreign: a file of DFTracer
  std::vector<std::pair<std::string, std::string>> head;  ///< its file's top-level keys with their JSON texts
  std::vector<Renamed> processes, threads;
  std::vector<std::int64_t> id_shifts;  ///< by IdSpace: what merging added to each id
  std::string alignment;                ///< JSON object: the map of its clock
};

/// A source's entry at the end of the merged file.
struct MergedTotal {
  std::string name;
  std::int64_t events = -1;  ///< -1: unknown
  trace::Reading damage;     ///< losses of the source's own file, and whether it was complete
};

/// Parses a source's JSON text in the head.
MergedSource source_of(std::string_view entry);
/// Parses a source's JSON text in the totals.
MergedTotal total_of(std::string_view entry);
/// Adds the losses of an earlier file to those of the file made from it, with `since` appended to their
/// reasons.
void add_damage(trace::Reading& reading, const trace::Reading& damage, const std::string& since);
/// Adds the source's losses before the merge to a section's, and reports events lost since.
void count_merged(trace::Reading& reading, const std::optional<MergedTotal>& total);

}  // namespace stepscope::read
