#include "collect/recorder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "collect/recordings_for_test.h"

namespace stepscope::collect {
namespace {

TEST_F(Recordings, RangesOfTwoThreadsInTheirOrder) {
  ASSERT_EQ(stepscope_open(path_.c_str(), 8, record::kShapes), 0);
  EXPECT_EQ(stepscope_open(path_.c_str(), 8, 0), EBUSY);
  range("before the start");
  ASSERT_EQ(stepscope_start(), 0);
  const std::string note = R"(run="seven")";
  stepscope_metadata(note.data(), static_cast<std::uint32_t>(note.size()));
  range("outer", [] { range("inner", [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }); });
  std::thread([] { range("other"); }).join();
  ASSERT_EQ(stepscope_stop(), 0);
  range("behind the stop");
  EXPECT_EQ(stepscope_close(), 0U);
  const trace::Trace trace = read();
  const trace::EventTable& e = trace.ranks[0].events;
  for (const char* name : {"outer", "inner", "other"}) EXPECT_EQ(named(trace, name), 1) << name;
  EXPECT_EQ(named(trace, "before the start") + named(trace, "behind the stop"), 0);
  for (trace::Row row = 0; row < e.size(); ++row) {
    if (trace.text(e.name[row]) != "inner") continue;
    ASSERT_NE(e.parent[row], trace::kNoRow);
    EXPECT_EQ(trace.text(e.name[e.parent[row]]), "outer");
    EXPECT_GE(e.duration(row), 20'000'000);
    EXPECT_LT(e.duration(row), 10'000'000'000);
  }
}

TEST_F(Recordings, WhatIsCommittedSurvivesAKill) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    stepscope_open(path_.c_str(), 64, 0);
    stepscope_start();
    for (std::uint64_t done = 0;; ++done) {
      range("work");
      if (::write(pipe[1], &done, sizeof done) < 0) ::_exit(1);
    }
  }
  ::close(pipe[1]);
  std::uint64_t done = 0;
  while (done < 3000 && ::read(pipe[0], &done, sizeof done) == sizeof done) {
  }
  ::kill(child, SIGKILL);
  while (::read(pipe[0], &done, sizeof done) == sizeof done) {
  }
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_GE(named(read(), "work"), static_cast<std::ptrdiff_t>(done + 1));
}

TEST_F(Recordings, WhatFindsNoRoomIsCounted) {
  ASSERT_EQ(stepscope_open(path_.c_str(), 1, 0), 0);
  stepscope_start();
  for (int i = 0; i < 100'000; ++i) range("work");
  stepscope_stop();
  const auto dropped = static_cast<std::ptrdiff_t>(stepscope_close());
  const trace::Trace trace = read();
  EXPECT_GT(dropped, 0);
  EXPECT_GT(named(trace, "work"), 30'000);  // 32 bytes each
  EXPECT_EQ(named(trace, "work") + dropped, 100'000);
  EXPECT_GT(trace.ranks[0].reading.losses, 0);
  EXPECT_EQ(trace.ranks[0].full.dropped, dropped);
  EXPECT_EQ(trace.ranks[0].full.limit, trace::Full::Limit::recording);
}

TEST_F(Recordings, AForkedChildRecordsNothing) {
  ASSERT_EQ(stepscope_open(path_.c_str(), 8, 0), 0);
  stepscope_start();
  range("parent");
  const pid_t child = ::fork();
  if (child == 0) {
    range("child");
    ::_exit(stepscope_recorder.load() == nullptr ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  stepscope_close();
  const trace::Trace trace = read();
  EXPECT_EQ(named(trace, "parent"), 1);
  EXPECT_EQ(named(trace, "child"), 0);
}

TEST_F(Recordings, ManyThreadsThatComeAndGo) {
  constexpr int kThreads = 40, kRanges = 500;
  ASSERT_EQ(stepscope_open(path_.c_str(), 64, 0), 0);
  stepscope_start();
  for (int round = 0; round < kThreads / 4; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([] {
        for (int i = 0; i < kRanges; ++i) range("work " + std::to_string(i % 7));
      });
    for (std::thread& thread : threads) thread.join();
  }
  stepscope_stop();
  EXPECT_EQ(stepscope_close(), 0U);
  const trace::Trace trace = read();
  std::ptrdiff_t all = 0;
  for (int i = 0; i < 7; ++i) all += named(trace, "work " + std::to_string(i));
  EXPECT_EQ(all, kThreads * kRanges);
}

// Nothing is recorded between a stop and the next start; the recording spans the first start to the last
// stop.
TEST_F(Recordings, MayBeStoppedAndGoOn) {
  ASSERT_EQ(stepscope_open(path_.c_str(), 8, 0), 0);
  stepscope_start();
  range("first");
  stepscope_stop();
  range("between");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  stepscope_start();
  range("second");
  stepscope_stop();
  stepscope_close();
  const trace::Trace trace = read();
  for (const char* name : {"first", "second"}) EXPECT_EQ(named(trace, name), 1) << name;
  EXPECT_EQ(named(trace, "between"), 0);
  const auto file = record::RecordingFile::open(path_);
  ASSERT_TRUE(file.ok());
  EXPECT_GE(file->recording().end_ns() - file->recording().begin_ns(), 20'000'000);
}

TEST_F(Recordings, KeepLongMetadata) {
  ASSERT_EQ(stepscope_open(path_.c_str(), 8, 0), 0);
  const std::string long_one = "key=\"" + std::string(400'000, 'x') + "\"";
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(stepscope_metadata(long_one.data(), static_cast<std::uint32_t>(long_one.size())), 0);
  const std::string longer(record::kMaxMetadata + 1, 'x');
  EXPECT_EQ(stepscope_metadata(longer.data(), static_cast<std::uint32_t>(longer.size())), ENOSPC);
  stepscope_start();
  range("behind");
  stepscope_stop();
  stepscope_close();
  EXPECT_EQ(named(read(), "behind"), 1);
}

TEST_F(Recordings, KeepMetadataWhereOpsFilledTheRest) {
  ASSERT_EQ(stepscope_open(path_.c_str(), 16, 0), 0);
  stepscope_start();
  for (int i = 0; i < 1'000'000; ++i) range("op");
  const std::string note = R"(note="at the end")";
  EXPECT_EQ(stepscope_metadata(note.data(), static_cast<std::uint32_t>(note.size())), 0);
  stepscope_stop();
  EXPECT_GT(stepscope_close(), 0U);
  const trace::Trace trace = read();
  const std::pair<std::string, std::string> told{"note", "\"at the end\""};
  EXPECT_EQ(std::count(trace.ranks[0].metadata.begin(), trace.ranks[0].metadata.end(), told), 1);
}

std::size_t size_of(const std::string& path) { return std::filesystem::file_size(path); }

// A thread per request: each goes on in what the one before it has left. 2 MiB hold 5000 of them.
TEST_F(Recordings, AThreadGoesOnWhereAnEndedOneStopped) {
  constexpr int kThreads = 5000;
  ASSERT_EQ(stepscope_open(path_.c_str(), 2, 0), 0);
  stepscope_start();
  for (int i = 0; i < kThreads; ++i) std::thread([] { range("request"); }).join();
  stepscope_stop();
  EXPECT_EQ(stepscope_close(), 0U);
  const auto file = record::RecordingFile::open(path_);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->recording().notes(), std::vector<std::string>());
  EXPECT_EQ(file->recording().segments().size(), static_cast<std::size_t>(kThreads));
  EXPECT_EQ(named(read(), "request"), kThreads);
}

// 100 threads that are alive together, in 64 KiB each.
TEST_F(Recordings, ThreadsThatRecordLittleTakeLittle) {
  constexpr int kThreads = 100;
  ASSERT_EQ(stepscope_open(path_.c_str(), 8, 0), 0);
  stepscope_start();
  std::barrier all(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      range("request");
      all.arrive_and_wait();
    });
  for (std::thread& thread : threads) thread.join();
  stepscope_stop();
  EXPECT_EQ(stepscope_close(), 0U);
  EXPECT_EQ(size_of(path_), record::kHeaderBytes + kThreads * std::size_t{record::kUnitBytes});
  EXPECT_EQ(named(read(), "request"), kThreads);
}

// A thread has ended in a segment of 384 KiB, of which it needs 300: the other one fills that, too.
TEST_F(Recordings, WhatEndedThreadsHoldIsFilled) {
  ASSERT_EQ(stepscope_open(path_.c_str(), 1, 0), 0);
  stepscope_start();
  const std::string note = "note=\"" + std::string(300'000, 'x') + "\"";
  range("work");
  std::thread([&] {
    EXPECT_EQ(stepscope_metadata(note.data(), static_cast<std::uint32_t>(note.size())), 0);
  }).join();
  for (int i = 1; i < 50'000; ++i) range("work");
  stepscope_stop();
  const auto dropped = static_cast<std::ptrdiff_t>(stepscope_close());
  const std::ptrdiff_t kept = named(read(), "work");
  EXPECT_EQ(kept + dropped, 50'000);
  EXPECT_GT(kept, 19'000);  // 64 + 256 + 320 KiB without margins of 24 KiB: 18,176 of 32 bytes; and the rest
}

// Another program cuts the file off: what was there is lost, and the program goes on.
TEST_F(Recordings, ACutFileDoesNotEndTheProgram) {
  const pid_t child = ::fork();
  if (child == 0) {
    stepscope_open(path_.c_str(), 8, 0);
    stepscope_start();
    for (int i = 0; i < 1000; ++i) range("before");
    if (::truncate(path_.c_str(), 0) != 0) ::_exit(2);
    for (int i = 0; i < 100'000; ++i) range("after");
    stepscope_stop();
    stepscope_close();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// A bus error of the program's own still ends it.
TEST_F(Recordings, OtherBusErrorsAreNotTheirs) {
  const pid_t child = ::fork();
  if (child == 0) {
    stepscope_open(path_.c_str(), 8, 0);
    const int file = ::open((path_ + ".own").c_str(), O_RDWR | O_CREAT, 0600);
    auto* own =
        static_cast<volatile char*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    *own = 1;
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  std::filesystem::remove(path_ + ".own");
  // Its signal, or what a sanitizer that catches it exits with.
  EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == SIGBUS : WEXITSTATUS(status) != 0);
}

// Nor is one at an address that a closed recording has given back.
TEST_F(Recordings, BusErrorsAfterTheEndAreNotTheirs) {
  const pid_t child = ::fork();
  if (child == 0) {
    stepscope_open(path_.c_str(), 8, 0);
    stepscope_start();
    char* at = stepscope_recorder.load()->segments + 4 * std::size_t{record::kSegmentBytes};
    stepscope_close();
    const int file = ::open(path_.c_str(), O_RDWR | O_TRUNC);
    auto* own = static_cast<volatile char*>(
        ::mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0));
    if (own != at) ::_exit(0);
    *own = 1;
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == SIGBUS : WEXITSTATUS(status) != 0);
}

// A forked child leaves its parent's segments alone, also where its first thread ends.
TEST_F(Recordings, AForkedChildsThreadsWriteTheirOwn) {
  ASSERT_EQ(stepscope_open(path_.c_str(), 2, 0), 0);
  stepscope_start();
  range("parent");
  const std::string own = path_ + ".child";
  const pid_t child = ::fork();
  if (child == 0) {
    std::thread([&] {
      stepscope_open(own.c_str(), 2, 0);
      stepscope_start();
      range("child");
      stepscope_close();
    }).join();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  range("parent");
  stepscope_close();
  EXPECT_EQ(named(read(), "parent"), 2);
  const auto recorded = record::RecordingFile::open(own);
  std::filesystem::remove(own);
  ASSERT_TRUE(recorded.ok());
  EXPECT_EQ(recorded->recording().segments().size(), 1U);
}

/// Result of stepscope_open() in a child process that applies `limit` to itself.
int open_under(const std::string& path, const std::function<void()>& limit) {
  const pid_t child = ::fork();
  if (child == 0) {
    limit();
    errno = EBADF;  // as left by an earlier call: it must not be returned
    ::_exit(stepscope_open(path.c_str(), 8, 0));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

void limit_to(__rlimit_resource resource, rlim_t soft) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  limit.rlim_cur = soft;
  ::setrlimit(resource, &limit);
}

TEST_F(Recordings, SayWhyTheirFileHasNoRoom) {
  EXPECT_EQ(open_under(path_,
                       [] {
                         ::signal(SIGXFSZ, SIG_IGN);
                         limit_to(RLIMIT_FSIZE, record::kHeaderBytes / 2);
                       }),
            EFBIG);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STEPSCOPE_SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STEPSCOPE_SANITIZED 1
#endif
#ifndef STEPSCOPE_SANITIZED  // their shadow memory passes any limit
/// Limits this process to the address space that a recording's file needs.
void leave_room_for(std::size_t bytes) {
  void* room = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  limit_to(RLIMIT_AS, pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  int blocks = 0;
  while (std::malloc(sizeof(Recorder)) != nullptr)
    if (++blocks == 20'000'000) ::_exit(100);  // the limit has no effect here
  ::munmap(room, bytes);
}

TEST_F(Recordings, LeaveNoMappingWhereMemoryIsShort) {
  constexpr std::uint32_t kMegabytes = 8;
  const int answer = open_under(path_, [this] {
    const int maps = ::open("/proc/self/maps", O_RDONLY);
    leave_room_for(record::kHeaderBytes + std::size_t{kMegabytes} * record::kSegmentBytes);
    if (stepscope_open(path_.c_str(), kMegabytes, 0) != ENOMEM) ::_exit(101);
    static char text[1 << 20];
    for (ssize_t used = 0, got = 1; got > 0; used += got)
      got = ::read(maps, text + used, sizeof text - 1 - static_cast<std::size_t>(used));
    ::_exit(std::strstr(text, path_.c_str()) == nullptr ? 0 : 102);
  });
  if (answer == 100) GTEST_SKIP() << "this kernel does not limit address space";
  EXPECT_EQ(answer, 0);
  EXPECT_FALSE(std::filesystem::exists(path_));
}
#endif

}  // namespace
}  // namespace stepscope::collect
