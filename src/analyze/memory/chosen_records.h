// The allocator's records of one memory in the chosen steps.
#pragma once

#include <string_view>
#include <vector>

#include "analyze/question.h"
#include "derive/memory_records.h"

namespace stepscope::analyze {

/// Row name of memory that was allocated before the first record.
inline constexpr std::string_view kBeforeRecording = "allocated before the recording";

struct ChosenRecords {
  const trace::Rank& rank;
  const derive::MemoryRecords& records;
  std::vector<std::uint32_t> chosen;  ///< indices of the records in the steps
  std::uint32_t peak;  ///< the first at the highest level; MemoryRecords::kNever without records
};

inline ChosenRecords chosen_records(const trace::Rank& rank, const derive::MemoryRecords& records,
                                    const StepChoice& choice) {
  ChosenRecords memory{rank, records, {}, derive::MemoryRecords::kNever};
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (!choice.includes(rank, records.row[i])) continue;
    memory.chosen.push_back(i);
    if (memory.peak == derive::MemoryRecords::kNever || records.level(i) > records.level(memory.peak))
      memory.peak = i;
  }
  return memory;
}

}  // namespace stepscope::analyze
