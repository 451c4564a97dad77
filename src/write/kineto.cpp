#include "write/kineto.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/gzip_member.h"
#include "record/kineto_text.h"
#include "write/output.h"

namespace stepscope::write {
namespace {

constexpr std::size_t kMember = std::size_t{4} << 20;  // bytes of text that are compressed together

/// A file's bytes where they are: pages of segments that were never claimed cost nothing.
class Mapped {
 public:
  static Result<Mapped> open(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return Error{std::strerror(errno), path};
    struct stat about{};
    void* at = MAP_FAILED;
    if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0)
      at = ::mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    if (at == MAP_FAILED) return Error{"is no recording", path};
    return Mapped(static_cast<const char*>(at), static_cast<std::size_t>(about.st_size));
  }
  Mapped(Mapped&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Mapped& operator=(Mapped&&) = delete;
  ~Mapped() {
    if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  std::span<const char> bytes() const { return bytes_; }

 private:
  Mapped(const char* at, std::size_t size) : bytes_(at, size) {}
  std::span<const char> bytes_;
};

}  // namespace

Result<KinetoWritten> kineto(const std::string& path, const std::string& target) {
  auto file = Mapped::open(path);
  if (!file) return file.error();
  auto recording = record::Recording::open(file->bytes());
  if (!recording) return Error{recording.error().message, path, recording.error().byte};
  auto output = Output::open(target);
  if (!output) return output.error();
  const bool gzip = target.ends_with(".gz");
  std::string text;
  const auto pass_on = [&] {
    output->write(gzip && !text.empty() ? gzip_member(text) : text);
    text.clear();
  };
  const record::Written written = record::write_kineto(*recording, [&](std::string_view piece) {
    text += piece;
    if (text.size() >= kMember) pass_on();
    return !output->closed_early();
  });
  pass_on();
  if (auto error = output->finish()) return *error;
  return KinetoWritten{written.events, recording->notes()};
}

}  // namespace stepscope::write
