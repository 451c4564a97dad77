// A recording as Kineto's JSON: the dialect with baseTimeNanoseconds, which Perfetto, HTA and TensorBoard
// read.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "record/recording.h"

namespace stepscope::record {

/// with_overloads: as PyTorch writes it, for other tools: ops are named `aten::add.Tensor` and are in order
/// of begin, with the ids of their function events. plain: for our own reader, in the order of the recording:
/// `aten::add` and the arg `Overload name`, and all that was recorded of the inputs.
enum class OpNames : std::uint8_t { with_overloads, plain };

struct Written {
  std::int64_t events = 0;  ///< ops, ranges and memory records
  bool whole = true;        ///< `take` never returned false
};

/// Calls `take` with the text, piece by piece, until it returns false. Memory: one piece, and
/// O(records). `metadata`: `key=JSON`; overrides the recording's value of the same key.
/// `workers`: recordings of its data loader workers; their ops during the recording are written as further
/// processes.
Written write_kineto(const Recording& recording, const std::function<bool(std::string_view)>& take,
                     std::span<const std::string> metadata = {},
                     std::span<const Recording* const> workers = {},
                     OpNames op_names = OpNames::with_overloads);

}  // namespace stepscope::record
