// What gradient checkpointing would save.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/memory_records.h"

namespace stepscope::analyze {

/// All calls of one class of nn.Module checkpointed. Bytes, and ns.
struct CheckpointedModule {
  std::int64_t rank = -1;
  derive::MemoryDevice memory;
  std::string module;  ///< its class
  std::int64_t calls, peak, held, low, high;
  std::int64_t again;  ///< time of the calls, which the backward pass repeats
};

struct Checkpointing {
  std::vector<CheckpointedModule> modules;  ///< lowest `high` first
  std::vector<std::string> notes;
};
Checkpointing checkpointing_of(const Derived& derived);

/// The outermost calls of each class of nn.Module in the chosen steps.
std::map<std::string, std::vector<trace::Row>, std::less<>> calls_by_class(const Derived& derived,
                                                                           const trace::Rank& rank);

}  // namespace stepscope::analyze
