// The hash for keys from files. Each process has its own seed, so nobody can craft a file whose keys all
// collide. No output may depend on it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace stepscope {

struct HashSeed {
  std::uint64_t start, factor;  ///< `factor` is odd
};

/// Constant within a process, different in the next process.
HashSeed process_hash_seed();

inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t hash_of(std::string_view text, HashSeed seed) {
  const auto load = [](const char* p, auto word) {
    std::memcpy(&word, p, sizeof word);
    return static_cast<std::uint64_t>(word);
  };
  const char* p = text.data();
  const std::size_t size = text.size();
  std::uint64_t state = seed.start ^ size;
  if (size < 4) {  // first, middle, last: each byte at least once
    std::uint64_t last = 0;
    if (size != 0)
      last = load(p, std::uint8_t{}) | load(p + size / 2, std::uint8_t{}) << 8 |
             load(p + size - 1, std::uint8_t{}) << 16;
    return folded_product(state ^ last, seed.factor);
  }
  if (size < 8)
    return folded_product(state ^ (load(p, std::uint32_t{}) | load(p + size - 4, std::uint32_t{}) << 32),
                          seed.factor);
  for (const char* end = p + size - 8; p < end; p += 8)
    state = folded_product(state ^ load(p, std::uint64_t{}), seed.factor);
  return folded_product(state ^ load(text.data() + size - 8, std::uint64_t{}), seed.factor);
}

inline std::uint64_t hash_of(std::int64_t number, HashSeed seed) {
  return folded_product(seed.start ^ static_cast<std::uint64_t>(number), seed.factor);
}

}  // namespace stepscope
