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

/// Where overloads were recorded. with_overloads: `aten::add.Tensor`, as PyTorch writes it; plain:
/// `aten::add` and an argument `Overload name`.
enum class OpNames : std::uint8_t { with_overloads, plain };

struct Written {
  std::int64_t events = 0;  ///< ops, ranges and memory records
  bool whole = true;        ///< `take` never returned false
};

/// Calls `take` with the text, piece by piece, until it returns false. Memory: what is known of ops with a
/// sequence number, 40 bytes each, and a piece. `metadata`: `key=JSON` that goes before what the recording
/// says of the same key. `workers`: of its data loaders; what they did while the recording was on is written
/// as further processes.
Written write_kineto(const Recording& recording, const std::function<bool(std::string_view)>& take,
                     std::span<const std::string> metadata = {},
                     std::span<const Recording* const> workers = {},
                     OpNames op_names = OpNames::with_overloads);

}  // namespace stepscope::record
