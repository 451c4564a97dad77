#include "read/job_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "read/merged/file.h"
#include "record/format.h"

namespace stepscope::read {
namespace {

class JobFiles : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }
  bool is_said_by(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return is_of_several((folder_ / name).string());
  }
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("stepscope-job-files-" + std::to_string(::getpid()));
};

TEST_F(JobFiles, SayThatThereAreOthers) {
  const std::string two = R"("distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2}, )";
  EXPECT_TRUE(is_said_by("a.json", "{" + two + "\"traceEvents\": []}"));
  EXPECT_TRUE(is_said_by("rank3.json", "{}"));
  EXPECT_TRUE(is_said_by("a.json", R"({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": []})"));
  EXPECT_TRUE(is_said_by("a.stepscope", std::string(record::kMagic, sizeof record::kMagic)));
  EXPECT_FALSE(is_said_by("a.json", std::string(kMergedStart) + two));
}

TEST_F(JobFiles, SayNothing) {
  for (const char* text :
       {"", "{}", R"({"distributedInfo": {"rank": 0}, "world_size": 2})",
        R"({"distributedInfo": {"rank": 0, "world_size": 1}})", R"({"distributedInfo": {"world_size")",
        R"({"distributedInfo": {"world_size": }, "x": 2})", R"({"world_size": 2})"})
    EXPECT_FALSE(is_said_by("a.json", text)) << text;
  EXPECT_FALSE(is_of_several("/nonexistent"));
  EXPECT_FALSE(is_other_json("/nonexistent"));
}

}  // namespace
}  // namespace stepscope::read
