// Records three training steps whose kernels are the fake CUPTI's, to test what other tools read of them.
//
//   training_loop FILE.stepscope FAKE_CUPTI.so FAKE_DRIVER.so
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "collect/cupti/cupti.h"
#include "collect/recorder.h"
#include "cupti/fake_cupti.h"

namespace {

using namespace stepscope;  // NOLINT

const FakeCupti* fake(const char* path, const char* driver) {
  ::dlopen(driver, RTLD_NOW | RTLD_LOCAL);
  ::setenv("STEPSCOPE_CUPTI_LIBRARY", path, 1);
  void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* symbol = library == nullptr ? nullptr : ::dlsym(library, "fake_cupti");
  FakeCupti* (*get)() = nullptr;
  std::memcpy(&get, &symbol, sizeof symbol);
  return get == nullptr ? nullptr : get();
}

template <class Inside>
void op(const char* name, Inside inside) {
  collect::Recorder* recorder = collect::stepscope_recorder.load();
  collect::Thread* thread = collect::thread_of(*recorder);
  if (!collect::has_room(*thread)) return;
  const std::uint64_t begin = collect::ticks(recorder->clock);
  inside();
  collect::write_op(*thread, {nullptr, begin, -1, 0, nullptr, nullptr, 0, 0}, name,
                    collect::ticks(recorder->clock));
}

void copy_in(const FakeCupti& gpu) {
  FakeCall copy;
  copy.name = "cudaMemcpyAsync";
  copy.work = FakeCall::copy;
  copy.bytes = 4096;
  copy.duration = 3000;
  gpu.call(copy);
}

void multiply(const FakeCupti& gpu) {
  FakeCall gemm;
  gemm.kernel_name = "ampere_sgemm_32x32_sliced1x4_nn";
  gemm.duration = 9000;
  gpu.call(gemm);
  gpu.call({});
}

void wait(const FakeCupti& gpu) {
  FakeCall synchronize;
  synchronize.name = "cudaDeviceSynchronize";
  synchronize.work = FakeCall::none;
  synchronize.wait = 4;
  gpu.call(synchronize);
}

void step(const FakeCupti& gpu, int number) {
  const std::string name = "ProfilerStep#" + std::to_string(number);
  collect::stepscope_range_begin(name.data(), static_cast<std::uint32_t>(name.size()));
  op("aten::copy_", [&] { copy_in(gpu); });
  op("aten::linear", [&] { op("aten::addmm", [&] { multiply(gpu); }); });
  op("aten::item", [&] { wait(gpu); });
  collect::stepscope_range_end();
}

}  // namespace

int main(int argc, char** argv) {
  const FakeCupti* gpu = argc == 4 ? fake(argv[2], argv[3]) : nullptr;
  if (gpu == nullptr) return 2;
  gpu->reset({});
  char why[256] = "";
  if (collect::stepscope_open(argv[1], 16, 0) != 0 || stepscope_cupti_attach(0, why, sizeof why) != 0) {
    std::fprintf(stderr, "%s\n", why);
    return 1;
  }
  collect::stepscope_start();
  for (int i = 0; i < 3; ++i) step(*gpu, i);
  stepscope_cupti_detach();
  collect::stepscope_stop();
  collect::stepscope_close();
}
