#include "analyze/kernels/element_chains.h"

#include <vector>

#include "report/statistics.h"
#include "trace/args.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using derive::KernelKind;
using trace::Row;

bool is_element_wise(KernelKind kind) {
  return kind == KernelKind::pointwise || kind == KernelKind::cast || kind == KernelKind::copy ||
         kind == KernelKind::concat;
}

}  // namespace

ChainedTime chained_time(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice) {
  const trace::EventTable& e = rank.events;
  const trace::ArgReader grids(trace, rank, "grid");
  trace::AskedOnce kind_of(trace.strings, derive::kernel_kind);
  ChainedTime saved{};
  std::vector<Row> run;
  const auto close = [&] {
    const auto k = static_cast<double>(run.size());
    for (const Row row : run)
      report::add_to(saved[static_cast<std::size_t>(kind_of(e.name[row]))],
                     static_cast<std::int64_t>(static_cast<double>(e.duration(row)) * (k - 1) / k));
    run.clear();
  };
  for (const trace::Track& track : rank.tracks) {
    if (track.side != trace::Track::Side::device) continue;
    for (Row row = track.begin; row < track.end; ++row) {
      if (!is_device_work(e.kind[row])) continue;
      const bool fits = e.kind[row] == trace::Kind::kernel && choice.includes(rank, row) &&
                        is_element_wise(kind_of(e.name[row])) && grids.id(row) != trace::kEmptyString;
      if (!fits || (!run.empty() && grids.id(row) != grids.id(run.front()))) close();
      if (fits) run.push_back(row);
    }
    close();
  }
  return saved;
}

}  // namespace stepscope::analyze
