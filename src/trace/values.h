// The values of all args of a rank, in words of 32 bits. Most integers and all ids of texts fit into one
// word; others take two. Words are kept in fixed pieces, so that they never move as the array grows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "trace/args.h"

namespace stepscope::trace {

class Values {
 public:
  /// The value whose first word is `at`. An integer, the bits of a double, or the id of a text.
  std::int64_t get(std::size_t at, bool wide) const {
    const std::int32_t low = word(at);
    return wide ? static_cast<std::int64_t>(static_cast<std::uint64_t>(word(at + 1)) << 32 |
                                            static_cast<std::uint32_t>(low))
                : low;
  }
  /// Replaces a value; a narrow one must fit into a word.
  void set(std::size_t at, bool wide, std::int64_t value) {
    word(at) = static_cast<std::int32_t>(value);
    if (wide) word(at + 1) = static_cast<std::int32_t>(value >> 32);
  }
  /// Index of the next word.
  std::size_t size() const { return size_; }
  /// Capacity of the current pieces in words; every index is below it.
  std::size_t room() const { return pieces_.size() * kPiece; }
  void push_back(std::int64_t value, bool wide) {
    add_word(static_cast<std::int32_t>(value));
    if (wide) add_word(static_cast<std::int32_t>(value >> 32));
  }
  /// One value for each field.
  void append(std::span<const std::int64_t> values, std::span<const ArgField> fields) {
    for (std::size_t i = 0; i < values.size(); ++i) push_back(values[i], fields[i].wide);
  }
  /// Appends a copy of `count` words from `at` on.
  void repeat(std::size_t at, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add_word(word(at + i));
  }
  /// Appends the pieces of `other`, copying only a partly filled last piece. Returns the index of its first
  /// word.
  std::size_t take(Values&& other);

 private:
  static constexpr std::size_t kPiece = kMappedFrom / sizeof(std::int32_t);
  std::int32_t word(std::size_t at) const { return pieces_[at / kPiece][at % kPiece]; }
  std::int32_t& word(std::size_t at) { return pieces_[at / kPiece][at % kPiece]; }
  void add_word(std::int32_t value) {
    if (size_ == room()) pieces_.emplace_back(kPiece);
    word(size_++) = value;
  }

  std::vector<Column<std::int32_t>> pieces_;
  std::size_t size_ = 0;
};

}  // namespace stepscope::trace
