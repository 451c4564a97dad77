#include "analyze/kernels/recomputed_work.h"

#include <algorithm>
#include <vector>

#include "derive/memory_records.h"
#include "derive/roof/recompute.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Unit;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::Trace;

/// Bytes that recomputation allocates in a step and does not free itself, the most of all steps and devices:
/// what would be held from the forward pass on. kNoInt where allocations are not recorded.
std::int64_t held_bytes(const Trace& trace, const Rank& rank, const derive::Recomputation& recomputed) {
  const auto inside = [&](Row range) { return range != kNoRow && recomputed.rows[range]; };
  std::int64_t most = report::kNoInt;
  for (const derive::MemoryRecords& memory : derive::memory_records(trace, rank)) {
    if (memory.device.host() || !memory.addressed) continue;
    std::vector<std::int64_t> by_step(rank.steps.size() + 1);
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const std::uint32_t freed = memory.freed[i];
      const bool stays = freed == derive::MemoryRecords::kNever || !inside(memory.range[freed]);
      if (memory.bytes[i] <= 0 || !inside(memory.range[i]) || !stays) continue;
      report::add_to(by_step[static_cast<std::size_t>(std::int64_t{rank.events.step[memory.row[i]]} + 1)],
                     memory.bytes[i]);
    }
    most = std::max(most, *std::max_element(by_step.begin(), by_step.end()));
  }
  return most;
}

std::string_view name_of(derive::Recomputation::Evidence evidence) {
  using Evidence = derive::Recomputation::Evidence;
  return evidence == Evidence::python_stack       ? "Python stacks"
         : evidence == Evidence::sequence_numbers ? "sequence numbers"
                                                  : "the checkpoint's node";
}

}  // namespace

RecomputedWork::RecomputedWork(const Trace& trace)
    : table_{"Recomputed work", report::Shape::table, {}},
      rank_(table_, trace),
      evidence_(table_.texts("known_by", Role::value)),
      kernels_(table_.ints("kernels", Unit::count)),
      time_(table_.ints("time", Unit::ns)),
      share_(table_.reals("share", Unit::share, Role::share)),
      held_(table_.ints("held", Unit::bytes)) {}

void RecomputedWork::add(const Trace& trace, const Rank& rank, const StepChoice& choice) {
  const trace::EventTable& e = rank.events;
  const derive::Recomputation recomputed = derive::recomputed_rows(trace, rank);
  if (!recomputed.any()) return;
  std::int64_t kernels = 0, time = 0, compute = 0;
  for (const Row row : rank.device_rows()) {
    if (e.work[row] != trace::Work::compute || !choice.includes(rank, row)) continue;
    report::add_to(compute, e.duration(row));
    if (!recomputed.includes(e, row)) continue;
    ++kernels;
    report::add_to(time, e.duration(row));
  }
  if (kernels == 0) return;
  rank_.add(rank);
  evidence_.emplace_back(name_of(recomputed.evidence));
  kernels_.push_back(kernels);
  time_.push_back(time);
  share_.push_back(report::ratio(time, compute));
  held_.push_back(held_bytes(trace, rank, recomputed));
}

}  // namespace stepscope::analyze
