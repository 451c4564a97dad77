// All losses are counted; the first few of a file are described.
#pragma once

#include <utility>
#include <vector>

#include "trace/trace.h"

namespace stepscope::read {

inline void describe(std::vector<trace::Loss>& losses, trace::Loss loss) {
  constexpr std::size_t kMaxDescribed = 16;
  if (losses.size() < kMaxDescribed) losses.push_back(std::move(loss));
}

}  // namespace stepscope::read
