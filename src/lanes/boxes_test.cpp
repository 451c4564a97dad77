#include "lanes/boxes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <ostream>
#include <random>
#include <tuple>

namespace stepscope::lanes {

static bool operator==(const Box& a, const Box& b) {
  const auto all = [](const Box& box) {
    return std::tuple(box.longest, box.count, box.begin, box.end, box.busy, box.before, box.behind);
  };
  return all(a) == all(b);
}

static std::ostream& operator<<(std::ostream& out, const Box& box) {
  return out << "{longest " << box.longest << ", count " << box.count << ", [" << box.begin << ", " << box.end
             << "), busy " << int{box.busy} << (box.before ? ", before" : "")
             << (box.behind ? ", behind" : "") << "}";
}

namespace {

/// Events of one row, which must not overlap.
class MadeRow {
 public:
  explicit MadeRow(const std::vector<std::pair<Time, Time>>& spans) : rows_(spans.size()) {
    std::iota(rows_.begin(), rows_.end(), trace::Row{0});
    for (const auto& [start, end] : spans) table_.start.push_back(start), table_.end.push_back(end);
    pyramid_ = Pyramid(events());
  }
  RowEvents events() const { return {table_, to_run_, rows_}; }
  const Pyramid& pyramid() const { return pyramid_; }

