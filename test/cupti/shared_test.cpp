// CUPTI's interface for several tools: another tool records at the same time.
#include <cerrno>

#include "cupti/other_tool.h"
#include "cupti/recorded_step.h"

namespace stepscope::test {
namespace {

using collect::cupti::kConcurrentKernel;
using collect::cupti::kSuccess;

OtherTool other_tool() {
  fake();
  return OtherTool(::dlopen(STEPSCOPE_FAKE_CUPTI, RTLD_NOW | RTLD_LOCAL), kConcurrentKernel);
}

FakeOptions newest() {
  FakeOptions options;
  options.version = 130500;
  return options;
}

TEST_F(Cupti, AnotherToolThatCameFirst) {
  fake().reset(newest());
  const OtherTool other = other_tool();
  ASSERT_EQ(other.subscribed(), kSuccess);
  ASSERT_EQ(stepscope_open(path_.c_str(), 64, 0), 0);
  ASSERT_EQ(attach(), (std::pair<int, std::string>(0, "")));
  ASSERT_EQ(stepscope_start(), 0);
  run_a_step();
  EXPECT_EQ(fake().subscribers(), 2U);
  stop();
  EXPECT_EQ(other.records(), 3);
  launch();
  EXPECT_EQ(other.records(), 4);  // it goes on without us
  expect_the_step();
}

TEST_F(Cupti, AnotherToolThatComesLater) {
  start(newest());
  {
    const OtherTool other = other_tool();
    ASSERT_EQ(other.subscribed(), kSuccess);
    run_a_step();
    EXPECT_EQ(other.records(), 3);
  }
  stop();
  expect_the_step();
}

/// CUDA 13.3 refuses a clock when several tools are allowed.
TEST_F(Cupti, SharedWithTheLibrarysClock) { expect_the_step_by_the_librarys_clock(newest()); }

TEST_F(Cupti, AToolThatAllowsNoOther) {
  FakeOptions options = newest();
  options.subscribe_error = 39;
  options.holder = "Nsight Systems";
  fake().reset(options);
  EXPECT_EQ(attach(), (std::pair<int, std::string>(EBUSY,
                                                   "another tool is tracing this program through CUPTI; stop "
                                                   "it first; it is Nsight Systems")));
}

TEST_F(Cupti, OlderLibrariesServeOneTool) {
  FakeOptions options;
  options.version = 130202;
  start(options);
  EXPECT_NE(other_tool().subscribed(), kSuccess);
  run_a_step();
  stop();
  expect_the_step();
}

}  // namespace
}  // namespace stepscope::test
