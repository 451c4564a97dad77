// Stacks of Python calls: a tree of calls, built while a thread is walked, and the stacks of ops made from
// it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "record/interned.h"

namespace stepscope::record {

class PythonStacks {
 public:
  /// Id of a call of `name` by the call `caller`; 0: no caller.
  std::uint32_t call(std::uint32_t caller, std::uint32_t name);
  /// Id of the stack of events inside `call`; 0: the empty stack.
  std::uint32_t stack(std::uint32_t call, const Interned& texts);
  std::vector<std::vector<std::int64_t>> take() { return std::move(stacks_); }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> calls_{{0, 0}};  // caller, name
  std::vector<std::uint32_t> told_{0};                                  // stack of each call, or kUntold
  std::map<std::vector<std::int64_t>, std::uint32_t> known_{{{}, 0}};
  std::vector<std::vector<std::int64_t>> stacks_{{}};
};

}  // namespace stepscope::record
