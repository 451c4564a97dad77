#include "derive/memory_use.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "derive/phases.h"
#include "derive/work/op_args.h"

namespace stepscope::derive {
namespace {

using timeline::Interval;
using timeline::Time;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Row;

constexpr Time kNever = std::numeric_limits<Time>::max();
constexpr Interval kAlways{std::numeric_limits<Time>::min() / 2, std::numeric_limits<Time>::max() / 2};
constexpr std::string_view kBackward = "autograd::engine::evaluate_function: ",
                           kOptimizer = "Optimizer.step#";

/// Whether operators take tensors, as far as their arguments are recorded.
class Takers {
 public:
  Takers(const trace::Trace& trace, const trace::Rank& rank)
      : trace_(trace), dims_(trace, rank, "Input Dims"), types_(trace, rank, "Input type") {}

  bool takes_none(Row op) {
    const auto [found, added] = known_.try_emplace({dims_.id(op), types_.id(op)}, false);
    if (added) {
      const OpArgs args =
          parse_op_args(trace_.text(found->first.first), trace_.text(found->first.second), {}, {});
      found->second = args.has_types && std::ranges::none_of(args.args, [](const Arg& arg) {
                        return arg.kind == ArgKind::tensor || arg.kind == ArgKind::tensor_list;
                      });
    }
    return found->second;
  }

 private:
  const trace::Trace& trace_;
  const trace::ArgReader dims_, types_;
  std::map<std::pair<trace::StringId, trace::StringId>, bool> known_;
};

class Uses {
 public:
  Uses(const trace::Trace& trace, const trace::Rank& rank)
      : trace_(trace),
        rank_(rank),
        roles_(trace.strings.size(), Role::unseen),
        takers_(trace, rank),
        phases_(phase_times(trace, rank, kAlways)),
        phase_at_(phases_) {
    for (const Row row : rank.host_rows())
      if (is_host_range(rank.events.kind[row]) && role_of(row) == Role::optimizer)
        steps_.push_back({rank.events.start[row], rank.events.end[row]});
    std::ranges::sort(steps_, {}, &Interval::begin);
    const auto passes = phases_[static_cast<std::size_t>(Phase::backward)].parts();
    passes_.assign(passes.begin(), passes.end());
  }

  MemoryUse of(Row range, Time at, Time freed, bool is_parameter) {
    Time op_end = -1, step_end = -1;
    Role place = Role::other;
    Row outermost = kNoRow;  // operator
    for (Row row = range; row != kNoRow; row = rank_.events.parent[row]) {
      const Role role = role_of(row);
      if (role == Role::op || role == Role::backward) op_end = rank_.events.end[row];
      if (role == Role::op) outermost = row;
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
    if (steps_within(at, freed) >= 2) return MemoryUse::unknown;
    return makes_input(outermost, at) ? MemoryUse::input : MemoryUse::activation;
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

  /// Whether what an operator makes is no result of the model: it takes no tensor, or copies one outside of
  /// the forward pass.
  bool makes_input(Row op, Time at) {
    if (takers_.takes_none(op)) return true;
    const Phase phase = phase_at_(at);
    const std::string_view name = trace_.name(rank_, op);
    return (phase == Phase::other || phase == Phase::data) &&
           (name == "aten::to" || name == "aten::_to_copy" || name == "aten::pin_memory");
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
  Takers takers_;
  const PhaseTimes phases_;
  const PhaseAt phase_at_;
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
