// Recordings that tests make and read back.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collect/recorder.h"
#include "make_rank.h"
#include "record/recording_file.h"

namespace stepscope::collect {

inline void range(const std::string& name, const std::function<void()>& inside = [] {}) {
  stepscope_range_begin(name.data(), static_cast<std::uint32_t>(name.size()));
  inside();
  stepscope_range_end();
}

class Recordings : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(path_); }
  void TearDown() override {
    stepscope_close();
    std::filesystem::remove(path_);
  }
  trace::Trace read() const {
    auto trace = read::open(std::vector<std::string>{path_});
    EXPECT_TRUE(trace.ok()) << trace.error().text();
    return std::move(*trace);
  }
  static std::ptrdiff_t named(const trace::Trace& trace, std::string_view name) {
    const auto& names = trace.ranks[0].events.name;
    return std::count_if(names.begin(), names.end(),
                         [&](trace::StringId id) { return trace.text(id) == name; });
  }
  std::string path_ =
      (std::filesystem::temp_directory_path() / ("stepscope-" + std::to_string(::getpid()) + ".stepscope"))
          .string();
};

}  // namespace stepscope::collect
