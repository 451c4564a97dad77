#include "record/events/function_averages.h"

#include <map>
#include <unordered_map>

#include "record/interned.h"

namespace stepscope::record {
namespace {

/// For each of `events.inputs_told`, the id of its shapes.
std::vector<std::uint64_t> shapes_of(const FunctionEvents& events) {
  Interned shapes;
  std::vector<std::uint64_t> out;
  for (const InputTexts& inputs : events.inputs_told) out.push_back(shapes.id(inputs.tensor_dims));
  return out;
}

/// For each of `events.stacks`, the id of the stack cut to `depth` entries.
std::vector<std::uint64_t> cut_stacks(const FunctionEvents& events, std::int64_t depth) {
  std::map<std::vector<std::int64_t>, std::uint64_t> known;
  std::vector<std::uint64_t> out;
  for (std::vector<std::int64_t> stack : events.stacks) {
    if (stack.size() > static_cast<std::uint64_t>(depth)) stack.resize(static_cast<std::size_t>(depth));
    out.push_back(known.try_emplace(std::move(stack), known.size()).first->second);
  }
  return out;
}

/// Gives each distinct pair an id.
class Pairs {
 public:
  std::uint64_t id(std::uint64_t a, std::uint64_t b) {
    return ids_.try_emplace(a << 32 | b, ids_.size()).first->second;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> ids_;
};

}  // namespace

FunctionAverages function_averages(const FunctionEvents& events, std::span<const std::int64_t> flops,
                                   Grouping grouping) {
  FunctionAverages out;
  const auto columns = {
      &out.first,          &out.count,     &out.total_ns,     &out.self_ns,        &out.device_ns,
      &out.self_device_ns, &out.cpu_bytes, &out.device_bytes, &out.self_cpu_bytes, &out.self_device_bytes,
      &out.flops};
  const auto shapes = grouping.by_shapes ? shapes_of(events) : std::vector<std::uint64_t>();
  const auto stacks =
      grouping.stack_depth > 0 ? cut_stacks(events, grouping.stack_depth) : std::vector<std::uint64_t>();
  Pairs by_shapes, by_stack, by_overload;
  std::unordered_map<std::uint64_t, std::size_t> groups;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool on_device = events.device[i] >= 0;
    std::uint64_t key = static_cast<std::uint64_t>(events.name[i]) * 4 + on_device * std::uint64_t{2} +
                        (events.scope[i] == kUserScope);
    if (!shapes.empty()) key = by_shapes.id(key, shapes[static_cast<std::size_t>(events.inputs[i])]);
    if (!stacks.empty()) key = by_stack.id(key, stacks[static_cast<std::size_t>(events.stack[i])]);
    if (grouping.by_overload) key = by_overload.id(key, static_cast<std::uint64_t>(events.overload[i] + 1));
    const auto [at, added] = groups.try_emplace(key, out.first.size());
    if (added) {
      for (auto* column : columns) column->push_back(0);
      out.first.back() = static_cast<std::int64_t>(i);
    }
    const std::size_t g = at->second;
    ++out.count[g];
    const auto add = [&](std::vector<std::int64_t>& column, std::int64_t value) {
      column[g] = sum_of(column[g], value);
    };
    if (!on_device) add(out.total_ns, difference_of(events.end_ns[i], events.begin_ns[i]));
    add(out.self_ns, events.self_ns[i]);
    add(out.device_ns, events.device_ns[i]);
    add(out.self_device_ns, events.self_device_ns[i]);
    add(out.cpu_bytes, events.cpu_bytes[i]);
    add(out.device_bytes, events.device_bytes[i]);
    add(out.self_cpu_bytes, events.self_cpu_bytes[i]);
    add(out.self_device_bytes, events.self_device_bytes[i]);
    if (!flops.empty()) add(out.flops, flops[i]);
  }
  return out;
}

}  // namespace stepscope::record
