// Batches on their way from the worker that fetched them to the step that took them.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"

namespace stepscope::analyze {

/// The stages of one batch, ns: `load`, then `queued` if the program asks later, else the rest of `wait`.
struct BatchStages {
  std::int64_t rank;
  std::int64_t start;  ///< of the fetch, from the first event of the file
  std::int64_t step;   ///< that took it; report::kNoInt outside all steps
  std::string worker;
  std::int64_t load;       ///< the worker fetches and collates
  std::int64_t queued;     ///< fetched, and not asked for
  std::int64_t late;       ///< of the wait: the worker is not done, or has not begun
  std::int64_t hand_over;  ///< the rest of the wait: sending, copying to pinned memory, unpacking
};

/// How many batches are fetched and not taken, from `time` until the next row.
struct BatchesReady {
  std::int64_t rank, time;
  std::int64_t ready;
};

/// `waits`: rows of derive::loading_rows(). Adds what arrows from workers tell: nothing without them.
void add_batches(std::vector<BatchStages>& batches, std::vector<BatchesReady>& ready, const Derived& derived,
                 const trace::Rank& rank, const std::vector<trace::Row>& waits);

}  // namespace stepscope::analyze
