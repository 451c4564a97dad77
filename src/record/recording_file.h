// A recording's file, mapped into memory: segments that were never claimed take no memory.
#pragma once

#include <string>

#include "base/result.h"
#include "record/recording.h"

namespace stepscope::record {

class RecordingFile {
 public:
  static Result<RecordingFile> open(const std::string& path);
  RecordingFile(RecordingFile&& other) noexcept;
  RecordingFile& operator=(RecordingFile&&) = delete;
  ~RecordingFile();

  const Recording& recording() const { return recording_; }
  void take_times_of(const Recording& parent) { recording_.take_times_of(parent); }

 private:
  explicit RecordingFile(std::span<const char> bytes) : bytes_(bytes) {}

  std::span<const char> bytes_;
  Recording recording_;
};

}  // namespace stepscope::record
