#include "record/events/function_tree.h"

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace stepscope::record {
namespace {

std::array<std::vector<std::int64_t>*, 18> columns(FunctionEvents& e) {
  return {&e.begin_ns, &e.end_ns,    &e.parent,       &e.name,           &e.trace_name, &e.overload,
          &e.inputs,   &e.stack,     &e.thread,       &e.forward_thread, &e.sequence,   &e.scope,
          &e.is_async, &e.cpu_bytes, &e.device_bytes, &e.device,         &e.stream,     &e.launcher};
}

}  // namespace

void merge_repeated(FunctionEvents& e, std::size_t first) {
  std::vector<std::uint32_t> children(e.size());
  std::vector<std::uint32_t> place(e.size());  // the event's new index, or its parent's if it was merged
  for (std::size_t i = first; i < e.size(); ++i)
    if (e.parent[i] >= 0) ++children[static_cast<std::size_t>(e.parent[i])];
  std::size_t kept = first;
  for (std::size_t i = first; i < e.size(); ++i) {
    if (e.parent[i] >= 0) {
      const std::size_t parent = place[static_cast<std::size_t>(e.parent[i])];
      e.parent[i] = static_cast<std::int64_t>(parent);
      if (e.name[parent] == e.name[i] && children[parent] == 1) {
        children[parent] = children[i];
        place[i] = static_cast<std::uint32_t>(parent);
        continue;
      }
    }
    place[i] = static_cast<std::uint32_t>(kept);
    children[kept] = children[i];
    for (auto* column : columns(e)) (*column)[kept] = (*column)[i];
    ++kept;
  }
  for (auto* column : columns(e)) column->resize(kept);
  for (std::size_t i = first; i < kept; ++i)
    if (e.launcher[i] >= 0) e.launcher[i] = place[static_cast<std::size_t>(e.launcher[i])];
}

void subtract_children(FunctionEvents& e, std::size_t first) {
  for (auto* column : {&e.self_ns, &e.self_cpu_bytes, &e.self_device_bytes}) column->resize(e.size());
  const auto own = [&](std::size_t i, std::vector<std::int64_t>& self, std::int64_t total) {
    if (e.is_async[i] == 0) self[i] = sum_of(self[i], total);
    if (e.parent[i] < 0) return;
    std::int64_t& above = self[static_cast<std::size_t>(e.parent[i])];
    above = difference_of(above, total);
  };
  for (std::size_t i = first; i < e.size(); ++i) {
    if (e.device[i] >= 0) continue;
    own(i, e.self_ns, e.end_ns[i] - e.begin_ns[i]);
    own(i, e.self_cpu_bytes, e.cpu_bytes[i]);
    own(i, e.self_device_bytes, e.device_bytes[i]);
  }
}

void add_device_times(FunctionEvents& e, std::size_t first) {
  for (auto* column : {&e.device_ns, &e.self_device_ns}) column->resize(e.size());
  if (!e.has_devices) return;
  for (std::size_t i = first; i < e.size(); ++i) {
    if (e.device[i] < 0) continue;
    e.self_device_ns[i] = e.end_ns[i] - e.begin_ns[i];
    if (e.launcher[i] < 0) continue;
    std::int64_t& own = e.self_device_ns[static_cast<std::size_t>(e.launcher[i])];
    own = sum_of(own, e.self_device_ns[i]);
  }
  for (std::size_t i = e.size(); i-- > first;) {
    e.device_ns[i] = sum_of(e.device_ns[i], e.self_device_ns[i]);
    if (e.parent[i] < 0) continue;
    std::int64_t& above = e.device_ns[static_cast<std::size_t>(e.parent[i])];
    above = sum_of(above, e.device_ns[i]);
  }
}

void set_backward_stacks(FunctionEvents& e, std::size_t first) {
  std::vector<std::int64_t> backward(e.size() - first, -1);
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> forward;  // sequence, thread
  for (std::size_t i = first; i < e.size(); ++i) {
    auto& above = backward[i - first];
    if (e.scope[i] == kBackwardScope)
      above = static_cast<std::int64_t>(i);
    else if (e.parent[i] >= 0)
      above = backward[static_cast<std::size_t>(e.parent[i]) - first];
    if (above < 0 && e.device[i] < 0) forward.try_emplace({e.sequence[i], e.thread[i]}, e.stack[i]);
  }
  for (std::size_t i = first; i < e.size(); ++i) {
    if (backward[i - first] < 0) continue;
    const auto above = static_cast<std::size_t>(backward[i - first]);
    const auto found = forward.find({e.sequence[above], e.forward_thread[above]});
    e.stack[i] = found == forward.end() ? 0 : found->second;
  }
}

}  // namespace stepscope::record
