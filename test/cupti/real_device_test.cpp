// NVIDIA's own library and a GPU, where there are both: another tool records beside us.
#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "cupti/fake_recording.h"
#include "cupti/other_tool.h"
#include "read/open.h"

namespace stepscope::test {
namespace {

constexpr int kNoDevice = 77, kTooOld = 78, kFills = 10;

const char* real_path() { return std::getenv("STEPSCOPE_REAL_CUPTI"); }

template <class... Arguments>
int call(void* library, const char* name, Arguments... arguments) {
  auto* const entry = reinterpret_cast<int (*)(Arguments...)>(::dlsym(library, name));
  return entry == nullptr ? -1 : entry(arguments...);
}

/// Fills memory of the first device, and waits for it. False: there is none.
class Fills {
 public:
  bool begin() {
    driver_ = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void* context = nullptr;
    int device = 0;
    return driver_ != nullptr && call(driver_, "cuInit", 0U) == 0 &&
           call(driver_, "cuDeviceGet", &device, 0) == 0 &&
           call(driver_, "cuDevicePrimaryCtxRetain", &context, device) == 0 &&
           call(driver_, "cuCtxSetCurrent", context) == 0 &&
           call(driver_, "cuMemAlloc_v2", &memory_, std::size_t{4096}) == 0;
  }
  bool run() {
    bool done = true;
    for (int i = 0; i < kFills; ++i)
      done = done &&
             call(driver_, "cuMemsetD8_v2", memory_, static_cast<unsigned char>(i), std::size_t{4096}) == 0;
    return done && call(driver_, "cuCtxSynchronize") == 0;
  }

 private:
  void* driver_ = nullptr;
  std::uint64_t memory_ = 0;
};

int fills_of(const std::string& path) {
  const auto trace = read::open(std::vector<std::string>{path});
  if (!trace.ok()) return -1;
  int fills = 0;
  for (const trace::Kind kind : trace->ranks[0].events.kind) fills += kind == trace::Kind::memset ? 1 : 0;
  return fills;
}

int record_beside_another() {
  ::setenv("STEPSCOPE_CUPTI_LIBRARY", real_path(), 1);
  Fills fills;
  if (!fills.begin()) return kNoDevice;
  void* library = ::dlopen(real_path(), RTLD_NOW | RTLD_LOCAL);
  std::uint32_t version = 0;
  if (library == nullptr || call(library, "cuptiGetVersion", &version) != 0) return 1;
  if (version < collect::cupti::kHasSharing) return kTooOld;
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("stepscope-two-tools-" + std::to_string(::getpid()) + ".stepscope"))
                               .string();
  int theirs = 0;
  {
    const OtherTool other(library, collect::cupti::kMemset);
    const auto [error, why] = attach();
    if (other.subscribed() != 0 || error != 0 || stepscope_open(path.c_str(), 16, 0) != 0)
      return std::fprintf(stderr, "subscribed: %d; attached: %s\n", other.subscribed(), why.c_str()), 1;
    stepscope_start();
    if (!fills.run()) return 1;
    stepscope_cupti_flush();
    theirs = other.records();
    stepscope_cupti_detach();
    stepscope_stop();
    stepscope_close();
  }
  const int ours = fills_of(path);
  std::filesystem::remove(path);
  if (ours == kFills && theirs == kFills) return 0;
  return std::fprintf(stderr, "of %d fills, stepscope has %d and the other tool %d\n", kFills, ours, theirs),
         1;
}

TEST(CuptiDevice, ASecondToolOnTheDevice) {
  if (real_path() == nullptr) GTEST_SKIP() << "STEPSCOPE_REAL_CUPTI does not name NVIDIA's library";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  static int status = 0;
  EXPECT_EXIT(
      std::exit(record_beside_another()),
      [](int ended) {
        status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
        return status == 0 || status == kNoDevice || status == kTooOld;
      },
      "");
  if (status == kNoDevice) GTEST_SKIP() << "no GPU was found";
  if (status == kTooOld) GTEST_SKIP() << "this CUPTI is older than CUDA 13.3";
}

}  // namespace
}  // namespace stepscope::test
