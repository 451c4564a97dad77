// A recording made with the fake CUPTI, and its contents.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "collect/cupti/cupti.h"
#include "collect/recorder.h"
#include "cupti/fake_cupti.h"

namespace stepscope::test {

using collect::stepscope_close;
using collect::stepscope_open;
using collect::stepscope_range_begin;
using collect::stepscope_range_end;
using collect::stepscope_start;
using collect::stepscope_stop;

inline FakeCupti& fake() {
  static FakeCupti* const hooks = [] {
    ::setenv("STEPSCOPE_CUPTI_LIBRARY", STEPSCOPE_FAKE_CUPTI, 1);
    ::dlopen(STEPSCOPE_FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
    void* library = ::dlopen(STEPSCOPE_FAKE_CUPTI, RTLD_NOW | RTLD_LOCAL);
    void* symbol = library == nullptr ? nullptr : ::dlsym(library, "fake_cupti");
    FakeCupti* (*get)() = nullptr;
    std::memcpy(&get, &symbol, sizeof symbol);
    return get();
  }();
  return *hooks;
}

inline std::pair<int, std::string> attach() {
  char why[256] = "";
  const int error = stepscope_cupti_attach(0, why, sizeof why);
  return {error, why};
}

template <class Inside>
void range(const std::string& name, Inside inside) {
  stepscope_range_begin(name.data(), static_cast<std::uint32_t>(name.size()));
  inside();
  stepscope_range_end();
}

class FakeRecording : public testing::Test {
 protected:
  void SetUp() override { fake().reset({}); }
  void TearDown() override {
    stepscope_cupti_detach();
    stepscope_close();
    std::filesystem::remove(path_);
    EXPECT_EQ(fake().subscribers(), 0U);
    EXPECT_EQ(fake().finalized(), 0U);
  }

  void start(const FakeOptions& options = {}, std::uint32_t megabytes = 64) {
    fake().reset(options);
    std::filesystem::remove(path_);
    ASSERT_EQ(stepscope_open(path_.c_str(), megabytes, 0), 0);
    ASSERT_EQ(attach(), (std::pair<int, std::string>(0, "")));
    ASSERT_EQ(stepscope_start(), 0);
  }
  void stop() {
    EXPECT_EQ(stepscope_cupti_detach(), 0);
    EXPECT_EQ(stepscope_stop(), 0);
    EXPECT_EQ(stepscope_close(), 0U);
  }

  std::string path_ = (std::filesystem::temp_directory_path() /
                       ("stepscope-cupti-" + std::to_string(::getpid()) + ".stepscope"))
                          .string();
};

}  // namespace stepscope::test
