#include "analyze/steps/batches.h"

#include <algorithm>
#include <map>

#include "analyze/io/io_facts.h"
#include "derive/idle/loading.h"
#include "report/table.h"

namespace stepscope::analyze {

using trace::Row;

void add_batches(std::vector<BatchStages>& batches, std::vector<BatchesReady>& ready, const Derived& derived,
                 const trace::Rank& rank, const std::vector<Row>& waits) {
  const trace::EventTable& e = rank.events;
  const std::int64_t origin = origin_of(rank);
  const auto first = std::ssize(batches);
  std::map<timeline::Time, std::int64_t> changes;
  for (const auto& [wait, fetch] : derive::batch_fetches(derived.trace(), rank, waits)) {
    if (!derived.choice().includes(rank, wait)) continue;
    const timeline::Time asked = e.start[wait], made = e.end[fetch], taken = e.end[wait];
    const timeline::Time late = std::clamp(made, asked, taken) - asked;
    batches.push_back({rank.rank, e.start[fetch] - origin, step_number(rank, wait),
                       process_of(rank.tracks[e.track[fetch]]), e.duration(fetch),
                       std::max<std::int64_t>(0, asked - made), late, taken - asked - late});
    if (made >= taken) continue;  // of clocks that disagree
    ++changes[made - origin];
    --changes[taken - origin];
  }
  std::stable_sort(batches.begin() + first, batches.end(),
                   [](const BatchStages& a, const BatchStages& b) { return a.start < b.start; });
  std::int64_t now = 0;
  for (const auto& [time, change] : changes) ready.push_back({rank.rank, time, now += change});
}

}  // namespace stepscope::analyze
