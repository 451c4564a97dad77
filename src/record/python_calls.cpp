#include "record/python_calls.h"

#include <algorithm>

namespace stepscope::record {

PythonIds::Ids PythonIds::next(std::uint32_t track, std::uint32_t depth) {
  const std::uint64_t key = std::uint64_t{track} << 32 | depth;
  Ids ids{0, 0};
  if (const auto expected = expected_.find(key); expected != expected_.end()) {
    ids.id = expected->second;
    expected_.erase(expected);
  } else {
    ids.id = ++last_;
  }
  if (depth > 0) {
    const auto [parent, is_new] = expected_.try_emplace(key - 1);
    if (is_new) parent->second = ++last_;
    ids.parent = parent->second;
  }
  return ids;
}

void SampledCalls::sample(std::uint32_t thread, std::int64_t ns, std::int64_t period_ns,
                          std::span<const std::string_view> names) {
  Stack& stack = stacks_[thread];
  std::size_t common = 0;
  if (ns - stack.last_ns > 2 * stack.period_ns) {
    close(thread, stack, 0, stack.last_ns + stack.period_ns);
  } else {
    while (common < stack.calls.size() && common < names.size() &&
           stack.calls[common].name == names[names.size() - 1 - common])
      ++common;
    close(thread, stack, common, ns);
  }
  for (std::size_t i = 0; i < common; ++i) ++stack.calls[i].samples;
  for (std::size_t i = common; i < names.size(); ++i)
    stack.calls.push_back({names[names.size() - 1 - i], ns, 1});
  stack.last_ns = ns;
  stack.period_ns = period_ns;
}

void SampledCalls::finish() {
  for (auto& [thread, stack] : stacks_) close(thread, stack, 0, stack.last_ns + stack.period_ns);
}

void SampledCalls::close(std::uint32_t thread, Stack& stack, std::size_t down_to, std::int64_t end_ns) {
  while (stack.calls.size() > down_to) {
    const Open& call = stack.calls.back();
    const auto depth = static_cast<std::uint32_t>(stack.calls.size() - 1);
    take_({thread, depth, call.name, call.begin_ns, std::max(call.begin_ns, end_ns), call.samples});
    stack.calls.pop_back();
  }
}

}  // namespace stepscope::record
