#include "merge/one_run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "merge/merge.h"

namespace stepscope::merge {
namespace {

namespace fs = std::filesystem;

class OneRun : public ::testing::Test {
 protected:
  OneRun() { fs::create_directories(folder_); }
  ~OneRun() override { fs::remove_all(folder_); }

  /// A rank's file with one op of 10 µs.
  void write(const std::string& name, int rank, int second) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << R"({"distributedInfo":{"rank":)" << rank
                        << R"(},"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":7,"tid":7,"ts":)"
                        << 1'700'000'000 + second << R"(000000,"dur":10}]})";
    files_.push_back(path);
  }
  /// The names of the files that are merged.
  std::string merged(MergeOptions options = {}) {
    const auto merged = survey(files_, options);
    if (!merged) return merged.error().text();
    std::string names;
    for (const Source& source : merged->sources) names += source.name + " ";
    notes_.clear();
    for (const std::string& note : merged->notes) notes_ += note + "\n";
    return names;
  }
  bool noted(const std::string& text) const { return notes_.find(text) != notes_.npos; }

  std::string notes_;

 private:
  fs::path folder_ = fs::temp_directory_path() / ("stepscope_one_run_" + std::to_string(getpid()));
  std::vector<std::string> files_;
};

TEST_F(OneRun, IsMergedOfSeveral) {
  write("a0.json", 0, 0);
  write("b0.json", 0, 3600);
  write("b1.json", 1, 3600);
  EXPECT_EQ(merged(), "b0.json b1.json ");
  EXPECT_TRUE(noted("a0.json: is of another run, or repeats a rank; --all-runs merges it all the same."))
      << notes_;
  MergeOptions options;
  options.run = 1;
  EXPECT_EQ(merged(options), "a0.json ");
  options.run = 3;
  EXPECT_NE(merged(options).find("there is no run 3"), std::string::npos);
  options = {};
  options.all_runs = true;
  EXPECT_EQ(merged(options), "a0.json b0.json b1.json ");
}

TEST_F(OneRun, LeavesOutARankOfAnotherTime) {
  write("r0.json", 0, 0);
  write("r1.json", 1, 0);
  write("r2.json", 2, 3600);
  EXPECT_EQ(merged(), "r0.json r1.json ");
  EXPECT_TRUE(noted("r2.json: recorded at another time than the other ranks")) << notes_;
  MergeOptions options;
  options.all_runs = true;
  EXPECT_EQ(merged(options), "r0.json r1.json r2.json ");
}

TEST_F(OneRun, KeepsARankOfAnotherTimeWhoseClockIsNotAligned) {
  write("r0.json", 0, 0);
  write("r1.json", 1, 0);
  write("r2.json", 2, 3600);
  MergeOptions options;
  options.align = false;
  EXPECT_EQ(merged(options), "r0.json r1.json r2.json ");
}

TEST_F(OneRun, KeepsRanksThatOverlap) {
  write("r0.json", 0, 0);
  write("r1.json", 1, 0);
  EXPECT_EQ(merged(), "r0.json r1.json ");
  EXPECT_FALSE(noted("Not merged")) << notes_;
}

TEST_F(OneRun, KeepsTheNewerOfTwoRanksApart) {
  write("r0.json", 0, 3600);
  write("r1.json", 1, 0);
  EXPECT_EQ(merged(), "r0.json ");
}

}  // namespace
}  // namespace stepscope::merge
