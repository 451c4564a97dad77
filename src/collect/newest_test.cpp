// Recordings in which new events replace the oldest ones.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "collect/recordings_for_test.h"

namespace stepscope::collect {
namespace {

class Newest : public Recordings {
 protected:
  void begin(std::uint32_t megabytes) const {
    ASSERT_EQ(stepscope_open(path_.c_str(), megabytes, record::kNewest), 0);
    ASSERT_EQ(stepscope_start(), 0);
  }
  /// What `stepscope` reports: ops that begin before the kept time are left out.
  trace::Trace end() const {
    stepscope_stop();
    dropped_ = stepscope_close();
    return read();
  }
  mutable std::uint64_t dropped_ = 0;
};

TEST_F(Newest, AreAllThereWhenNothingWasReplaced) {
  begin(8);
  for (int i = 0; i < 1000; ++i) range("work");
  const trace::Trace trace = end();
  EXPECT_EQ(named(trace, "work"), 1000);
  EXPECT_EQ(trace.ranks[0].kept_from, 0);
}

TEST_F(Newest, ReplaceTheOldest) {
  constexpr int kRanges = 200'000;
  begin(1);
  for (int i = 0; i < kRanges; ++i) range(std::to_string(i / 100));
  const trace::Trace trace = end();
  EXPECT_EQ(dropped_, 0U);
  EXPECT_GT(trace.ranks[0].kept_from, 0);
  EXPECT_EQ(trace.ranks[0].full.dropped, 0);
  EXPECT_EQ(named(trace, "0"), 0);
  // From the first whole hundred on, nothing is missing.
  int first = kRanges / 100 - 1;
  while (named(trace, std::to_string(first)) == 100) --first;
  EXPECT_LT(first, kRanges / 100 - 60) << "a third of 1 MiB holds 8,000 ranges of 32 bytes and more";
  for (int hundred = 0; hundred < first; ++hundred) EXPECT_EQ(named(trace, std::to_string(hundred)), 0);
}

TEST_F(Newest, MetadataStay) {
  begin(1);
  const std::string note = R"(note="from the start")";
  EXPECT_EQ(stepscope_metadata(note.data(), static_cast<std::uint32_t>(note.size())), 0);
  for (int i = 0; i < 200'000; ++i) range("work");
  const trace::Trace trace = end();
  const auto& all = trace.ranks[0].metadata;
  EXPECT_EQ(std::ranges::count(all, "note", [](const auto& one) { return one.first; }), 1);
}

// The names of open ranges were told in segments that are replaced before the ranges end.
TEST_F(Newest, OpenRangesKeepTheirNames) {
  begin(1);
  range("outermost", [] {
    range("inner", [] {
      for (int i = 0; i < 200'000; ++i) range("work");
    });
  });
  stepscope_stop();
  EXPECT_EQ(stepscope_close(), 0U);
  const auto file = record::RecordingFile::open(path_);
  ASSERT_TRUE(file.ok());
  std::vector<std::string> scopes;
  for (const record::Segment& segment : file->recording().segments()) {
    const record::Texts texts(segment);
    record::for_each_record(segment, [&](const record::Record& record, std::span<const char>) {
      if (record.type == record::Type::op && texts[record.value] != "work")
        scopes.emplace_back(texts[record.value]);
    });
  }
  EXPECT_EQ(scopes, (std::vector<std::string>{"inner", "outermost"}));
}

// Each of a server's threads handles one request and ends.
TEST_F(Newest, ThreadsThatComeAndGo) {
  constexpr int kThreads = 300;
  begin(1);
  for (int request = 0; request < kThreads; ++request)
    std::thread([request] { range("request " + std::to_string(request)); }).join();
  const trace::Trace trace = end();
  EXPECT_EQ(dropped_, 0U);
  EXPECT_EQ(named(trace, "request 0"), 0);
  for (int request = kThreads - 10; request < kThreads; ++request)
    EXPECT_EQ(named(trace, "request " + std::to_string(request)), 1);
}

// What is kept of several threads is whole since the same instant.
TEST_F(Newest, OfThreadsThatRecordAtOnce) {
  constexpr int kThreads = 4, kRounds = 2000, kRanges = 50;
  begin(2);
  std::vector<std::thread> threads;
  std::array<std::atomic<int>, kThreads> rounds{};
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([t, &rounds] {
      for (int round = 0; round < kRounds; ++round) {
        range("round of " + std::to_string(t), [] {
          for (int i = 0; i < kRanges; ++i) range("work");
        });
        rounds[t] = round;
      }
    });
  for (std::thread& thread : threads) thread.join();
  const trace::Trace trace = end();
  std::ptrdiff_t whole = 0;
  for (int t = 0; t < kThreads; ++t) whole += named(trace, "round of " + std::to_string(t));
  EXPECT_GT(whole, 0);
  EXPECT_LT(whole, kThreads * kRounds);
  EXPECT_GE(named(trace, "work"), whole * kRanges);
}

// Threads hold all segments: each replaces its own.
TEST_F(Newest, WithMoreThreadsThanSegments) {
  constexpr int kThreads = 16;
  begin(1);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 20'000; ++i) range("work");
    });
  for (std::thread& thread : threads) thread.join();
  range("last");
  EXPECT_EQ(named(end(), "last"), 1);
}

// A closed recording gives its addresses back once its threads have gone on to another.
TEST_F(Recordings, CyclesTakeNoAddressesForGood) {
  const auto pages = [] {
    std::ifstream file("/proc/self/statm");
    long size = 0;
    file >> size;
    return size;
  };
  long before = 0;
  for (int cycle = 0; cycle < 40; ++cycle) {
    ASSERT_EQ(stepscope_open(path_.c_str(), 8, 0), 0);
    stepscope_start();
    for (int i = 0; i < 100'000; ++i) range("work");  // 3 MiB
    std::thread([] { range("elsewhere"); }).join();
    stepscope_stop();
    EXPECT_EQ(stepscope_close(), 0U);
    std::filesystem::remove(path_);
    if (cycle == 5) before = pages();
  }
  EXPECT_LT(pages() - before, 4L * 256) << "pages of 4 KiB";
}

}  // namespace
}  // namespace stepscope::collect
