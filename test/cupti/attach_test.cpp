// How the collector of GPUs attaches and detaches.
#include <sys/wait.h>

#include <cerrno>
#include <thread>
#include <vector>

#include "cupti/fake_recording.h"

namespace stepscope::test {
namespace {

class CuptiAttach : public FakeRecording {};
using CuptiDeath = FakeRecording;

std::pair<int, std::string> attach_with(const FakeOptions& options) {
  fake().reset(options);
  return attach();
}

TEST_F(CuptiAttach, WhoeverHoldsTheLibraryIsNamed) {
  FakeOptions options;
  options.subscribe_error = 39;
  options.holder = "Nsight Systems";
  EXPECT_EQ(
      attach_with(options),
      (std::pair<int, std::string>(
          EBUSY, "another tool is tracing this program through CUPTI; stop it first; it is Nsight Systems")));
  EXPECT_EQ(stepscope_cupti_flush(), ENXIO);
  EXPECT_EQ(stepscope_cupti_detach(), ENXIO);
}

TEST_F(CuptiAttach, WithoutADriverItSaysSo) {
  FakeOptions options;
  options.subscribe_error = 999;
  EXPECT_EQ(attach_with(options),
            (std::pair<int, std::string>(ENODEV, "no working NVIDIA driver was found on this machine")));
  options.subscribe_error = 0;
  options.enable_error = 999;
  EXPECT_EQ(attach_with(options).first, ENODEV);
  EXPECT_EQ(fake().subscribers(), 0U);
  EXPECT_EQ(fake().enabled_kinds(), 0U);
  options.enable_error = 35;
  EXPECT_EQ(attach_with(options).first, EPERM);
  options.enable_error = 7;
  EXPECT_EQ(attach_with(options),
            (std::pair<int, std::string>(EIO, "CUPTI failed with error 7 (CUPTI_ERROR_FAKE)")));
  EXPECT_EQ(attach_with({}).first, 0);
  EXPECT_EQ(attach().first, EALREADY);
  EXPECT_EQ(stepscope_cupti_detach(), 0);
}

TEST_F(CuptiAttach, AnOlderLibraryAndAnOptionThatIsNone) {
  FakeOptions options;
  options.version = 12;
  EXPECT_EQ(attach_with(options),
            (std::pair<int, std::string>(ENOENT, "libcupti is version 12, older than CUDA 11")));
  char why[8];
  EXPECT_EQ(stepscope_cupti_attach(2, why, sizeof why), EINVAL);
  EXPECT_STREQ(why, "unknown");
}

TEST_F(CuptiAttach, AThousandTimes) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      FakeCall call;
      call.call_duration = 1000;
      while (!done) {
        fake().call(call);
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    });
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(attach(), (std::pair<int, std::string>(0, "")));
    fake().call({});
    ASSERT_EQ(stepscope_cupti_detach(), 0);
    ASSERT_EQ(fake().enabled_kinds(), 0U);
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CuptiAttach, AThreadThatCallsBackLate) {
  for (int i = 0; i < 100; ++i) {  // more often than there are buffers
    ASSERT_EQ(attach().first, 0);
    std::uint8_t* buffer = fake().take_buffer();
    ASSERT_NE(buffer, nullptr);
    ASSERT_EQ(stepscope_cupti_detach(), 0);
    fake().complete_buffer(buffer);
  }
}

TEST_F(CuptiAttach, AForkedChildStaysAway) {
  start();
  fake().call({});
  const pid_t child = ::fork();
  if (child == 0) ::_exit(attach().first == ENODEV && stepscope_cupti_detach() == ENXIO ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(stepscope_cupti_flush(), 0);
  stop();
}

/// Runs in a process of its own, as the library is searched for only once.
int attach_to_the_loaded_copy() {
  ::unsetenv("STEPSCOPE_CUPTI_LIBRARY");  // its soname is libcupti.so.12
  const auto [error, why] = attach();
  if (error != 0) std::fprintf(stderr, "%s\n", why.c_str());
  return error != 0 ? error : stepscope_cupti_detach();
}

TEST_F(CuptiDeath, TheCopyThatIsLoadedIsTaken) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(attach_to_the_loaded_copy()), testing::ExitedWithCode(0), "");
}

/// The fake driver is not loaded here.
int attach_without_a_driver() {
  ::setenv("STEPSCOPE_CUPTI_LIBRARY", STEPSCOPE_FAKE_CUPTI, 1);
  if (::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr) return 0;  // a machine with a GPU
  return attach() == std::pair<int, std::string>(ENODEV, "no working NVIDIA driver was found on this machine")
             ? 0
             : 1;
}

TEST(CuptiDriver, IsLookedForBeforeTheLibraryIsCalled) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(attach_without_a_driver()), testing::ExitedWithCode(0), "");
}

int attach_to_what_is_no_library() {
  ::setenv("STEPSCOPE_CUPTI_LIBRARY", "/dev/null", 1);
  const auto [error, why] = attach();
  return error == ENOENT && why.find("cannot be loaded") != std::string::npos ? 0 : 1;
}

TEST(CuptiDriver, ALibraryThatDoesNotLoad) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(attach_to_what_is_no_library()), testing::ExitedWithCode(0), "");
}

void end_while_attached() {
  if (attach().first != 0) std::exit(1);
  fake().call({});
  std::exit(0);
}

TEST_F(CuptiDeath, AProgramThatEndsWhileAttached) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(end_while_attached(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace stepscope::test
