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
  std::string written(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  bool is_said_by(const std::string& name, const std::string& text) {
    return is_of_several(written(name, text));
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
}

TEST_F(JobFiles, OtherJson) {
  for (const char* text : {"{}", "[]", " \n[1, 2]", R"({"learning_rate": 0.1})", R"({"traceEvent": 1})"})
    EXPECT_TRUE(is_other_json(written("a.json", text))) << text;
  // What is damaged, or may be a recording, is not left out.
  for (const std::string text :
       {std::string(), std::string("no trace"), std::string(R"({"schemaVersion": 1, "devicePro)"),
        std::string(R"([{"ph": "X", "name": "a"}])"), std::string(R"({"x": 1, "traceEvents": [)"),
        std::string(R"({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": []})"),
        std::string(kMergedStart) + "}", std::string(record::kMagic, sizeof record::kMagic)})
    EXPECT_FALSE(is_other_json(written("a.json", text))) << text;
  EXPECT_FALSE(is_other_json("/nonexistent"));
}

}  // namespace
}  // namespace stepscope::read
