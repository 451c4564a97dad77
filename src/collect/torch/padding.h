// How much of the sequences that a program looks up in embeddings is padding. Values are read in main memory
// only: of indices on a device, their source is looked at when it is copied there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

namespace stepscope::collect {

/// Padding of one batch, in elements.
struct Padding {
  std::int64_t elements = 0;  ///< of the whole batch
  std::int64_t padding = 0;
  std::int64_t shared = 0;  ///< of the padding, what lies in columns that are padding in every row
};

namespace padding_detail {

/// Length of the run of `value` at the row's end, or at its begin.
template <class Index>
std::int64_t run_of(std::span<const Index> row, Index value, bool at_end) {
  const auto differs = [&](Index other) { return other != value; };
  return at_end ? std::find_if(row.rbegin(), row.rend(), differs) - row.rbegin()
                : std::find_if(row.begin(), row.end(), differs) - row.begin();
}

template <class Index>
Padding padding_at(std::span<const Index> batch, std::int64_t length, std::optional<Index> known,
                   bool at_end) {
  const auto size = static_cast<std::size_t>(length);
  const auto row = [&](std::size_t at) { return batch.subspan(at, size); };
  std::int64_t longest = 1;
  std::optional<Index> pad = known;
  for (std::size_t at = 0; !known && at < batch.size(); at += size) {
    const Index value = at_end ? row(at).back() : row(at).front();
    const std::int64_t run = run_of(row(at), value, at_end);
    if (run <= longest || run == length) continue;
    longest = run;
    pad = value;
  }
  Padding found{static_cast<std::int64_t>(batch.size())};
  if (!pad) return found;
  std::int64_t shortest = length;
  for (std::size_t at = 0; at < batch.size(); at += size) {
    const std::int64_t run = run_of(row(at), *pad, at_end);
    found.padding += run;
    shortest = std::min(shortest, run);
  }
  found.shared = shortest * found.elements / length;
  return found;
}

}  // namespace padding_detail

/// The padding of rows of `length` indices: the run of `known`, or else of the value with the longest run in
/// any row that is not wholly equal, at their ends or at their begins, whichever is more. No value for what
/// is no text: rows that are each one value (segments), and rows that count up (positions). O(elements).
template <class Index>
std::optional<Padding> padding_of(std::span<const Index> batch, std::int64_t length,
                                  std::optional<Index> known) {
  constexpr std::int64_t kShortest = 8;
  if (length < kShortest || batch.empty() || batch.size() % static_cast<std::size_t>(length) != 0)
    return std::nullopt;
  const auto first = batch.first(static_cast<std::size_t>(length));
  const auto is_next = [](Index a, Index b) { return b != a + 1; };
  if (std::adjacent_find(first.begin(), first.end(), is_next) == first.end()) return std::nullopt;
  bool is_text = false;
  for (std::size_t at = 0; at < batch.size() && !is_text; at += first.size())
    is_text = padding_detail::run_of(batch.subspan(at, first.size()), batch[at], false) < length;
  if (!is_text) return std::nullopt;
  const Padding end = padding_detail::padding_at(batch, length, known, true);
  const Padding begin = padding_detail::padding_at(batch, length, known, false);
  return end.padding >= begin.padding ? end : begin;
}

}  // namespace stepscope::collect
