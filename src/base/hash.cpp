#include "base/hash.h"

#include <random>

namespace stepscope {

HashSeed process_hash_seed() {
  static const HashSeed seed = [] {
    std::random_device device;
    const auto word = [&] { return std::uint64_t{device()} << 32 | device(); };
    return HashSeed{word(), word() | 1};
  }();
  return seed;
}

}  // namespace stepscope
