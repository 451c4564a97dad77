#include "derive/memory_use.h"

#include <algorithm>
#include <limits>

#include "derive/phases.h"

namespace stepscope::derive {
namespace {

using timeline::Interval;
using timeline::Time;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Row;

constexpr Time kNever = std::numeric_limits<Time>::max();
constexpr std::string_view kBackward = "autograd::engine::evaluate_function: ",
                           kOptimizer = "Optimizer.step#";

class Uses {
 public:
  Uses(const trace::Trace& trace, const trace::Rank& rank)
      : trace_(trace), rank_(rank), roles_(trace.strings.size(), Role::unseen) {
    for (const Row row : rank.host_rows())
      if (is_host_range(rank.events.kind[row]) && role_of(row) == Role::optimizer)
        steps_.push_back({rank.events.start[row], rank.events.end[row]});
    std::ranges::sort(steps_, {}, &Interval::begin);
    const PhaseTimes phases = phase_times(
        trace, rank, {std::numeric_limits<Time>::min() / 2, std::numeric_limits<Time>::max() / 2});
    const auto passes = phases[static_cast<std::size_t>(Phase::backward)].parts();
    passes_.assign(passes.begin(), passes.end());
  }

  MemoryUse of(Row range, Time at, Time freed, bool is_parameter) {
    Time op_end = -1, step_end = -1;
    Role place = Role::other;
    for (Row row = range; row != kNoRow; row = rank_.events.parent[row]) {
      const Role role = role_of(row);
      if (role == Role::op || role == Role::backward) op_end = rank_.events.end[row];
      if (role == Role::optimizer) step_end = rank_.events.end[row];
      place = std::max(place, role);
    }
    if (op_end >= freed) return MemoryUse::temporary;
    if (place == Role::loader) return MemoryUse::input;
    if (place == Role::optimizer)
      return step_end >= freed ? MemoryUse::temporary : MemoryUse::optimizer_state;
    if (place == Role::backward) {
      const Time pass = pass_end(at);
      return pass >= freed ? MemoryUse::autograd_detail : MemoryUse::gradient;
    }
    if (place != Role::op) return MemoryUse::unknown;
    if (is_parameter && freed == kNever) return MemoryUse::parameter;
    return steps_within(at, freed) < 2 ? MemoryUse::activation : MemoryUse::unknown;
  }

 private:
  enum class Role : std::uint8_t { unseen, other, op, backward, optimizer, loader };

  Role role_of(Row row) {
    Role& role = roles_[rank_.events.name[row]];
    if (role == Role::unseen) {
      const std::string_view name = trace_.name(rank_, row);
      role = name.starts_with(kBackward)                                                     ? Role::backward
             : name.starts_with(kOptimizer)                                                  ? Role::optimizer
             : name.starts_with("enumerate(DataLoader)#") || name.starts_with("DataLoader.") ? Role::loader
                                                                                             : Role::other;
    }
    if (role == Role::other && rank_.events.kind[row] == Kind::op) return Role::op;
    return role;
  }

  /// End of the backward pass at `at`; -1 outside passes.
  Time pass_end(Time at) const {
    const auto after = std::ranges::upper_bound(passes_, at, {}, &Interval::begin);
    return after != passes_.begin() && std::prev(after)->end >= at ? std::prev(after)->end : -1;
  }

  int steps_within(Time begin, Time end) const {
    auto step = std::ranges::lower_bound(steps_, begin, {}, &Interval::begin);
    int count = 0;
    for (; step != steps_.end() && step->end <= end && count < 2; ++step) ++count;
    return count;
  }

  const trace::Trace& trace_;
  const trace::Rank& rank_;
  std::vector<Role> roles_;  // by name
  std::vector<Interval> steps_, passes_;
};

}  // namespace

std::string_view name_of(MemoryUse use) {
  constexpr std::string_view kNames[] = {"parameters",  "optimizer state", "inputs",         "temporaries",
                                         "activations", "gradients",       "autograd's own", "unknown"};
  return kNames[static_cast<std::size_t>(use)];
}

std::vector<MemoryUse> memory_uses(const trace::Trace& trace, const trace::Rank& rank,
                                   const MemoryRecords& records, const std::vector<bool>& is_parameter) {
  Uses uses(trace, rank);
  std::vector<MemoryUse> out(records.size(), MemoryUse::unknown);
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (records.bytes[i] <= 0) continue;
    const std::uint32_t freed = records.freed[i];
    out[i] = uses.of(records.range[i], rank.events.start[records.row[i]],
                     freed == MemoryRecords::kNever ? kNever : rank.events.start[records.row[freed]],
                     is_parameter[i]);
  }
  return out;
}

}  // namespace stepscope::derive
