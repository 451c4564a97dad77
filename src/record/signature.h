// How an op's inputs are told in a signature: for each input one of these, in order, without gaps.
#pragma once

#include <cstdint>

namespace stepscope::record {

enum class Input : std::uint8_t {
  none = 0,    ///< what is not told
  tensor,      ///< u8 c10::ScalarType, u8 dimensions, u8 1: strides follow; i64 sizes, i64 strides
  list,        ///< u16 count, then that many inputs
  integer,     ///< i64
  real,        ///< double
  boolean,     ///< u8
  absent,      ///< None, or a tensor that is not defined
  text,        ///< u16 length, then the bytes; in fields of collectives alone
  collective,  ///< no input: what is known of the op's collective. Fields, up to `end`: u8 CollectiveField,
               ///< then an integer, a boolean, a text, or a list of integers whose last may be a text
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

/// Of longer lists the first ones are told.
inline constexpr std::uint16_t kMaxList = 30;

}  // namespace stepscope::record
