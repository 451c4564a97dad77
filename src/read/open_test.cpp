// Files whose format is recognised before they are read.
#include "read/open.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "read/dftracer.h"

namespace stepscope::read {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPfw =
    R"({"id":"0","name":"read","cat":"POSIX","pid":"0","tid":"7","ts":"100","dur":"8","ph":"X","args":{}})";

TEST(DFTracer, IsOneObjectALineWithoutCommas) {
  const std::string line = std::string(kPfw) + "\n";
  EXPECT_TRUE(is_dftracer("[\n" + line + line + "]"));
  EXPECT_TRUE(is_dftracer("[\n  " + line + line));
  EXPECT_TRUE(is_dftracer("  \n" + line + line)) << "the job was killed before the bracket was written";
  EXPECT_TRUE(is_dftracer(line + line)) << "newer ones have no bracket";
}

TEST(DFTracer, IsNotAnyOtherListOfEvents) {
  const std::string event(kPfw);
  EXPECT_FALSE(is_dftracer("[\n" + event + ",\n" + event + "\n]"));
  EXPECT_FALSE(is_dftracer("[\n" + event + "\n,\n" + event + "\n]"));
  EXPECT_FALSE(is_dftracer("[" + event + "," + event + "]"));
  EXPECT_FALSE(is_dftracer("[\n" + event + "\n]"));
  EXPECT_FALSE(is_dftracer("{\"id\": 1, \"traceEvents\": [" + event + "\n" + event + "]}"));
  EXPECT_FALSE(is_dftracer("[{\"ph\":\"X\",\"pid\":1}\n{\"ph\":\"X\",\"pid\":1}"));
  EXPECT_FALSE(is_dftracer("") || is_dftracer("[") || is_dftracer("{\"id\":"));
}

TEST(DFTracer, IsAnErrorThatSaysSo) {
  const fs::path path = fs::temp_directory_path() / ("stepscope_" + std::to_string(getpid()) + ".pfw");
  std::ofstream(path) << "[\n" << kPfw << "\n" << kPfw << "\n";
  const std::string paths[] = {path.string()};
  const auto trace = open(paths);
  fs::remove(path);
  ASSERT_FALSE(trace.ok());
  EXPECT_TRUE(trace.error().message.starts_with("is a DFTracer file, which this version does not read;"));
  EXPECT_EQ(trace.error().file, path.string());
}

}  // namespace
}  // namespace stepscope::read
