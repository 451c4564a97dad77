// The collector under many threads, starts and stops, forks and a small cap. A program of its own, without
// the engine, so that it is built quickly under every sanitizer.
#include "storm.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace stepscope::collect {
namespace {

std::uint64_t resident_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * static_cast<std::uint64_t>(::getpagesize());
}

TEST_F(Storm, SixteenThreads) {
  constexpr std::uint64_t kEach = kSanitized ? 2'000 : 20'000;
  ASSERT_EQ(stepscope_open(path().c_str(), 256, 0), 0);
  ASSERT_EQ(stepscope_start(), 0);
  auto all = threads(16, [](int) {
    for (std::uint64_t i = 0; i < kEach; ++i) all_kinds(i);
  });
  join(all);
  stepscope_stop();
  EXPECT_EQ(stepscope_close(), 0U);
  EXPECT_EQ(checked(path()).events, 16 * kEach * kKinds);
}

TEST_F(Storm, TenThousandStartsAndStopsUnderEightThreads) {
  ASSERT_EQ(stepscope_open(path().c_str(), 64, 0), 0);
  std::atomic<bool> is_done = false;
  auto all = threads(8, [&](int) {
    for (std::uint64_t i = 0; !is_done; ++i) all_kinds(i);
  });
  for (int i = 0; i < (kSanitized ? 1'000 : 10'000); ++i) {
    EXPECT_EQ(stepscope_start(), 0);
    EXPECT_EQ(stepscope_stop(), 0);
  }
  stepscope_start();
  while (stepscope_recorder.load()->header->claimed < 8) std::this_thread::yield();
  is_done = true;
  join(all);
  range("the last");
  stepscope_stop();
  stepscope_close();
  EXPECT_GT(checked(path()).events, 0U);
}

TEST_F(Storm, RecordingsThatEndWhileThreadsWrite) {
  constexpr int kRecordings = kSanitized ? 20 : 100;
  std::atomic<bool> is_done = false;
  auto all = threads(8, [&](int) {
    for (std::uint64_t i = 0; !is_done; ++i) {
      all_kinds(i);
      if (stepscope_recorder.load() == nullptr) std::this_thread::yield();
    }
  });
  for (int i = 0; i < kRecordings; ++i) {
    EXPECT_EQ(stepscope_open(path(i).c_str(), 32, 0), 0);
    stepscope_start();
    while (stepscope_recorder.load()->header->claimed == 0) std::this_thread::yield();
    stepscope_stop();
    stepscope_close();
  }
  is_done = true;
  join(all);
  for (int i = 0; i < kRecordings; ++i) {
    checked(path(i));
    std::filesystem::remove(path(i));
  }
}

// As many events as in an hour of a busy job. Those without room are counted one by one and take no memory.
TEST_F(Storm, TenMillionEventsUnderACapOf64Megabytes) {
  constexpr std::uint64_t kEach = (kSanitized ? 2'000'000 : 10'000'000) / 16;
  const std::uint64_t before = resident_bytes();
  ASSERT_EQ(stepscope_open(path().c_str(), 64, 0), 0);
  stepscope_start();
  auto all = threads(16, [](int) {
    for (std::uint64_t i = 0; i < kEach; ++i) range("work");
  });
  join(all);
  const std::uint64_t after = resident_bytes();
  stepscope_stop();
  const std::uint64_t dropped = stepscope_close();
  const Found found = checked(path());
  EXPECT_EQ(found.dropped, dropped);
  EXPECT_EQ(found.events + dropped, 16 * kEach);
  EXPECT_GT(found.events, 1'500'000U);  // 32 bytes per event
  EXPECT_LE(std::filesystem::file_size(path()), (64U << 20) + 4096U);
  if (!kSanitized) {
    EXPECT_LT(after - before, 80U << 20);
  }
}

