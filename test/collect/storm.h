// What the storms on the collector share: events of all kinds, and a check of every record.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "collect/recorder.h"
#include "record/recording_file.h"

namespace stepscope::collect {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

inline void begin(const std::string& name) {
  stepscope_range_begin(name.data(), static_cast<std::uint32_t>(name.size()));
}
inline void range(const std::string& name) {
  begin(name);
  stepscope_range_end();
}
inline void counter(const std::string& name, double value) {
  stepscope_counter(name.data(), static_cast<std::uint32_t>(name.size()), value);
}

/// One of each kind of event that a program can report: 5 records.
inline void all_kinds(std::uint64_t i) {
  begin("outer " + std::to_string(i % 300));
  range("inner");
  stepscope_range_end();
  counter("count", static_cast<double>(i));
  stepscope_memory(i, 64, i % 2 == 0 ? -1 : 3);
  stepscope_flow(i, i % 2 == 0);
}
inline constexpr std::uint64_t kKinds = 5;

inline std::vector<std::thread> threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> all;
  for (int i = 0; i < count; ++i) all.emplace_back(work, i);
  return all;
}
inline void join(std::vector<std::thread>& all) {
  for (std::thread& thread : all) thread.join();
}

struct Found {
  std::uint64_t events = 0, dropped = 0;
};

/// Checks every record of the file.
inline Found checked(const std::string& path) {
  Found found;
  const auto file = record::RecordingFile::open(path);
  EXPECT_TRUE(file.ok());
  if (!file.ok()) return found;
  found.dropped = file->recording().dropped();
  for (const record::Segment& segment : file->recording().segments()) {
    const record::Texts texts(segment);
    std::uint64_t wrong = 0;
    EXPECT_TRUE(
        record::for_each_record(segment, [&](const record::Record& record, std::span<const char> bytes) {
          const bool is_named = record.type == record::Type::op || record.type == record::Type::counter;
          if (is_named || record.type == record::Type::memory || record.type == record::Type::flow)
            ++found.events;
          if (is_named) wrong += texts[record.value].empty();
          if (record.type != record::Type::op) return;
          record::Op op;
          std::memcpy(static_cast<void*>(&op), bytes.data(), sizeof op);
          wrong += op.begin == 0 || op.end < op.begin || op.scope != record::kUserScope;
        }));
    EXPECT_EQ(wrong, 0U);
  }
  return found;
}

class Storm : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override {
    stepscope_close();
    std::filesystem::remove_all(folder_);
  }
  std::string path(int i = 0) const { return folder_ / (std::to_string(i) + ".stepscope"); }
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("stepscope-storm-" + std::to_string(::getpid()));
};

}  // namespace stepscope::collect
