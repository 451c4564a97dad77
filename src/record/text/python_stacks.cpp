#include "record/text/python_stacks.h"

#include <string_view>

namespace stepscope::record {
namespace {

constexpr std::uint32_t kUntold = ~0U;

/// False for frames in which PyTorch calls itself; torch.profiler leaves them out, too.
bool says_something(std::string_view frame) {
  static constexpr std::pair<std::string_view, std::string_view> kInside[] = {
      {"autograd/__init__", "_make_grads"},
      {"autograd/__init__", "backward"},
      {"torch/tensor", "backward"},
      {"_internal/common_utils", "prof_callable"},
      {"_internal/common_utils", "prof_func_call"},
      {"_internal/common_utils", "prof_meth_call"},
  };
  for (const auto& [file, function] : kInside)
    if (frame.find(file) != frame.npos && frame.find(function) != frame.npos) return false;
  return true;
}

}  // namespace

std::uint32_t PythonStacks::call(std::uint32_t caller, std::uint32_t name) {
  const auto [at, added] = numbers_.try_emplace({caller, name}, static_cast<std::uint32_t>(calls_.size()));
  if (added) {
    calls_.emplace_back(caller, name);
    told_.push_back(kUntold);
  }
  return at->second;
}

std::uint32_t PythonStacks::stack(std::uint32_t call, const Interned& texts) {
  if (told_[call] != kUntold) return told_[call];
  std::vector<std::int64_t> frames;
  for (std::uint32_t at = call; at != 0; at = calls_[at].first)
    if (says_something(texts[calls_[at].second])) frames.push_back(calls_[at].second);
  const auto [at, added] = known_.try_emplace(frames, static_cast<std::uint32_t>(stacks_.size()));
  if (added) stacks_.push_back(std::move(frames));
  return told_[call] = at->second;
}

}  // namespace stepscope::record
