// How a signature encodes an op's inputs: one `Input` byte per input, then its value, in order, without gaps.
#pragma once

#include <cstdint>

namespace stepscope::record {

enum class Input : std::uint8_t {
  none = 0,        ///< not recorded
  tensor,          ///< u8 c10::ScalarType, u8 dimensions, u8 1: strides follow; i64 sizes, i64 strides
  list,            ///< u16 count, then that many inputs
  integer,         ///< i64
  real,            ///< double
  boolean,         ///< u8
  absent,          ///< None, or an undefined tensor
  text,            ///< u16 length, then the bytes; only in fields of collectives
  collective,      ///< not an input, but the op's collective. Fields up to `end`: u8 CollectiveField, then an
                   ///< integer, boolean, text, or list of integers that may end in a text
  keywords = 32,   ///< not an input, but named values: u16 count, then that many texts and values, which may
                   ///< be texts, too
  hierarchy = 34,  ///< not an input, but the path of TorchScript's modules: u16 length, then the text
};

enum class CollectiveField : std::uint8_t {
  end = 0,
  name,
  in,
  out,
  dtype,
  in_split,
  out_split,
  rank,
  group_size,
  group_name,
  group_description,
  group_ranks,
  first_rank,
  rank_stride,
  from,
  to,
  sequence,
  asynchronous,
};

/// Longer lists are cut to this many elements.
inline constexpr std::uint16_t kMaxList = 30;

/// After the inputs: what torch.profiler tells of some of them instead. u8 count, then for each u8 number of
/// the input, u8 Remark, and what belongs to it. Not a value of the enum: who reads only values stops here.
inline constexpr Input kRemarks = Input{33};

enum class Remark : std::uint8_t {
  left_out = 1,  ///< of a list: nothing
  no_shapes,     ///< of a list of tensors: that it is one
  complex,       ///< a complex number, which is not recorded as a value: its two parts, as doubles
};
inline constexpr std::uint8_t kMaxRemarks = 8;  ///< of a signature

}  // namespace stepscope::record
