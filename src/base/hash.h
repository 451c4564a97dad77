// The hash for keys that come from files. It is seeded anew in each process, so that no file can be made
// whose keys all meet in one slot; nothing that people see may depend on it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace stepscope {

struct HashSeed {
  std::uint64_t start, factor;  ///< `factor` is odd
};

/// The same in all of a process, another in the next one.
HashSeed process_hash_seed();

inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t hash_of(std::string_view text, HashSeed seed) {
  const auto load = [](const char* p, std::size_t n) {
    std::uint64_t word = 0;
    if (n != 0) std::memcpy(&word, p, n);
    return word;
  };
  const char* p = text.data();
  std::size_t left = text.size();
  std::uint64_t state = seed.start ^ left;
  for (; left > 8; left -= 8, p += 8) state = folded_product(state ^ load(p, 8), seed.factor);
  return folded_product(state ^ (left == 8 ? load(p, 8) : load(p, left)), seed.factor);
}

inline std::uint64_t hash_of(std::int64_t number, HashSeed seed) {
  return folded_product(seed.start ^ static_cast<std::uint64_t>(number), seed.factor);
}

}  // namespace stepscope
