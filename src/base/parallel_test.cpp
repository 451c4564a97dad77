#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace stepscope {
namespace {

TEST(ParallelInOrder, TakesInOrderWhateverEndsFirst) {
  for (const unsigned threads : {1U, 2U, 5U}) {
    std::vector<std::size_t> taken;
    std::atomic<int> waiting{0}, most{0};
    parallel_in_order(
        40, threads,
        [&](std::size_t i) {
          std::this_thread::sleep_for(std::chrono::microseconds(i % 7 == 0 ? 2'000 : 50));
          const int now = ++waiting;
          for (int before = most; now > before && !most.compare_exchange_weak(before, now);) {
          }
        },
        [&](std::size_t i) {
          taken.push_back(i);
          --waiting;
        });
    ASSERT_EQ(taken.size(), 40U) << threads;
    for (std::size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i], i) << threads;
    EXPECT_LE(most, static_cast<int>(threads) + 1);
  }
}

TEST(ParallelInOrder, AnExceptionEndsTheWork) {
  for (const unsigned threads : {1U, 3U})
    for (const bool by_take : {false, true}) {
      std::size_t taken = 0;
      const auto fail_at = [](bool here, std::size_t i) {
        if (here && i == 4) throw std::runtime_error("4");
      };
      EXPECT_THROW(parallel_in_order(
                       100, threads, [&](std::size_t i) { fail_at(!by_take, i); },
                       [&](std::size_t i) {
                         fail_at(by_take, i);
                         ++taken;
                       }),
                   std::runtime_error);
      EXPECT_LE(taken, 4U);
    }
}

TEST(ParallelInOrder, NothingToDo) {
  parallel_in_order(0, 4, [](std::size_t) { FAIL(); }, [](std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace stepscope
