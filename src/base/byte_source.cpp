#include "base/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/gzip.h"
#include "base/kept_pipes.h"
#include "base/zstd.h"

namespace stepscope {
namespace {

class FileBytes : public ByteSource {
 public:
  /// A file of `size` bytes is read from its present place on, which does not move. -1: a pipe.
  FileBytes(int fd, std::int64_t size) : fd_(fd), start_(size < 0 ? -1 : ::lseek(fd, 0, SEEK_CUR)) {
    stored_size = size;
    reopens = start_ >= 0;
  }
  ~FileBytes() override {
    if (fd_ > 0) ::close(fd_);
  }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::size_t read(char* out, std::size_t size) override {
    std::size_t got = 0;
    while (got < size) {
      const ssize_t n = start_ < 0 ? ::read(fd_, out + got, size - got)
                                   : ::pread(fd_, out + got, size - got, start_ + position_);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0)
        add_fault(position_, std::string("the rest of the file could not be read: ") + std::strerror(errno));
      if (n <= 0) break;
      got += static_cast<std::size_t>(n);
      position_ += n;
    }
    return got;
  }
  std::int64_t position() const override { return position_; }

 private:
  int fd_;
  off_t start_;
  std::int64_t position_ = 0;
};

class MemoryBytes : public ByteSource {
 public:
  MemoryBytes(const char* data, std::size_t size) : data_(data), size_(size) {
    stored_size = static_cast<std::int64_t>(size);
    reopens = true;
  }
  std::size_t read(char* out, std::size_t size) override {
    const std::size_t n = std::min(size, size_ - at_);
    if (n != 0) std::memcpy(out, data_ + at_, n);
    at_ += n;
    return n;
  }
  std::int64_t position() const override { return static_cast<std::int64_t>(at_); }

 private:
  const char* data_;
  std::size_t size_, at_ = 0;
};

/// Reads the bytes that peek() took, then the rest.
class PrefixedBytes : public ByteSource {
 public:
  PrefixedBytes(std::string prefix, std::unique_ptr<ByteSource> rest)
      : prefix_(std::move(prefix)), rest_(std::move(rest)) {
    stored_size = rest_->stored_size;
    compressed = rest_->compressed;
    reopens = rest_->reopens;
  }
  std::size_t read(char* out, std::size_t size) override {
    const std::size_t n = std::min(size, prefix_.size() - at_);
    std::memcpy(out, prefix_.data() + at_, n);
    at_ += n;
    const std::size_t more = rest_->read(out + n, size - n);
    take_faults(*rest_);
    return n + more;
  }
  std::int64_t position() const override { return rest_->position(); }

 private:
  std::string prefix_;
  std::unique_ptr<ByteSource> rest_;
  std::size_t at_ = 0;
};

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> raw) {
  const std::string head = peek(raw, 4);
  if (head.starts_with("\x1f\x8b")) return gunzip(std::move(raw));
  const bool skippable = head.size() == 4 && (head[0] & 0xF0) == 0x50 && head.substr(1) == "\x2A\x4D\x18";
  return skippable || head == "\x28\xB5\x2F\xFD" ? unzstd(std::move(raw)) : std::move(raw);
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path) {
  if (path.empty()) return Error{"a file name is empty", ""};
  if (auto pipe = open_kept_pipe(path)) {
    if (!*pipe) return pipe->error();
    return unpacked(std::move(**pipe));
  }
  const int fd = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Error{std::string("cannot be opened: ") + std::strerror(errno), path};
  struct stat about{};
  if (::fstat(fd, &about) != 0 || S_ISDIR(about.st_mode)) {
    if (fd > STDIN_FILENO) ::close(fd);
    return Error{
        "is a directory, not a trace file; name the files in it, or run `stepscope report` on the directory",
        path};
  }
  return unpacked(std::make_unique<FileBytes>(fd, S_ISREG(about.st_mode) ? about.st_size : -1));
}

std::unique_ptr<ByteSource> memory_bytes(const char* data, std::size_t size) {
  return unpacked(std::make_unique<MemoryBytes>(data, size));
}

std::string peek(std::unique_ptr<ByteSource>& source, std::size_t size) {
  std::string head(size, '\0');
  head.resize(source->read(head.data(), head.size()));
  source = std::make_unique<PrefixedBytes>(head, std::move(source));
  return head;
}

}  // namespace stepscope
