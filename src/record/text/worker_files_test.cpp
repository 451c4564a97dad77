// Recordings of a data loader's workers: found beside their parent's, and written with it.
#include "record/text/worker_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "read/files.h"
#include "record/recording_for_test.h"
#include "record/text/kineto_text.h"

namespace stepscope::record {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kEpoch = 1'700'000'000'000'000'000;

struct Made {
  std::uint32_t pid, parent, worker;
  std::int64_t begin, end, since_epoch;  // ns; a tick is 1 ns
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ops;
  std::vector<Flow> flows;
};

/// A recording of one thread, number 9, whose ops are all named "fetch".
std::string file_of(const Made& made) {
  HeaderForTest header;
  header.pid = made.pid;
  header.parent = made.parent;
  header.worker = made.worker;
  header.begin = {static_cast<std::uint64_t>(made.begin), made.begin, made.begin + made.since_epoch};
  header.end = {};
  if (made.end > 0)
    header.end = {static_cast<std::uint64_t>(made.end), made.end, made.end + made.since_epoch};
  std::string records;
  put_text(records, 1, "fetch");
  for (const Flow& flow : made.flows) put_bytes(records, flow);
  for (const auto& [begin, end] : made.ops)
    put_bytes(records, Op{{Type::op, 4, 1}, begin, end, 0, kUserScope, 0, 0});
  return recording_for_test(records, header);
}

Flow flow(bool begins, std::uint64_t tick, std::uint64_t id) {
  return {{Type::flow, 3, begins ? 1U : 0U}, tick, id};
}

class WorkerFiles : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string put(const char* name, const Made& made) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << file_of(made);
    return path;
  }
  /// The text of the recording at `path`, with its workers.
  static std::string text_of(const std::string& path) {
    const auto file = RecordingFile::open(path);
    std::string text;
    if (!file) return text;
    const Workers workers = workers_of(path, file->recording());
    const auto take = [&](std::string_view piece) {
      text += piece;
      return true;
    };
    write_kineto(file->recording(), take, {}, workers.recordings());
    return text;
  }
  static std::size_t count(const std::string& text, std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
    return found;
  }

  fs::path folder_ = fs::temp_directory_path() / ("stepscope-workers-" + std::to_string(::getpid()));
};

// The parent records from 1 to 2 ms. Of the worker's four ops, the first begins before that, the last ends
// after it, and two are inside. The worker's real-time clock was set an hour back, which changes nothing.
TEST_F(WorkerFiles, AreLimitedToTheirParentsTimes) {
  constexpr std::int64_t kHour = 3'600'000'000'000;
  const std::string path = put("run.stepscope", {7, 0, 0, 1'000'000, 2'000'000, kEpoch, {}, {}});
  put("run.worker3_8.stepscope",
      {8,
       7,
       3,
       500'000,
       0,
       kEpoch - kHour,
       {{900'000, 1'100'000}, {1'200'000, 1'300'000}, {1'400'000, 1'500'000}, {1'900'000, 2'100'000}},
       {}});
  const std::string text = text_of(path);
  EXPECT_EQ(count(text, R"("name": "fetch", "pid": 8, "tid": 9)"), 2U) << text;
  EXPECT_EQ(count(text, R"("dur": 100.000)"), 2U) << text;
  EXPECT_EQ(count(text, R"({"name": "DataLoader worker 3"})"), 1U) << text;
}

// Batch 70 has both ends. 71 was never taken, 72 was made before the recording, the making of 73 was not
// recorded. 74 was begun within the recording, but its fetch ended after it and is left out, and so is its
// arrow. Around the taking of 75 there is no op.
TEST_F(WorkerFiles, ArrowsHaveTwoEnds) {
  const Made parent{.pid = 7,
                    .parent = 0,
                    .worker = 0,
                    .begin = 1000,
                    .end = 9000,
                    .since_epoch = kEpoch,
                    .ops = {{4500, 8900}},
                    .flows = {flow(false, 5000, 70), flow(false, 6000, 72), flow(false, 7000, 73),
                              flow(false, 8800, 74), flow(false, 4000, 75)}};
  const Made worker{.pid = 8,
                    .parent = 7,
                    .worker = 0,
                    .begin = 500,
                    .end = 9500,
                    .since_epoch = kEpoch,
                    .ops = {{600, 800}, {2000, 3000}, {3100, 3500}, {8000, 9100}},
                    .flows = {flow(true, 2000, 70), flow(true, 2500, 71), flow(true, 700, 72),
                              flow(true, 8100, 74), flow(true, 3200, 75)}};
  const std::string path = put("run.stepscope", parent);
  put("run.worker0_8.stepscope", worker);
  const std::string text = text_of(path);
  EXPECT_EQ(count(text, R"("cat": "dataloader")"), 2U) << text;
  EXPECT_EQ(count(text, R"("ph": "s", "cat": "dataloader", "name": "dataloader", "pid": 8, "tid": 9)"), 1U);
  EXPECT_EQ(count(text, R"("ph": "f", "cat": "dataloader", "name": "dataloader", "pid": 7, "tid": 9)"), 1U);
}

TEST_F(WorkerFiles, AreThoseOfTheParentAlone) {
  const Made parent{7, 0, 0, 1000, 9000, kEpoch, {}, {}};
  const std::string path = put("run.stepscope", parent);
  const std::string mine = put("run.worker0_8.stepscope", {8, 7, 0, 1000, 9000, kEpoch, {}, {}});
  const std::string foreign = put("run.worker0_9.stepscope", {9, 6, 0, 1000, 9000, kEpoch, {}, {}});
  const std::string alike = put("run.worker1.stepscope", {10, 0, 0, 1000, 9000, kEpoch, {}, {}});
  put("run2.worker0_8.stepscope", {8, 7, 0, 1000, 9000, kEpoch, {}, {}});
  std::ofstream(folder_ / "run.worker2_2.stepscope") << "no recording";
  const auto file = RecordingFile::open(path);
  ASSERT_TRUE(file.ok());
  const Workers workers = workers_of(path, file->recording());
  ASSERT_EQ(workers.files.size(), 1U);
  EXPECT_EQ(workers.recordings()[0]->pid(), 8U);
  EXPECT_TRUE(is_workers(mine));
  EXPECT_TRUE(is_workers(foreign));
  EXPECT_FALSE(is_workers(alike));
  EXPECT_FALSE(is_workers(path));
  fs::remove(folder_ / "run.worker2_2.stepscope");
  const auto files = read::files_of(std::vector<std::string>{folder_.string()}, read::kReadable);
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(*files, (std::vector<std::string>{path, alike}));
}

}  // namespace
}  // namespace stepscope::record
