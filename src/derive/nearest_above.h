// The nearest event around another that has a property. What was found is remembered, so that events nested
// thousands deep take no more time than others.
#pragma once

#include <unordered_map>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

template <class Has>
class NearestAbove {
 public:
  NearestAbove(const trace::Rank& rank, Has has) : parent_(rank.events.parent), has_(has) {}

  /// `row` itself or the innermost event around it that has it; kNoRow: none.
  trace::Row operator()(trace::Row row) {
    trace::Row at = row, found = trace::kNoRow;
    passed_.clear();
    for (; at != trace::kNoRow; at = parent_[at]) {
      if (has_(at)) {
        found = at;
        break;
      }
      if (const auto known = known_.find(at); known != known_.end()) {
        found = known->second;
        break;
      }
      passed_.push_back(at);
    }
    for (const trace::Row one : passed_) known_.emplace(one, found);
    return found;
  }

 private:
  const Column<trace::Row>& parent_;
  const Has has_;
  std::unordered_map<trace::Row, trace::Row> known_;
  std::vector<trace::Row> passed_;
};

}  // namespace stepscope::derive
