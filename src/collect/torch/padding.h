// How much of the sequences that a program looks up in embeddings is padding. Values are read in main memory
// only: of tokens on a device, their source is looked at when it is copied there.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace stepscope::collect {

/// Padding of one batch, in elements.
struct Padding {
  std::int64_t elements = 0;  ///< of the whole batch
  std::int64_t padding = 0;
  std::int64_t shared = 0;  ///< of the padding, what lies in columns that are padding in every row
};

/// A batch of sequences in memory; strides in elements.
template <class Index>
struct Batch {
  const Index* data;
  std::int64_t rows, length, row_stride, column_stride;

  Index at(std::int64_t row, std::int64_t column) const {
    return data[row * row_stride + column * column_stride];
  }
  Batch turned() const { return {data, length, rows, column_stride, row_stride}; }
};

namespace padding_detail {

/// Length of the run of `value` at the row's end, or at its begin.
template <class Index>
std::int64_t run_of(const Batch<Index>& batch, std::int64_t row, Index value, bool at_end) {
  std::int64_t run = 0;
  while (run < batch.length && batch.at(row, at_end ? batch.length - 1 - run : run) == value) ++run;
  return run;
}

/// The value of the longest run in any row that is not wholly equal.
template <class Index>
std::optional<Index> longest_run(const Batch<Index>& batch, bool at_end) {
  std::int64_t longest = 1;
  std::optional<Index> found;
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    const Index value = batch.at(row, at_end ? batch.length - 1 : 0);
    const std::int64_t run = run_of(batch, row, value, at_end);
    if (run <= longest || run == batch.length) continue;
    longest = run;
    found = value;
  }
  return found;
}

template <class Index>
Padding padding_at(const Batch<Index>& batch, std::optional<Index> pad, bool at_end) {
  Padding found{batch.rows * batch.length};
  if (!pad) pad = longest_run(batch, at_end);
  if (!pad) return found;
  std::int64_t shortest = batch.length;
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    const std::int64_t run = run_of(batch, row, *pad, at_end);
    found.padding += run;
    shortest = std::min(shortest, run);
  }
  found.shared = shortest * batch.rows;
  return found;
}

/// At the ends or at the begins of rows, whichever is more.
template <class Index>
Padding padding_in(const Batch<Index>& batch, std::optional<Index> known) {
  constexpr std::int64_t kShortest = 8;
  if (batch.length < kShortest) return {batch.rows * batch.length};
  const Padding end = padding_at(batch, known, true), begin = padding_at(batch, known, false);
  const Padding& most = end.padding >= begin.padding ? end : begin;
  return known && most.padding == 0 ? padding_in(batch, std::optional<Index>{}) : most;
}

}  // namespace padding_detail

/// The padding of a batch of tokens: the run of `known`, or if there is none, of the value with the longest
/// run. Sequences are rows or columns, whichever has more. No value for what is no text: negative values
/// (labels), no value of 256 or more (masks, segments, classes), and rows that count up (positions).
/// O(elements).
template <class Index>
std::optional<Padding> padding_of(const Batch<Index>& batch, std::optional<Index> known) {
  constexpr Index kText = 256;
  Index most = 0;
  bool counts_up = true;
  for (std::int64_t row = 0; row < batch.rows; ++row)
    for (std::int64_t column = 0; column < batch.length; ++column) {
      const Index value = batch.at(row, column);
      if (value < 0) return std::nullopt;
      most = std::max(most, value);
      if (row == 0 && column > 0) counts_up &= value == batch.at(0, column - 1) + 1;
    }
  if (most < kText || counts_up) return std::nullopt;
  const Padding rows = padding_detail::padding_in(batch, known);
  const Padding columns = padding_detail::padding_in(batch.turned(), known);
  return columns.padding > rows.padding ? columns : rows;
}

/// Padding of batches that were copied to a device, until one of their shape is looked up there.
class Copied {
 public:
  void add(std::int64_t rows, std::int64_t length, const Padding& padding) {
    std::move_backward(copies_.begin(), copies_.end() - 1, copies_.end());
    copies_.front() = {rows, length, padding};
  }
  /// Of the last copy of that shape, once.
  std::optional<Padding> take(std::int64_t rows, std::int64_t length) {
    for (Copy& copy : copies_)
      if (copy.rows == rows && copy.length == length) {
        copy.rows = -1;
        return copy.padding;
      }
    return std::nullopt;
  }

 private:
  struct Copy {
    std::int64_t rows = -1, length = -1;
    Padding padding;
  };
  std::array<Copy, 4> copies_;
};

}  // namespace stepscope::collect
