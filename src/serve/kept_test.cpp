#include "serve/kept.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>

#include "base/parallel.h"

namespace stepscope::serve {
namespace {

TEST(Kept, IsMadeOnceForAllWhoAsk) {
  Kept<int> kept(10);
  std::atomic<int> made = 0;
  parallel_for(64, 8, [&](std::size_t) {
    EXPECT_EQ(*kept.get("a", 1, [&] { return std::make_shared<const int>(++made); }), 1);
  });
  EXPECT_EQ(made, 1);
}

TEST(Kept, ForgetsWhatWasUsedLongestAgo) {
  Kept<std::string> kept(3);
  int made = 0;
  const auto ask = [&](const std::string& key, std::int64_t cost) {
    return kept.get(key, cost, [&] {
      ++made;
      return std::make_shared<const std::string>(key);
    });
  };
  const auto held = ask("a", 1);
  ask("b", 1);
  ask("c", 1);
  ask("a", 1);
  EXPECT_EQ(made, 3);
  ask("d", 1);  // b goes
  ask("a", 1);
  ask("c", 1);
  EXPECT_EQ(made, 4);
  ask("b", 1);  // d goes
  EXPECT_EQ(made, 5);
  ask("large", 100);  // alone
  EXPECT_EQ(made, 6);
  ask("large", 100);
  EXPECT_EQ(made, 6);
  ask("a", 1);
  EXPECT_EQ(made, 7);
  EXPECT_EQ(*held, "a");
  kept.forget("a");
  ask("a", 1);
  EXPECT_EQ(made, 8);
}

TEST(Kept, AFailureIsNotKept) {
  Kept<int> kept(1);
  EXPECT_THROW(kept.get("a", 1, []() -> std::shared_ptr<const int> { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(*kept.get("a", 1, [] { return std::make_shared<const int>(2); }), 2);
}

}  // namespace
}  // namespace stepscope::serve
