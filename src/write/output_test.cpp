#include "write/output.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace stepscope::write {
namespace {

namespace fs = std::filesystem;

class OutputFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  std::string text() const {
    std::ifstream in(path_);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  fs::path folder_ = fs::temp_directory_path() / ("stepscope-output-" + std::to_string(::getpid()));
  std::string path_ = (folder_ / "out.json").string();
};

TEST_F(OutputFile, TakesItsNameWhenWhole) {
  for (const char* content : {"first", "second"}) {
    auto output = Output::open(path_);
    ASSERT_TRUE(output.ok());
    output.value().write(content);
    EXPECT_FALSE(output.value().finish());
    EXPECT_EQ(text(), content);
    EXPECT_EQ(files(), 1);
  }
}

TEST_F(OutputFile, LeavesTheOldOneWhenGivenUp) {
  std::ofstream(path_) << "old";
  {
    Output::open(path_).value().write("half");
  }
  EXPECT_EQ(text(), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFile, LeavesNothingWhenKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto output = Output::open(path_);
    output.value().write("half");
    ::_exit(files() == 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WEXITSTATUS(status) != 0) GTEST_SKIP() << "this file system has no files without a name";
  EXPECT_EQ(files(), 0);
}

}  // namespace
}  // namespace stepscope::write
