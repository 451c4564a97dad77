// Deterministic randomness that belongs to a place, not to a sequence: the same (seed, rank, step, key) gives
// the same number whatever else the run does. A run without a planted problem therefore meets the same noise
// as the run with it. Uses only integer arithmetic and exact double operations, so that every compiler
// agrees.
#pragma once

#include <algorithm>
#include <cstdint>

namespace stepscope::make_trace {

/// SplitMix64 finaliser (Steele, Lea, Flood 2014): a bijection of 64 bits that looks random.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return mix(mix(a) ^ b); }

/// Uniform in [0, 1) from the upper 53 bits.
constexpr double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

/// Uniform in [-1, 1).
constexpr double signed_unit(std::uint64_t bits) { return 2.0 * unit(bits) - 1.0; }

/// Mean 0, standard deviation 1, never beyond ±3.47: the scaled sum of four uniform numbers.
constexpr double bell(std::uint64_t bits) {
  double sum = 0.0;
  for (int i = 0; i < 4; ++i) sum += static_cast<double>((bits >> (16 * i)) & 0xffff) / 65536.0;
  return (sum - 2.0) * 1.7320508075688772;
}

/// Stretches durations by a relative standard deviation of `percent`.
class Jitter {
 public:
  Jitter(std::uint64_t seed, double percent) : seed_(seed), share_(percent / 100.0) {}

  /// `place` names a rank and a step, `key` an instruction; the result is at least a tenth of `ns`.
  std::int64_t stretch(std::int64_t ns, std::uint64_t place, std::uint64_t key) const {
    if (ns <= 0 || share_ <= 0.0) return ns;
    const double factor = std::max(0.1, 1.0 + share_ * bell(mix(mix(seed_, place), key)));
    return static_cast<std::int64_t>(static_cast<double>(ns) * factor);
  }

  static constexpr std::uint64_t place(int rank, int step) {
    return mix(static_cast<std::uint64_t>(rank) + 1, static_cast<std::uint64_t>(step + 1000));
  }

 private:
  std::uint64_t seed_;
  double share_;
};

}  // namespace stepscope::make_trace
