// Maps ids of the file (External id, correlation, …) to rows. The index is flat when ids are dense, which is
// nearly always.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/event_table.h"

namespace stepscope::derive {

/// Ids ≤ 0 mean "none" in every dialect and are not indexed. Among rows with equal ids the first added is
/// kept.
class IdIndex {
 public:
  void add(std::int64_t id, trace::Row row) {
    if (id > 0) pairs_.emplace_back(id, row);
  }

  void build() {
    std::int64_t least = 0, most = -1;
    for (const auto& [id, row] : pairs_) {
      least = most < 0 ? id : std::min(least, id);
      most = std::max(most, id);
    }
    if (pairs_.empty()) return;
    if (most - least < static_cast<std::int64_t>(pairs_.size()) * 8 + 1024) {
      least_ = least;
      flat_.assign(static_cast<std::size_t>(most - least + 1), trace::kNoRow);
      for (const auto& [id, row] : pairs_)
        if (trace::Row& slot = flat_[static_cast<std::size_t>(id - least)]; slot == trace::kNoRow) slot = row;
      Column<std::pair<std::int64_t, trace::Row>>().swap(pairs_);
    } else {
      std::stable_sort(pairs_.begin(), pairs_.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
    }
  }

  /// kNoRow when no row has this id.
  trace::Row find(std::int64_t id) const {
    if (id <= 0) return trace::kNoRow;
    if (!flat_.empty()) {
      const auto at = static_cast<std::uint64_t>(id - least_);
      return at < flat_.size() ? flat_[at] : trace::kNoRow;
    }
    const auto found =
        std::lower_bound(pairs_.begin(), pairs_.end(), id,
                         [](const auto& pair, std::int64_t value) { return pair.first < value; });
    return found != pairs_.end() && found->first == id ? found->second : trace::kNoRow;
  }

 private:
  Column<std::pair<std::int64_t, trace::Row>> pairs_;
  Column<trace::Row> flat_;
  std::int64_t least_ = 0;
};

}  // namespace stepscope::derive
