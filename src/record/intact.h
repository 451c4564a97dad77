// Which records of a segment can be used. Records have no marker and no checksum: a record counts as damaged
// if its kind, its size or the names that it uses are impossible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "record/format.h"

namespace stepscope::record {

/// A T from the front of `bytes`, which must be long enough.
template <class T>
T copied(std::span<const char> bytes) {
  T value;
  std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof value);
  return value;
}

/// False if `bytes` is too short.
template <class T>
bool copy_to(T& value, std::span<const char> bytes) {
  if (bytes.size() < sizeof value) return false;
  value = copied<T>(bytes);
  return true;
}

/// A byte range in a segment's records.
struct Stretch {
  std::size_t at, bytes;
};

struct Walked {
  std::vector<Stretch> damaged;     ///< in order, disjoint, not adjacent
  std::uint64_t unknown_kinds = 0;  ///< records; not counted as damaged
};

/// Calls `take` with each undamaged record.
Walked walk(std::span<const char> records,
            const std::function<void(const Record&, std::span<const char>)>& take);

}  // namespace stepscope::record
