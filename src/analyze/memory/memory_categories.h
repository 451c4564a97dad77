// What memory is for: parameters, gradients, optimizer state, activations, inputs, temporaries.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/memory_use.h"

namespace stepscope::analyze {

/// Bytes by category at one instant.
struct CategoryInstant {
  std::int64_t rank;
  std::string device;  ///< "host", "device 0"; "exported": of an exported time line, which does not say
  std::int64_t place;  ///< of the record in its memory
  std::int64_t time;   ///< ns from the first event
  std::int64_t all = 0, parameters = 0, optimizer_state = 0, inputs = 0, temporaries = 0, activations = 0,
               gradients = 0, autograd = 0, unknown = 0, before = 0;
};

/// The member of each derive::MemoryUse, then of what was allocated before the recording.
inline constexpr std::size_t kCategories = derive::kMemoryUses + 1;
inline constexpr std::array<std::int64_t CategoryInstant::*, kCategories> kCategoryMembers{
    &CategoryInstant::parameters,  &CategoryInstant::optimizer_state, &CategoryInstant::inputs,
    &CategoryInstant::temporaries, &CategoryInstant::activations,     &CategoryInstant::gradients,
    &CategoryInstant::autograd,    &CategoryInstant::unknown,         &CategoryInstant::before};

/// One category of one memory. Bytes; report::kNoInt if not known.
struct MemoryCategory {
  std::int64_t rank;
  std::string device;
  std::string_view category;
  std::int64_t bytes;         ///< at the memory's peak
  double share;               ///< of all bytes then
  std::int64_t count;         ///< allocations, without those from before the recording
  std::int64_t inferred;      ///< of `bytes`, made before the recording and inferred
  std::int64_t highest;       ///< most that the category took at any instant
  std::int64_t highest_time;  ///< ns from the first event
};

struct MemoryCategories {
  std::vector<MemoryCategory> categories;  ///< by memory, most bytes at the peak first
  std::vector<CategoryInstant> curve;
  std::vector<std::string> notes;
};

inline constexpr std::int64_t kCategoryPoints = 400;

/// `points`: max points of each memory's curve.
MemoryCategories memory_categories_of(const Derived& derived, std::int64_t points = kCategoryPoints);

}  // namespace stepscope::analyze
