// Hashes of keys with several fields, and the seed for hashes that are printed or written.
#pragma once

#include "base/hash.h"

namespace stepscope {

/// Hash of several numbers or enums, in order. Use process_hash_seed() if a file can choose them.
template <class... Numbers>
std::uint64_t hash_of_all(HashSeed seed, Numbers... numbers) {
  ((seed.start = hash_of(static_cast<std::int64_t>(numbers), seed)), ...);
  return seed.start;
}

/// The same in every process, for visible output. A crafted file can make keys collide under it.
inline constexpr HashSeed kFixedSeed = {0x51ED270B9F8A1C37, 0x9E3779B97F4A7C15};

}  // namespace stepscope
