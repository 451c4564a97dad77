// What memory_plan is asked to plan for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "derive/growth/held_before.h"
#include "derive/growth/memory_plan.h"
#include "report/params.h"

namespace stepscope::analyze {

struct PlanWishes {
  std::int64_t batch, sequence;        ///< as recorded; 0: not said
  std::int64_t to_batch, to_sequence;  ///< 0: not said
  std::string_view precision, optimizer;
  std::string_view checkpoint;  ///< classes of modules, with commas
  explicit PlanWishes(const report::Params& params);

  /// Whether numbers of 2 bytes are asked for.
  bool half() const { return precision == "bf16" || precision == "fp16"; }
  /// The names in `checkpoint`.
  std::vector<std::string_view> checkpointed() const;
};

/// Bytes of "24GiB", "80G" or a device's name; report::kNoInt, and a sentence in `notes`, if `text` is
/// neither.
std::int64_t wanted_capacity(std::string_view text, std::vector<std::string>& notes);

/// How precision and optimizer change the sizes, with sentences on what is assumed.
derive::PlanChange wished_change(const PlanWishes& wishes, const derive::Trained& trained,
                                 std::vector<std::string>& notes);

}  // namespace stepscope::analyze
