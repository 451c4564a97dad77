#include <gtest/gtest.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "base/key_hash.h"

namespace stepscope {
namespace {

constexpr HashSeed kOne = {0x243F6A8885A308D3, 0x13198A2E03707345},
                   kOther = {0xA4093822299F31D0, 0x082EFA98EC4E6C89};

/// Number of texts in the fullest of 4096 slots.
std::size_t fullest_slot(const std::vector<std::string>& texts, HashSeed seed) {
  std::unordered_map<std::uint64_t, std::size_t> slots;
  std::size_t most = 0;
  for (const std::string& text : texts) most = std::max(most, ++slots[hash_of(text, seed) % 4096]);
  return most;
}

// 200 names chosen to collide in one slot under one seed do not collide under another.
TEST(Hash, NamesMadeToCollideDoSoUnderOneSeedOnly) {
  std::vector<std::string> texts;
  for (int i = 0; texts.size() < 200; ++i) {
    const std::string text = "aten::operator_" + std::to_string(i);
    if (hash_of(text, kOne) % 4096 == 0) texts.push_back(text);
  }
  EXPECT_EQ(fullest_slot(texts, kOne), 200u);
  EXPECT_LE(fullest_slot(texts, kOther), 5u);
  EXPECT_LE(fullest_slot(texts, process_hash_seed()), 5u);
}

TEST(Hash, NumbersInARowSpread) {
  std::unordered_map<std::uint64_t, std::size_t> slots;
  for (std::int64_t i = 0; i < 4096; ++i) ++slots[hash_of(i * 4096, kOne) % 4096];
  for (const auto& [slot, count] : slots) EXPECT_LE(count, 16u) << slot;
}

TEST(Hash, OrderAndNumberOfFieldsCount) {
  EXPECT_NE(hash_of_all(kOne, 1, 2), hash_of_all(kOne, 2, 1));
  EXPECT_NE(hash_of_all(kOne, 1), hash_of_all(kOne, 1, 0));
  EXPECT_NE(hash_of_all(kOne, 1, 2), hash_of_all(kOther, 1, 2));
}

// Pairs of small ids, which a file can choose, spread over the slots.
TEST(Hash, PairsOfSmallNumbersSpread) {
  std::unordered_map<std::uint64_t, std::size_t> slots;
  for (std::uint32_t a = 0; a < 64; ++a)
    for (std::uint32_t b = 0; b < 64; ++b) ++slots[hash_of_all(kOne, a, b) % 4096];
  for (const auto& [slot, count] : slots) EXPECT_LE(count, 16u) << slot;
}

TEST(Hash, OneSeedAProcess) {
  EXPECT_EQ(process_hash_seed().start, process_hash_seed().start);
  EXPECT_EQ(process_hash_seed().factor % 2, 1u);
}

}  // namespace
}  // namespace stepscope