 private:
  trace::EventTable table_;
  ToRun to_run_;
  std::vector<trace::Row> rows_;
  Pyramid pyramid_;
};

std::vector<Box> boxes(const RowEvents& events, const Pyramid& pyramid, const Tile& tile) {
  std::vector<Box> out;
  add_boxes(events, pyramid, tile, out);
  return out;
}

TEST(Boxes, LongEventsAreSentAsThemselvesAndShortOnesByBucket) {
  // Buckets of 16 ns: two short events in bucket 0, a long one in buckets 1 to 3, a short one in bucket 3.
  const MadeRow row({{0, 4}, {6, 14}, {20, 50}, {52, 53}});
  const std::vector<Box> expected = {{1, 2, 0, 1, 192, false, false},  // 12 of 16 ns: 191.25 of 255
                                     {2, 1, 1, 4, 255, false, false},
                                     {3, 1, 3, 4, 16, false, false}};  // 1 of 16 ns: 15.9 of 255
  EXPECT_EQ(boxes(row.events(), {}, {4, 0}), expected);
}

TEST(Boxes, AnEventIsClippedToTheTile) {
  // Tiles of 512 ns.
  const MadeRow row({{100, 1'700}, {1'700, 1'700}});
  EXPECT_EQ(boxes(row.events(), {}, {0, 0}), (std::vector<Box>{{0, 1, 100, 512, 255, false, true}}));
  EXPECT_EQ(boxes(row.events(), {}, {0, 1}), (std::vector<Box>{{0, 1, 0, 512, 255, true, true}}));
  EXPECT_EQ(boxes(row.events(), {}, {0, 3}),
            (std::vector<Box>{{0, 1, 0, 164, 255, true, false}, {1, 1, 164, 165, 0, false, false}}));
  EXPECT_TRUE(boxes(row.events(), {}, {0, 4}).empty());
}

TEST(Boxes, AShortEventBelongsToTheTileInWhichItBegins) {
  const MadeRow row({{8'190, 8'195}});  // 16 × 512 = 8,192
  EXPECT_EQ(boxes(row.events(), {}, {4, 0}), (std::vector<Box>{{0, 1, 511, 512, 80, false, false}}));
  EXPECT_TRUE(boxes(row.events(), {}, {4, 1}).empty());
}

TEST(Boxes, TilesFarOutsideAreEmpty) {
  const MadeRow row({{0, 10}, {kMaxTime - 5, kMaxTime}});
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  for (const int level : {0, 1, 30, 53, 54, 61, 62})
    EXPECT_TRUE(boxes(row.events(), {}, {level, huge}).empty()) << level;
  EXPECT_EQ(boxes(row.events(), {}, {62, 0}), (std::vector<Box>{{0, 2, 0, 1, 1, false, false}}));
  EXPECT_EQ(boxes(row.events(), {}, {53, 0}).size(), 2U);
}

/// The same, event by event.
std::vector<Box> one_by_one(const RowEvents& events, const Tile& tile) {
  struct Run {
    std::uint32_t longest, count = 0;
    Time busy = 0;
  };
  std::map<Time, Run> runs;  // by bucket
  std::map<Time, std::uint32_t> long_ones;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    if (events.length(i) >= tile.bucket()) {
      if (events.start(i) < tile.end() && events.end(i) > tile.begin()) long_ones[events.start(i)] = i;
      continue;
    }
    if (events.start(i) < tile.begin() || events.start(i) >= tile.end()) continue;
    Run& run = runs[events.start(i) / tile.bucket()];
    if (run.count == 0 || events.length(i) > events.length(run.longest)) run.longest = i;
    ++run.count;
    run.busy += events.length(i);
  }
  std::vector<Box> out;
  for (const auto& [bucket, run] : runs) {
    const auto at = static_cast<std::uint16_t>(bucket - tile.index * kBuckets);
    const double busy = std::ceil(static_cast<double>(run.busy) * 255 / static_cast<double>(tile.bucket()));
    out.push_back({run.longest, run.count, at, static_cast<std::uint16_t>(at + 1),
                   static_cast<std::uint8_t>(std::min(busy, 255.0)), false, false});
  }
  for (const auto& [start, i] : long_ones) {
    const Time begin = std::max(start, tile.begin()) - tile.begin();
    const Time end = std::min(events.end(i), tile.end()) - tile.begin();
    out.push_back({i, 1, static_cast<std::uint16_t>(begin / tile.bucket()),
                   static_cast<std::uint16_t>((end + tile.bucket() - 1) / tile.bucket()), 255,
                   start<tile.begin(), events.end(i)> tile.end()});
  }
  std::sort(out.begin(), out.end(), [](const Box& a, const Box& b) { return a.longest < b.longest; });
  return out;
}

/// Rows as programs make them: even, in bursts, with long gaps, long among short, and of no length.
std::vector<std::pair<Time, Time>> random_spans(std::mt19937_64& random, std::size_t count) {
  const auto below = [&](Time bound) {
    return static_cast<Time>(random() % static_cast<std::uint64_t>(bound));
  };
  const Time usual_gap = Time{1} << below(14), usual_length = Time{1} << below(14);
  const bool has_bursts = below(2) == 0, has_long_ones = below(2) == 0;
  std::vector<std::pair<Time, Time>> spans;
  Time at = below(10'000);
  while (spans.size() < count) {
    at += below(4) == 0 ? 0 : below(usual_gap);
    if (has_bursts && below(500) == 0) at += below(Time{1} << 34);
    Time length = below(8) == 0 ? 0 : below(usual_length);
    if (has_long_ones && below(200) == 0) length = below(Time{1} << 30);
    spans.emplace_back(at, at + length);
    at += length;
  }
  return spans;
}

TEST(Boxes, EqualOnesMadeOneByOne) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 16; ++round) {
    const MadeRow row(random_spans(random, round % 4 == 0 ? 300 : 20'000));
    const RowEvents events = row.events();
    const Time end = events.end(events.size() - 1);
    EXPECT_EQ(row.pyramid().items(kMaxLevel).empty(), events.size() < 4'096);
    EXPECT_LE(row.pyramid().bytes(), events.size() * 4 + 2'000);
    for (int level = 0; level <= 50; ++level) {
      const Time tiles = end / (Time{kBuckets} << level) + 1;
      for (int ask = 0; ask < 3; ++ask) {
        const Tile tile{level, static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(tiles))};
        const std::vector<Box> drawn = boxes(events, row.pyramid(), tile);
        ASSERT_EQ(drawn, one_by_one(events, tile)) << "level " << level << " tile " << tile.index;
        ASSERT_LE(drawn.size(), 2 * kBuckets + 1);
        for (std::size_t i = 1; i < drawn.size(); ++i)
          ASSERT_LT(drawn[i - 1].end, drawn[i].begin + 2) << "neighbours share at most a bucket";
      }
    }
  }
}

TEST(Boxes, EveryEventIsInOneTile) {
  std::mt19937_64 random(11);
  const MadeRow row(random_spans(random, 10'000));
  const Time end = row.events().end(9'999);
  for (const int level : {4, 9, 14, 20}) {
    std::uint32_t count = 0;
    for (std::int64_t i = 0; i <= end / (Time{kBuckets} << level) && i < 100'000; ++i)
      for (const Box& box : boxes(row.events(), row.pyramid(), {level, i}))
        count += box.before ? 0 : box.count;
    EXPECT_EQ(count, 10'000U) << level;
  }
}

TEST(Boxes, ManyInOneBucketAndOneFarAway) {
  std::vector<std::pair<Time, Time>> spans;
  for (Time t = 0; t < 50'000; ++t) spans.emplace_back(t, t + 1);
  spans.emplace_back(Time{1} << 60, (Time{1} << 60) + 1);
  const MadeRow row(spans);
  EXPECT_LE(row.pyramid().bytes(), spans.size() * 4);
  for (int level = 0; level <= kMaxLevel; ++level)
    EXPECT_EQ(boxes(row.events(), row.pyramid(), {level, 0}), one_by_one(row.events(), {level, 0})) << level;
}

}  // namespace
}  // namespace stepscope::lanes
