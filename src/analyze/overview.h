// What was recorded, and the facts that decide what the recording can prove.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/capture.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// Facts of one rank. Times are in ns within the window unless Capture states otherwise; device times are
/// report::kNoInt if no device event is recorded.
struct RankFacts : derive::Capture {
  std::int64_t rank = -1;
  std::int64_t complete_steps = 0;  ///< in the window; 0 if the recording counts as one
  std::int64_t lost_stretches = 0, clamped_times = 0, document_complete = 1;
  std::int64_t only_critical = report::kNoInt;  ///< 1 for a copy that holds only the critical path
  std::int64_t accelerators = report::kNoInt,
               cores = report::kNoInt;       ///< of the machine, if the file says so
  std::int64_t op_threads = report::kNoInt;  ///< threads that an operator may use
  std::int64_t anomaly = report::kNoInt, deterministic = report::kNoInt;  ///< PyTorch's switches; 1: on
  std::int64_t parameter_groups = report::kNoInt,
               different_groups = report::kNoInt;  ///< of one optimizer; by settings
  std::int64_t gradients = report::kNoInt;         ///< elements of all gradients in one step
  std::int64_t unread_parameters = report::kNoInt,
               unread_gradients = report::kNoInt;  ///< with a gradient that no optimizer reads; elements
  std::string unread_names;                        ///< the first of them
  std::int64_t input_tensors = report::kNoInt,
               input_gradients = report::kNoInt;  ///< the same of tensors that are no parameters
  std::string input_shape;                        ///< of the largest of them
  std::int64_t padded = report::kNoInt,
               padding = report::kNoInt;  ///< elements of padded batches; of them, padding
  std::int64_t looked_up = report::kNoInt, looked_up_padding = report::kNoInt,
               shared_padding =
                   report::kNoInt;  ///< the same of tokens that embeddings look up; of it, in whole columns
  std::string largest_lookup;       ///< shape of the largest batch of tokens
  std::vector<trace::Training::Embedding> embeddings;
  bool gradients_by_shape = false;  ///< gradients and embeddings were not counted: shapes tell of them
  std::int64_t window = 0;
  std::int64_t dropped = report::kNoInt, full_after = report::kNoInt,
               full_limit = 0;  ///< trace::Full
  std::int64_t collections = 0,
               collecting = report::kNoInt;   ///< Python's garbage collections on the main thread; their ns
  std::int64_t kept_from = report::kNoInt;    ///< trace::Rank::kept_from
  std::int64_t shapes_cost = report::kNoInt;  ///< what shapes of all ops would have cost; they are in windows
  std::int64_t step_median = 0, step_shortest = 0, step_longest = 0, first_step = report::kNoInt;
  std::int64_t compute = report::kNoInt, communication = report::kNoInt;
  std::int64_t exposed_communication = report::kNoInt, exposed_copy = report::kNoInt;
  std::int64_t busy = report::kNoInt, idle = report::kNoInt;
  std::string file, devices, place, backend, steps;  ///< the configuration, as text
  std::string unused_device;  ///< name of one that the recorder watched while nothing was launched; else ""
};

struct Overview {
  std::vector<RankFacts> ranks;
  std::vector<std::string> notes;
};
Overview overview_of(const Derived& derived);

/// The fact tables "What was recorded" and "Times of the window".
extern const report::FactSheet<RankFacts> kRecordedCounts;
extern const report::FactSheet<RankFacts> kWindowTimes;

}  // namespace stepscope::analyze
