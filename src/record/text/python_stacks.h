// Stacks of Python calls: a tree of calls while a thread is walked, and what of it is told of an op.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "record/interned.h"

namespace stepscope::record {

class PythonStacks {
 public:
  /// A call of `name` from `caller`; 0: nobody's.
  std::uint32_t call(std::uint32_t caller, std::uint32_t name);
  /// The stack of what runs in that call, by number; 0 is the empty one.
  std::uint32_t stack(std::uint32_t call, const Interned& texts);
  std::vector<std::vector<std::int64_t>> take() { return std::move(stacks_); }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> calls_{{0, 0}};  // caller, name
  std::vector<std::uint32_t> told_{0};                                  // the stack of a call; kUntold
  std::map<std::vector<std::int64_t>, std::uint32_t> known_{{{}, 0}};
  std::vector<std::vector<std::int64_t>> stacks_{{}};
};

}  // namespace stepscope::record
