#include "advise/late_workers.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/places.h"
#include "advise/rules/constants.h"
#include "advise/say.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

/// What the workers do while they fetch; null: not recorded.
const analyze::Fetching* fetching_of(const Evidence& e) {
  const auto all = e.mine(e.reports().lines.elsewhere.fetching, "Fetching by workers");
  return all.empty() ? nullptr : all.front();
}

/// Cores that the workers use, or would if they were free; 0: not known.
double cores_of_workers(const Evidence& e) {
  const analyze::Fetching* of = fetching_of(e);
  return of == nullptr || of->cpu == report::kNoInt ? 0 : report::ratio(of->cpu, e.fact(&Facts::window));
}

}  // namespace

bool cores_are_used_up(const Evidence& e) {
  const std::int64_t cores = e.fact(&Facts::cores);
  return cores > 0 && cores_of_workers(e) >= kMostOfCores * static_cast<double>(cores);
}

bool more_workers_help(const Evidence& e) {
  const analyze::Fetching* of = fetching_of(e);
  return of != nullptr && !cores_are_used_up(e) &&
         static_cast<double>(of->fetching) >=
             kBusyWorkers * static_cast<double>(of->workers) * static_cast<double>(e.fact(&Facts::window));
}

std::int64_t load_of_a_batch(const Evidence& e, std::int64_t wait) {
  const analyze::Fetching* of = fetching_of(e);
  if (of == nullptr || of->batches == 0) return 0;
  const std::int64_t load = of->fetching / of->batches;
  return static_cast<double>(load) <= kSomeOfWait * static_cast<double>(wait) ? load : 0;
}

std::string for_late_workers(const Evidence& e, bool files_are_fast) {
  const analyze::Fetching* of = fetching_of(e);
  const std::int64_t cores = e.fact(&Facts::cores);
  const auto lines = e.mine(e.reports().lines.elsewhere.workers, "Lines of workers");
  const std::string slow = lines.empty() ? "the transform" : placed(lines.front()->line);
  if (of == nullptr || of->cpu == report::kNoInt || cores <= 0)
    return "More workers, as long as those of all ranks on the host fit its cores; if the cores are busy, "
           "move decoding out of the workers or cache it; raise prefetch_factor.";
  const std::string used =
      of->workers == 1
          ? fmt::format("The worker needs {:.1f} of {} cores", cores_of_workers(e), cores)
          : fmt::format("The {} workers need {:.1f} of {} cores", of->workers, cores_of_workers(e), cores);
  if (cores_are_used_up(e))
    return fmt::format("{}: more of them would not help. Make {} cheaper, or do it once and keep the result.",
                       used, slow);
  if (static_cast<double>(of->cpu) >= kMostOfCost * static_cast<double>(of->fetching))
    return fmt::format("num_workers={}: {}, and {} while it fetches. Or make {} cheaper.",
                       std::max(of->workers + 1, cores), used,
                       of->workers == 1 ? "computes" : "each computes", slow);
  return fmt::format("num_workers={}: {}; the rest of a fetch is waiting, {}. Such waits overlap. Or {} {}.",
                     std::max(2 * of->workers, cores), used,
                     files_are_fast ? "but not for files" : "for files or a network",
                     files_are_fast ? "wait less in" : "read ahead in", slow);
}

}  // namespace stepscope::advise
