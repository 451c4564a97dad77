// NVIDIA's own library checks the fake: it walks the records that the fake makes, even on a machine without a
// GPU. STEPSCOPE_REAL_CUPTI names the library, e.g. …/libcupti.so.12.
#include <sys/wait.h>

#include <cerrno>
#include <vector>

#include "cupti/fake_recording.h"

namespace stepscope::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using NextRecord = int (*)(std::uint8_t*, std::size_t, std::uint8_t**);

const char* real_path() { return std::getenv("STEPSCOPE_REAL_CUPTI"); }

template <class Function>
Function entry(void* library, const char* name) {
  void* symbol = ::dlsym(library, name);
  Function function = nullptr;
  std::memcpy(&function, &symbol, sizeof symbol);
  return function;
}

Bytes made(1 << 16);  // the buffer that the fake fills
std::size_t made_bytes = 0;
void request(std::uint8_t** buffer, std::size_t* bytes, std::size_t*) {
  *buffer = made.data();
  *bytes = made.size();
}
void complete(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t valid) { made_bytes = valid; }

/// Makes one record of each kind that is read.
void make_records(void* library) {
  using Complete = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);
  using Request = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
  entry<int (*)(Request, Complete)>(library, "cuptiActivityRegisterCallbacks")(request, complete);
  const auto enable = entry<int (*)(std::uint32_t)>(library, "cuptiActivityEnableAndDump");
  for (const std::uint32_t kind : {8U, 9U, 10U, 1U, 22U, 2U, 38U, 36U, 17U, 5U}) enable(kind);
  fake().overhead(1U << 16, 10);
  for (const auto work : {FakeCall::kernel, FakeCall::copy, FakeCall::peer_copy, FakeCall::fill}) {
    FakeCall call;
    call.work = work;
    call.wait = 3;
    call.records_event = true;
    call.bytes = 64;
    fake().call(call);
  }
  entry<int (*)(std::uint32_t)>(library, "cuptiActivityFlushAll")(0);
}

/// Where each record begins, and what ended the walk.
std::pair<std::vector<std::size_t>, int> walk(NextRecord next) {
  std::vector<std::size_t> at;
  std::uint8_t* record = nullptr;
  int result = 0;
  while (at.size() < 1000 && (result = next(made.data(), made_bytes, &record)) == 0)
    at.push_back(static_cast<std::size_t>(record - made.data()));
  return {at, result};
}

/// Runs in a process of its own: without a driver, the library of CUDA 13.2 crashes in its first call.
bool answers(void* library) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::uint32_t version = 0;
    ::_exit(entry<int (*)(std::uint32_t*)>(library, "cuptiGetVersion")(&version) == 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(RealCupti, WalksTheRecordsOfTheFake) {
  if (real_path() == nullptr) GTEST_SKIP() << "STEPSCOPE_REAL_CUPTI names no library";
  void* real = ::dlopen(real_path(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(real, nullptr) << ::dlerror();
  if (!answers(real))
    GTEST_SKIP() << "this library answers nothing without a driver, as those since CUDA 13.2";
  std::uint32_t version = 0;
  ASSERT_EQ(entry<int (*)(std::uint32_t*)>(real, "cuptiGetVersion")(&version), 0);
  FakeOptions options;
  options.version = version;
  fake().reset(options);
  if (fake().version() != version) GTEST_SKIP() << "the fake does not know version " << version;
  void* library = ::dlopen(STEPSCOPE_FAKE_CUPTI, RTLD_NOW | RTLD_LOCAL);
  make_records(library);
  const auto mine = walk(entry<NextRecord>(library, "cuptiActivityGetNextRecord"));
  EXPECT_EQ(mine.first.size(), 2U + 2U + 1U + 4U * 4U);  // devices, contexts, overhead, 4 per call
  EXPECT_EQ(walk(entry<NextRecord>(real, "cuptiActivityGetNextRecord")), mine) << "version " << version;
  RecordProperty("version", static_cast<int>(version));
}

int attach_to_the_real_one() {
  ::setenv("STEPSCOPE_CUPTI_LIBRARY", real_path(), 1);
  const auto [error, why] = attach();
  std::fprintf(stderr, "attached: %d %s\n", error, why.c_str());
  if (error == 0) return stepscope_cupti_detach();
  return error == ENODEV && why == "no working NVIDIA driver was found on this machine" ? 0 : 1;
}

TEST(RealCuptiDeath, AttachesOrSaysThatThereIsNoDriver) {
  if (real_path() == nullptr) GTEST_SKIP() << "STEPSCOPE_REAL_CUPTI names no library";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(attach_to_the_real_one()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace stepscope::test
