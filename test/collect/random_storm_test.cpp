// Programs that do anything to their recordings, at random: threads that come and go, cycles, forks, a disk
// that fills, files that others cut off, kills. `STEPSCOPE_STORM=600` storms for 600 s.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <new>
#include <random>
#include <set>

#include "storm.h"

#ifdef __SANITIZE_THREAD__
/// A child that was forked beside other threads cannot join them.
extern "C" const char* __tsan_default_options() { return "report_thread_leaks=0"; }
#endif

namespace stepscope::collect {
namespace {

using Random = std::minstd_rand;

int number(Random& random, int below) { return std::uniform_int_distribution(0, below - 1)(random); }
bool one_in(Random& random, int count) { return number(random, count) == 0; }

constexpr int kCycles = 3;

/// What a program told about its recordings, in memory that outlives it.
struct Told {
  struct Cycle {
    std::atomic<bool> opened, closed, newest, cut;
    std::atomic<std::uint64_t> ranges, dropped;
  };
  Cycle cycles[kCycles];
};

/// Ranges with names of their own, so that none can be lost unseen.
void work(Told::Cycle& told, int thread, int count) {
  for (int i = 0; i < count; ++i) {
    range(std::to_string(thread) + ":" + std::to_string(i));
    told.ranges.fetch_add(1, std::memory_order_relaxed);
  }
}

/// The program of one round. It returns an exit code.
int program(const std::filesystem::path& folder, unsigned seed, Told& told) {
  Random random(seed);
  if (one_in(random, 4)) {  // the disk is full
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit most{static_cast<rlim_t>(4096 + number(random, 3 << 20)), RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &most);
  }
  for (int i = 0; i < kCycles; ++i) {
    Told::Cycle& cycle = told.cycles[i];
    const std::string path = folder / (std::to_string(i) + ".stepscope");
    cycle.newest = one_in(random, 2);
    const std::uint32_t megabytes = 1U << number(random, 4);
    if (stepscope_open(path.c_str(), megabytes, cycle.newest ? record::kNewest : 0U) != 0) continue;
    cycle.opened = true;
    if (stepscope_start() != 0) return 1;
    const std::string note = R"(note="whole")";
    if (stepscope_metadata(note.data(), static_cast<std::uint32_t>(note.size())) != 0)
      ++cycle.ranges;  // it is counted as dropped, too
    int thread = 0;
    for (int crowd = number(random, 4); crowd >= 0; --crowd) {
      std::vector<std::thread> all;
      for (int t = 1 + number(random, 12); t > 0; --t)
        all.emplace_back(work, std::ref(cycle), thread++, number(random, one_in(random, 4) ? 20'000 : 300));
      if (one_in(random, 6)) {
        cycle.cut = true;
        (void)!::truncate(path.c_str(), number(random, 1 << 20));
      }
      pid_t child = -1;
      if (one_in(random, 4) && (child = ::fork()) == 0) {
        range("of the child");
        ::_exit(stepscope_recorder.load() == nullptr ? 0 : 1);
      }
      work(cycle, thread++, number(random, 300));
      join(all);
      int status = 0;
      if (child > 0 && (::waitpid(child, &status, 0) != child || status != 0)) return 2;
      if (one_in(random, 3) && (stepscope_stop() != 0 || stepscope_start() != 0)) return 3;
    }
    if (stepscope_stop() != 0) return 4;
    cycle.dropped = stepscope_close();
    cycle.closed = true;
  }
  return 0;
}

/// Numbers of the ranges that a recording has, by thread.
std::map<int, std::set<int>> ranges_in(const std::string& path) {
  std::map<int, std::set<int>> found;
  const auto file = record::RecordingFile::open(path);
  if (!file.ok()) return found;
  for (const record::Segment& segment : file->recording().segments()) {
    const record::Texts texts(segment);
    record::for_each_record(segment, [&](const record::Record& record, std::span<const char>) {
      if (record.type != record::Type::op) return;
      const std::string name(texts[record.value]);
      const std::size_t colon = name.find(':');
      ASSERT_NE(colon, std::string::npos) << name;
      EXPECT_TRUE(found[std::stoi(name)].insert(std::stoi(name.substr(colon + 1))).second)
          << "twice: " << name;
    });
  }
  return found;
}

void check(const std::string& path, const Told::Cycle& told) {
  if (!told.opened || told.cut) return;
  const auto found = ranges_in(path);
  checked(path);
  std::uint64_t count = 0;
  for (const auto& [thread, numbers] : found) count += numbers.size();
  if (!told.newest && told.closed) {
    EXPECT_EQ(count + told.dropped, told.ranges);
  } else if (!told.newest) {
    const auto file = record::RecordingFile::open(path);
    EXPECT_TRUE(!file.ok() || count + file->recording().dropped() >= told.ranges);
  } else if (told.dropped == 0) {
    for (const auto& [thread, numbers] : found)  // the oldest are missing, and no others
      EXPECT_EQ(*numbers.rbegin() - *numbers.begin() + 1, static_cast<int>(numbers.size()))
          << "thread " << thread;
  }
}

TEST_F(Storm, AtRandom) {
  using Clock = std::chrono::steady_clock;
  const char* asked = std::getenv("STEPSCOPE_STORM");
  const auto until = Clock::now() + std::chrono::seconds(asked != nullptr ? std::atoi(asked) : 5);
  void* shared = ::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  unsigned seed = asked != nullptr ? std::random_device()() % 1'000'000 : 1;
  int rounds = 0, killed = 0;
  for (; Clock::now() < until && !HasFailure(); ++seed, ++rounds) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, "seed " + std::to_string(seed));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    auto& told = *new (shared) Told{};
    const pid_t child = ::fork();
    if (child == 0) ::_exit(program(folder_, seed, told));
    ASSERT_GT(child, 0);
    Random random(~seed);
    const bool kills = one_in(random, 3);
    if (kills) {
      std::this_thread::sleep_for(std::chrono::microseconds(number(random, 100'000)));
      ::kill(child, SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (kills && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
      ++killed;
    else
      EXPECT_EQ(status, 0);
    for (int i = 0; i < kCycles; ++i) check(path(i), told.cycles[i]);
  }
  EXPECT_GT(rounds, 0);
  RecordProperty("rounds", rounds);
  RecordProperty("killed", killed);
  ::munmap(shared, sizeof(Told));
}

}  // namespace
}  // namespace stepscope::collect
