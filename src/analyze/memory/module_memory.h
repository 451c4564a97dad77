// Memory of the activations of each nn.Module at the peak, and how much checkpointing the module would free.
#pragma once

#include <string>
#include <vector>

#include "analyze/question.h"
#include "derive/memory_records.h"

namespace stepscope::analyze {

/// Memory that one module holds at the peak of one memory, in bytes. Rows are a tree in preorder; after it
/// come rows for the backward pass, outside modules and before the recording.
struct ModuleMemory {
  std::int64_t rank;
  derive::MemoryDevice memory;
  std::string module;
  std::string kind;  ///< the module's class; "" for the rows after the tree
  std::int64_t depth, count, bytes;
  std::int64_t self;   ///< without modules below
  std::int64_t freed;  ///< by checkpointing each call; report::kNoInt if calls are not known
  double share;        ///< bytes / all bytes allocated then
};

struct ModuleMemories {
  std::vector<ModuleMemory> modules;
  std::vector<std::string> notes;
};
ModuleMemories module_memory_of(const trace::Trace& trace, const StepChoice& choice);

}  // namespace stepscope::analyze
