#include "analyze/kernels/recomputed_work.h"

#include <algorithm>

#include "derive/memory_records.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Unit;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::Trace;

/// Computes RecomputedWork::held.
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

}  // namespace

void add_recomputed_work(std::vector<RecomputedWork>& work, const Trace& trace, const Rank& rank,
                         const StepChoice& choice) {
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
  work.push_back({rank.rank, recomputed.evidence, kernels, time, report::ratio(time, compute),
                  held_bytes(trace, rank, recomputed)});
}

const report::Sheet<RecomputedWork> kRecomputedWorkSheet{
    "Recomputed work",
    report::Shape::table,
    {report::rank_field<RecomputedWork>(&RecomputedWork::rank),
     {"known_by", report::named<&RecomputedWork::known_by>, Role::value},
     {"kernels", &RecomputedWork::kernels, Unit::count},
     {"time", &RecomputedWork::time, Unit::ns},
     {"share", &RecomputedWork::share, Unit::share, Role::share},
     {"held", &RecomputedWork::held, Unit::bytes}}};

}  // namespace stepscope::analyze
