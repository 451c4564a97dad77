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
  JobFile said_by(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return look_at((folder_ / name).string());
  }
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("stepscope-job-files-" + std::to_string(::getpid()));
};

TEST_F(JobFiles, SayThatThereAreOthers) {
  const std::string two = R"("distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2}, )";
  EXPECT_EQ(said_by("a.json", "{" + two + "\"traceEvents\": []}"), JobFile::of_several);
  EXPECT_EQ(said_by("rank3.json", R"({"traceEvents": []})"), JobFile::of_several);
  EXPECT_EQ(said_by("a.json", R"({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": []})"),
            JobFile::of_several);
  EXPECT_EQ(said_by("a.stepscope", std::string(record::kMagic, sizeof record::kMagic)), JobFile::of_several);
  EXPECT_EQ(said_by("a.json", std::string(kMergedStart) + two), JobFile::alone);
}

TEST_F(JobFiles, SayNothing) {
  for (const char* text :
       {"", "\x1f\x8b damaged", "]", "[{\"ph\": \"X\"",
        R"({"distributedInfo": {"rank": 0}, "world_size": 2})",
        R"({"distributedInfo": {"rank": 0, "world_size": 1}})", R"({"distributedInfo": {"world_size")",
        R"({"distributedInfo": {"world_size": }, "x": 2})", R"({"world_size": 2, "traceEvents": []})"})
    EXPECT_EQ(said_by("a.json", text), JobFile::alone) << text;
  EXPECT_EQ(look_at("/nonexistent"), JobFile::alone);
}

TEST_F(JobFiles, AreNoRecordings) {
  for (const char* text : {"{}", " [1, 2]", R"({"learning_rate": 0.1})", R"([{"name": "x"}])"})
    EXPECT_EQ(said_by("rank0.json", text), JobFile::other) << text;
}

}  // namespace
}  // namespace stepscope::read
