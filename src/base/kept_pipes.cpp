#include "base/kept_pipes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

namespace stepscope {
namespace {

/// Descriptor of a new file without a name; -1 with errno if there is none.
int nameless_file() {
  std::error_code unknown;
  std::string name = (std::filesystem::temp_directory_path(unknown) / "stepscope-pipe-XXXXXX").string();
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor >= 0) ::unlink(name.c_str());
  return descriptor;
}

/// A pipe, and the copy of what was read from it.
class Pipe {
 public:
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    if (from_ > STDIN_FILENO) ::close(from_);
    if (copy_ >= 0) ::close(copy_);
  }

  /// Opens the pipe on the first call. Waits for its writer.
  std::optional<Error> open(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (from_ >= 0) return std::nullopt;
    from_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (from_ < 0) return Error{std::string("cannot be opened: ") + std::strerror(errno), path};
    copy_ = nameless_file();
    if (copy_ >= 0) return std::nullopt;
    uncopied_ = std::strerror(errno);
    copy_ = ::memfd_create("stepscope-pipe", MFD_CLOEXEC);
    room_ = copy_ < 0 ? 0 : kMaxInMemory;
    return std::nullopt;
  }

  /// Writes up to `size` bytes from `at` on to `out`; 0 at the end, or at a fault, which `fault` then names.
  std::size_t read(std::int64_t at, char* out, std::size_t size, std::string& fault) {
    const std::lock_guard lock(mutex_);
    if (at < copied_) return read_copy(at, out, size, fault);
    if (at == taken_) return take(out, size, fault);
    fault = "the pipe cannot be read again, because its copy in a temporary file failed: " + uncopied_ +
            "; set TMPDIR to a folder with more room, or give a file";
    return 0;
  }

 private:
  static constexpr std::int64_t kMaxInMemory = std::int64_t{64} << 20;

  std::size_t read_copy(std::int64_t at, char* out, std::size_t size, std::string& fault) const {
    const ssize_t n = ::pread(copy_, out, std::min(size, static_cast<std::size_t>(copied_ - at)), at);
    if (n <= 0)
      fault = std::string("the copy of the pipe could not be read: ") + std::strerror(n < 0 ? errno : EIO);
    return static_cast<std::size_t>(std::max<ssize_t>(0, n));
  }

  std::size_t take(char* out, std::size_t size, std::string& fault) {
    ssize_t n;
    do n = ::read(from_, out, size);
    while (n < 0 && errno == EINTR);
    if (n < 0) fault = std::string("the rest of the pipe could not be read: ") + std::strerror(errno);
    if (n <= 0) return 0;
    if (copied_ == taken_) append(out, static_cast<std::size_t>(n));
    taken_ += n;
    return static_cast<std::size_t>(n);
  }

  void append(const char* bytes, std::size_t size) {
    for (std::size_t done = 0; done < size && copied_ < room_;) {
      const ssize_t n = ::pwrite(copy_, bytes + done, size - done, copied_);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        uncopied_ = std::strerror(n < 0 ? errno : ENOSPC);
        room_ = copied_;
        return;
      }
      done += static_cast<std::size_t>(n);
      copied_ += n;
    }
  }

  std::mutex mutex_;
  int from_ = -1, copy_ = -1;
  std::int64_t taken_ = 0;                                        // bytes read from the pipe
  std::int64_t copied_ = 0;                                       // the first of them, which the copy holds
  std::int64_t room_ = std::numeric_limits<std::int64_t>::max();  // bytes up to which the copy is written
  std::string uncopied_;                                          // why the room is limited
};

class PipeBytes : public ByteSource {
 public:
  explicit PipeBytes(std::shared_ptr<Pipe> pipe) : pipe_(std::move(pipe)) { reopens = true; }
  std::size_t read(char* out, std::size_t size) override {
    std::size_t got = 0;
    std::string fault;
    while (got < size) {
      const std::size_t n = pipe_->read(position_, out + got, size - got, fault);
      if (!fault.empty()) add_fault(position_, std::move(fault));
      if (n == 0) break;
      got += n;
      position_ += static_cast<std::int64_t>(n);
    }
    return got;
  }
  std::int64_t position() const override { return position_; }

 private:
  std::shared_ptr<Pipe> pipe_;
  std::int64_t position_ = 0;
};

/// The pipes that are kept, by device and inode: one pipe has several paths. Shared by all threads.
struct Kept {
  std::mutex mutex;
  std::size_t keepers = 0;
  std::map<std::pair<dev_t, ino_t>, std::shared_ptr<Pipe>> pipes;
};

Kept& kept() {
  static Kept all;
  return all;
}

}  // namespace

KeepPipes::KeepPipes() {
  const std::lock_guard lock(kept().mutex);
  ++kept().keepers;
}

KeepPipes::~KeepPipes() {
  const std::lock_guard lock(kept().mutex);
  if (--kept().keepers == 0) kept().pipes.clear();
}

std::optional<Result<std::unique_ptr<ByteSource>>> open_kept_pipe(const std::string& path) {
  struct stat about{};
  const bool found = (path == "-" ? ::fstat(STDIN_FILENO, &about) : ::stat(path.c_str(), &about)) == 0;
  if (!found || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)) return std::nullopt;
  std::shared_ptr<Pipe> pipe;
  {
    const std::lock_guard lock(kept().mutex);
    if (kept().keepers == 0) return std::nullopt;
    std::shared_ptr<Pipe>& known = kept().pipes[{about.st_dev, about.st_ino}];
    if (!known) known = std::make_shared<Pipe>();
    pipe = known;
  }
  if (auto error = pipe->open(path)) return *std::move(error);
  return std::unique_ptr<ByteSource>(std::make_unique<PipeBytes>(std::move(pipe)));
}

}  // namespace stepscope
