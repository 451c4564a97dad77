#include "record/text/python_calls.h"

#include <algorithm>

namespace stepscope::record {

PythonIds::Ids PythonIds::next(std::uint32_t track, std::uint32_t depth) {
  auto& [runs, count] = open_[track];
  if (count <= depth) {
    runs.push_back({count, last_ + 1});
    last_ += depth + 1 - count;
  }
  count = depth;  // this call and the calls inside it are over
  while (runs.back().depth > depth) runs.pop_back();
  Ids ids{runs.back().id + depth - runs.back().depth, 0};
  if (runs.back().depth == depth) runs.pop_back();
  if (depth > 0) ids.parent = runs.back().id + depth - 1 - runs.back().depth;
  return ids;
}

void OuterFirst::add(const PythonCall& call) {
  if (!held_.empty()) {
    const PythonCall& inner = held_.back();
    if (call.track != inner.track || call.depth + 1 != inner.depth || call.begin_ns != inner.begin_ns ||
        call.end_ns != inner.end_ns)
      finish();
  }
  held_.push_back(call);
}

void OuterFirst::finish() {
  std::for_each(held_.rbegin(), held_.rend(), take_);
  held_.clear();
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
