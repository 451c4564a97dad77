#include "record/recording_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace stepscope::record {

Result<RecordingFile> RecordingFile::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Error{std::strerror(errno), path};
  struct stat about{};
  void* at = MAP_FAILED;
  if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0)
    at = ::mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  if (at == MAP_FAILED) return Error{"is not a stepscope recording", path};
  RecordingFile out({static_cast<const char*>(at), static_cast<std::size_t>(about.st_size)});
  auto recording = Recording::open(out.bytes_);
  if (!recording) return Error{recording.error().message, path, recording.error().byte};
  out.recording_ = std::move(*recording);
  return out;
}

RecordingFile::RecordingFile(RecordingFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), recording_(std::move(other.recording_)) {}

RecordingFile::~RecordingFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace stepscope::record
