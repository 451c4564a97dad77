// Which records of a segment can be used. They have no mark and no sum: one is damaged where its kind, its
// size or the names that it uses cannot be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "record/format.h"

namespace stepscope::record {

/// From the front of `bytes`, which are as many at least.
template <class T>
T copied(std::span<const char> bytes) {
  T value;
  std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof value);
  return value;
}

/// False where `bytes` are fewer.
template <class T>
bool copy_to(T& value, std::span<const char> bytes) {
  if (bytes.size() < sizeof value) return false;
  value = copied<T>(bytes);
  return true;
}

/// Bytes of a segment's records.
struct Stretch {
  std::size_t at, bytes;
};

struct Walked {
  std::vector<Stretch> damaged;     ///< in order, apart from each other
  std::uint64_t unknown_kinds = 0;  ///< records, not among the damaged
};

/// Calls `take` with each record that is whole.
Walked walk(std::span<const char> records,
            const std::function<void(const Record&, std::span<const char>)>& take);

}  // namespace stepscope::record
