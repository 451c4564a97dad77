#include "derive/places/paths_of_calls.h"

#include <algorithm>
#include <map>
#include <utility>

namespace stepscope::derive {

using trace::Row;
using trace::StringId;

PathsOfCalls::PathsOfCalls(const trace::Rank& rank, const trace::ArgReader& shapes, std::vector<Row> calls,
                           const Column<StackPiece>& pieces, const std::vector<PathId>& paths)
    : calls_(std::move(calls)), paths_(calls_.size(), kNoPath) {
  const trace::EventTable& e = rank.events;
  struct Seen {
    std::vector<PathId> paths;
    std::size_t next = 0;
  };
  std::map<std::pair<StringId, StringId>, Seen> seen;  // by name and shapes; by name and ""
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const Row row = calls_[i];
    const std::ptrdiff_t piece = piece_during(pieces, {e.start[row], e.end[row]});
    if (piece < 0) continue;
    const PathId path = paths_[i] = paths[static_cast<std::size_t>(piece)];
    if (path == kNoPath) continue;
    seen[{e.name[row], trace::kEmptyString}].paths.push_back(path);
    if (shapes.id(row) != trace::kEmptyString) seen[{e.name[row], shapes.id(row)}].paths.push_back(path);
  }
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const Row row = calls_[i];
    if (paths_[i] != kNoPath) continue;
    auto of = seen.find({e.name[row], shapes.id(row)});
    if (of == seen.end()) of = seen.find({e.name[row], trace::kEmptyString});
    if (of != seen.end()) paths_[i] = of->second.paths[of->second.next++ % of->second.paths.size()];
  }
}

PathId PathsOfCalls::of(Row call) const {
  const auto at = std::lower_bound(calls_.begin(), calls_.end(), call);
  return at == calls_.end() || *at != call ? kNoPath : paths_[static_cast<std::size_t>(at - calls_.begin())];
}

}  // namespace stepscope::derive
