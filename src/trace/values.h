// The values of all args of a rank, in fixed pieces, so that values never move as the array grows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"

namespace stepscope::trace {

class Values {
 public:
  std::int64_t operator[](std::size_t at) const { return pieces_[at / kPiece][at % kPiece]; }
  std::int64_t& operator[](std::size_t at) { return pieces_[at / kPiece][at % kPiece]; }
  /// Index of the next value.
  std::size_t size() const { return size_; }
  /// Capacity of the current pieces; every index is below it.
  std::size_t room() const { return pieces_.size() * kPiece; }
  void push_back(std::int64_t value) {
    if (size_ == room()) add_piece();
    (*this)[size_++] = value;
  }
  void append(std::span<const std::int64_t> values) {
    for (const std::int64_t value : values) push_back(value);
  }
  /// Appends the pieces of `other`, copying only a partly filled last piece. Returns the index of the first
  /// value.
  std::size_t take(Values&& other);

 private:
  static constexpr std::size_t kPiece = kMappedFrom / sizeof(std::int64_t);
  void add_piece() { pieces_.emplace_back(kPiece); }

  std::vector<Column<std::int64_t>> pieces_;
  std::size_t size_ = 0;
};

}  // namespace stepscope::trace
