// Which begin and end events belong together, in any order in the file.
#include "read/kineto/halves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/dump.h"
#include "support/open_text.h"

namespace stepscope::read {
namespace {

using Rows = std::vector<std::string>;

std::string half(char phase, std::string_view name, int ts, std::string_view args = "") {
  return fmt::format(R"({{"ph":"{}",{}"pid":1,"tid":1,"ts":{}{}}})", phase,
                     name.empty() ? "" : fmt::format(R"("name":"{}",)", name), ts,
                     args.empty() ? "" : fmt::format(R"(,"args":{{{}}})", args));
}

struct Read {
  Rows rows;
  std::int64_t unmatched = 0;
};

Read read_halves(const std::vector<std::string>& events) {
  // One more event, so that the file always holds a row.
  std::string text = R"([{"ph":"X","name":"x","pid":0,"tid":0,"ts":0,"dur":1})";
  for (const std::string& event : events) text += "," + event;
  const auto trace = test::open_text(text + "]");
  if (!trace.ok()) return {};
  Read read{test::dump_rows(*trace), trace->ranks[0].reading.unmatched_ends};
  read.rows.erase(read.rows.begin());
  return read;
}

/// Every order of a few events, and some orders of many, give `expected`.
void expect_in_any_order(std::vector<std::string> events, const Read& expected) {
  std::mt19937 random(1);
  std::sort(events.begin(), events.end());
  const bool few = events.size() <= 6;
  for (int i = 0; few || i < 40; ++i) {
    const Read read = read_halves(events);
    ASSERT_EQ(read.rows, expected.rows);
    ASSERT_EQ(read.unmatched, expected.unmatched);
    if (!few) std::shuffle(events.begin(), events.end(), random);
    if (few && !std::next_permutation(events.begin(), events.end())) break;
  }
}

TEST(Halves, AtOneInstantAnEndComesFirst) {
  expect_in_any_order({half('B', "a", 1), half('E', "a", 5), half('B', "a", 5), half('E', "a", 9)},
                      {{"1/1 annotation a [1000, 5000) {}", "1/1 annotation a [5000, 9000) {}"}});
  expect_in_any_order({half('B', "a", 1), half('E', "a", 5), half('B', "b", 5), half('E', "b", 5)},
                      {{"1/1 annotation a [1000, 5000) {}", "1/1 annotation b [5000, 5000) {}"}});
}

TEST(Halves, AnEndWithoutAPartnerBeforeTakesABeginOfItsInstant) {
  expect_in_any_order({half('B', "a", 5), half('E', "", 5), half('E', "b", 5)},
                      {{"1/1 annotation a [5000, 5000) {}"}, 1});
}

TEST(Halves, AnEndClosesTheInnermostOfItsName) {
  expect_in_any_order({half('B', "a", 1), half('B', "b", 2), half('B', "a", 3), half('E', "a", 4),
                       half('E', "a", 5), half('E', "b", 6)},
                      {{"1/1 annotation a [1000, 5000) {}", "1/1 annotation b [2000, 6000) {}",
                        "1/1 annotation a [3000, 4000) {}"}});
}

TEST(Halves, AnEndOfNoOrAnUnknownNameClosesTheInnermost) {
  expect_in_any_order({half('B', "a", 1), half('B', "b", 2), half('E', "", 4), half('E', "c", 5)},
                      {{"1/1 annotation a [1000, 5000) {}", "1/1 annotation b [2000, 4000) {}"}});
}

TEST(Halves, BeginsOfOneInstantAreOrderedByContent) {
  expect_in_any_order(
      {half('B', "a", 1, R"("i":1)"), half('B', "a", 1, R"("i":2)"), half('E', "", 4), half('E', "a", 7)},
      {{"1/1 annotation a [1000, 7000) {i=1}", "1/1 annotation a [1000, 4000) {i=2}"}});
}

TEST(Halves, ManyAtFewInstantsInAnyOrder) {
  std::mt19937 random(2);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string> events;
    constexpr std::string_view kNames[] = {"a", "b", ""};
    for (int i = 0; i < 12; ++i)
      events.push_back(half(random() % 2 == 0 ? 'B' : 'E', kNames[random() % 3],
                            static_cast<int>(random() % 3), fmt::format("\"i\":{}", random() % 3)));
    expect_in_any_order(events, read_halves(events));
  }
}

// A hundred thousand ranges stay open, and as many ends name the outermost first: searching the open ranges
// for each end would take an hour.
TEST(Halves, DeepAndManyAreLinear) {
  constexpr int kMany = 100'000;
  std::vector<std::string> events;
  for (int i = 0; i < kMany; ++i) events.push_back(half('B', std::to_string(i), i));
  for (int i = 0; i < kMany; ++i) events.push_back(half('E', std::to_string(i), kMany + i));
  const Read read = read_halves(events);
  ASSERT_EQ(read.rows.size(), static_cast<std::size_t>(kMany));
  EXPECT_EQ(read.rows[1], "1/1 annotation 1 [1000, 100001000) {}");
}

}  // namespace
}  // namespace stepscope::read