TEST_F(Storm, ForksWhileThreadsWrite) {
  constexpr int kForks = 40;
  ASSERT_EQ(stepscope_open(path().c_str(), 64, 0), 0);
  stepscope_start();
  std::atomic<bool> is_done = false;
  auto all = threads(8, [&](int) {
    for (std::uint64_t i = 0; !is_done; ++i) {
      all_kinds(i);
      if (i % 64 == 0) std::this_thread::yield();
    }
  });
  std::vector<pid_t> children;
  for (int i = 1; i <= kForks; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      all_kinds(1);  // not recorded: the recording is the parent's
      const bool fine = stepscope_recorder.load() == nullptr && stepscope_stop() == ENXIO &&
                        stepscope_open(path(i).c_str(), 4, 0) == 0 && stepscope_start() == 0;
      for (std::uint64_t event = 0; event < 100; ++event) all_kinds(event);
      if (i % 2 == 0) ::_exit(fine ? 0 : 1);  // some exit in the middle of their recording
      ::_exit(fine && stepscope_stop() == 0 && stepscope_close() == 0 ? 0 : 1);
    }
    ASSERT_GT(child, 0);
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  is_done = true;
  join(all);
  stepscope_stop();
  stepscope_close();
  EXPECT_GT(checked(path()).events, 0U);
  for (int i = 1; i <= kForks; ++i) EXPECT_EQ(checked(path(i)).events, 100 * kKinds);
}

TEST_F(Storm, WhatIsOpenAtAStopIsGivenUp) {
  ASSERT_EQ(stepscope_open(path().c_str(), 4, 0), 0);
  for (int i = 0; i < 2 * static_cast<int>(Thread::kDeepest); ++i) {
    stepscope_start();
    begin("open");
    stepscope_stop();
  }
  stepscope_start();
  range("whole");
  stepscope_range_end();  // no range is open
  stepscope_stop();
  EXPECT_EQ(stepscope_close(), 0U);
  EXPECT_EQ(checked(path()).events, 1U);
}

TEST_F(Storm, WhatIsOpenTooDeepIsCounted) {
  constexpr std::uint64_t kDeep = Thread::kDeepest + 10;
  ASSERT_EQ(stepscope_open(path().c_str(), 4, 0), 0);
  stepscope_start();
  for (std::uint64_t i = 0; i < kDeep; ++i) begin("deep");
  stepscope_stop();
  EXPECT_EQ(stepscope_close(), 10U);
}

TEST_F(Storm, Misuse) {
  EXPECT_EQ(stepscope_start(), ENXIO);
  EXPECT_EQ(stepscope_stop(), ENXIO);
  EXPECT_EQ(stepscope_close(), 0U);
  EXPECT_EQ(stepscope_metadata("a=1", 3), ENXIO);
  EXPECT_EQ(stepscope_worker_of(1, 2), ENXIO);
  all_kinds(1);
  EXPECT_EQ(stepscope_open((folder_ / "none" / "x").c_str(), 4, 0), ENOENT);
  EXPECT_EQ(stepscope_open(folder_.c_str(), 4, 0), EEXIST);
  std::ofstream(path(1)) << "precious";
  EXPECT_EQ(stepscope_open(path(1).c_str(), 4, 0), EEXIST);
  EXPECT_EQ(std::filesystem::file_size(path(1)), 8U);

  ASSERT_EQ(stepscope_open(path().c_str(), 0, 0), 0);  // no room for any event
  EXPECT_EQ(stepscope_open(path(2).c_str(), 4, 0), EBUSY);
  EXPECT_EQ(stepscope_start(), 0);
  EXPECT_EQ(stepscope_start(), 0);
  all_kinds(1);
  EXPECT_EQ(stepscope_stop(), 0);
  EXPECT_EQ(stepscope_stop(), 0);
  EXPECT_EQ(stepscope_close(), kKinds);
  EXPECT_EQ(stepscope_close(), 0U);
  EXPECT_EQ(checked(path()).events, 0U);

  ASSERT_EQ(stepscope_open(path(3).c_str(), 4, 0), 0);
  stepscope_start();
  stepscope_range_end();
  begin("left open");
  range("");
  range(std::string(1'000'000, 'x'));
  stepscope_stop();
  stepscope_range_end();
  EXPECT_EQ(stepscope_close(), 0U);
  const auto file = record::RecordingFile::open(path(3));
  ASSERT_TRUE(file.ok());
  const record::Texts texts(file->recording().segments().at(0));
  std::vector<std::size_t> lengths;
  record::for_each_record(file->recording().segments()[0],
                          [&](const record::Record& record, std::span<const char>) {
                            if (record.type == record::Type::op)
                              lengths.push_back(texts[record.value].size());
                          });
  EXPECT_EQ(lengths, (std::vector<std::size_t>{0, kMaxText}));
}

}  // namespace
}  // namespace stepscope::collect
