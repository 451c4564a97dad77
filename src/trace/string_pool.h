// Stores every distinct text of a trace once. A text is a 32-bit id; equal ids mean equal texts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace stepscope::trace {

using StringId = std::uint32_t;
inline constexpr StringId kEmptyString = 0;
inline constexpr StringId kNoString = 0xFFFFFFFF;

/// Owns its bytes; views stay valid while the pool lives. Not for concurrent writers: each thread that reads
/// files has its own pool, and its ids are remapped to the Trace's pool when the rank is sealed.
class StringPool {
 public:
  StringPool();
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;

  StringId intern(std::string_view text);
  /// kNoString if the text is not in the pool.
  StringId find(std::string_view text) const;
  std::string_view operator[](StringId id) const { return texts_[id]; }
  /// Whether `ask` is true for any text. O(texts).
  template <class Ask>
  bool any(Ask ask) const {
    return std::any_of(texts_.begin(), texts_.end(), ask);
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(texts_.size()); }
  std::size_t bytes() const {
    return arena_bytes_ + texts_.size() * (sizeof(std::string_view) + 4) + slots_.size() * 4;
  }

 private:
  std::string_view store(std::string_view text);
  void grow();

  HashSeed seed_;
  std::vector<std::string_view> texts_;
  std::vector<std::uint32_t> hashes_;
  std::vector<std::uint32_t> slots_;  // id + 1; 0 is free
  std::vector<std::unique_ptr<char[]>> arena_;
  char* arena_at_ = nullptr;
  std::size_t arena_left_ = 0;
  std::size_t arena_bytes_ = 0;
};

}  // namespace stepscope::trace
