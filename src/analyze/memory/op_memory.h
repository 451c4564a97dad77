// What operators allocate and free.
#pragma once

#include <string>
#include <vector>

#include "analyze/memory/chosen_records.h"
#include "derive/call_paths.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// Row name for allocations outside operators.
inline constexpr std::string_view kOutsideOperators = "outside operators";

/// Allocations of one operator in one memory, in bytes. `increase`: bytes allocated minus bytes freed;
/// `self`: without operators below. The row kOutsideOperators has only the `self` numbers; the others are
/// report::kNoInt.
struct OpMemory {
  std::int64_t rank = -1;
  derive::MemoryDevice memory;
  std::string op;
  std::int64_t calls = 0, increase = 0, self_increase = 0, count = 0, self_count = 0, size = 0, self_size = 0;
  std::int64_t kept = 0;  ///< own allocations never freed; report::kNoInt if addresses are not recorded
};
extern const report::Sheet<OpMemory> kOpMemorySheet;

/// The rank's operators by path. `outermost`: by path, whether no operator above has the same name.
struct OpPaths {
  derive::CallPaths paths;
  derive::HostPaths host;
  std::vector<bool> outermost;
};
OpPaths op_paths(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice);

/// Adds a memory's operators, largest own increase first.
void add_op_memory(std::vector<OpMemory>& ops, const ChosenRecords& memory, const OpPaths& paths);

}  // namespace stepscope::analyze
