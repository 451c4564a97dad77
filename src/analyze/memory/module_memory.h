// What the activations of each nn.Module hold when memory is fullest, and what checkpointing it would free.
#pragma once

#include <string>
#include <vector>

#include "analyze/question.h"
#include "derive/memory_records.h"

namespace stepscope::analyze {

/// What one module holds at the peak of one memory, in bytes; a tree in preorder. What no module holds
/// follows its tree: of the backward pass, of outside modules, of before the recording.
struct ModuleMemory {
  std::int64_t rank;
  derive::MemoryDevice memory;
  std::string module;
  std::string kind;  ///< its class; "" for what no module holds
  std::int64_t depth, count, bytes;
  std::int64_t self;   ///< without modules below
  std::int64_t freed;  ///< by checkpointing each call; report::kNoInt where calls are not known
  double share;        ///< of all that was allocated
};

struct ModuleMemories {
  std::vector<ModuleMemory> modules;
  std::vector<std::string> notes;
};
ModuleMemories module_memory_of(const trace::Trace& trace, const StepChoice& choice);

}  // namespace stepscope::analyze
