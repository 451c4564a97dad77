#include "mutate.h"

#include <gtest/gtest.h>

#include <set>

namespace stepscope::bench {
namespace {

const std::string kText =
    R"({"traceEvents": [{"ph": "X", "name": "a", "ts": 12.5, "dur": 3, "args": {"x": [1, 2]}}]})";

TEST(Mutate, SameSeedSameBytes) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    EXPECT_EQ(mutate(kText, seed).bytes, mutate(kText, seed).bytes);
  }
}

TEST(Mutate, SeedsDiffer) {
  std::set<std::string> mutants;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) mutants.insert(mutate(kText, seed).bytes);
  EXPECT_GT(mutants.size(), 800U);
}

TEST(Mutate, EveryMutationHappens) {
  std::set<Mutation> seen;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    for (const Mutation m : mutate(kText, seed).applied) seen.insert(m);
  }
  EXPECT_EQ(seen.size(), kMutations);
}

TEST(Mutate, StaysWithinItsBound) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    EXPECT_LE(mutate(kText, seed).bytes.size(), 16 * kText.size() + (std::size_t{4} << 20));
  }
}

TEST(Mutate, TinyInputs) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    EXPECT_TRUE(mutate("", seed).bytes.empty());
    mutate("1", seed);
    mutate("ab", seed);
  }
}

TEST(Mutate, ReplacesNumbersByHostileOnes) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    const std::string bytes = mutate(kText, seed).bytes;
    for (const char* number : {"NaN", "1e308", "9223372036854775808", "-1"}) {
      if (bytes.find(number) != std::string::npos) seen.insert(number);
    }
  }
  EXPECT_EQ(seen.size(), 4U);
}

}  // namespace
}  // namespace stepscope::bench
