#include "collect/posix/paths.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "collect/posix/process.h"
#include "collect/undisturbed.h"

namespace stepscope::collect::posix {
namespace {

/// The current folder, asked once for each change. Readers copy it and look whether it has changed meanwhile.
struct {
  std::atomic<std::uint32_t> changes{1}, writers{0};
  std::atomic<std::uint32_t> of{0};  ///< `changes` when it was asked
  std::uint32_t length = 0;
  char text[PATH_MAX];
} current;

/// 0: not known. `out` has PATH_MAX bytes.
std::uint32_t current_folder(char* out) {
  const std::uint32_t change = current.changes.load(std::memory_order_acquire);
  if (current.of.load(std::memory_order_acquire) == change) {
    const std::uint32_t length = current.length;
    if (length < PATH_MAX) {
      std::memcpy(out, current.text, length);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (current.of.load(std::memory_order_relaxed) == change) return length;
    }
  }
  if (::getcwd(out, PATH_MAX) == nullptr || out[0] != '/') return 0;
  const auto length = static_cast<std::uint32_t>(std::strlen(out));
  const Undisturbed undisturbed;
  if (current.writers.exchange(1, std::memory_order_acquire) == 0) {
    current.of.store(0, std::memory_order_release);
    std::memcpy(current.text, out, length);
    current.length = length;
    current.of.store(change, std::memory_order_release);
    current.writers.store(0, std::memory_order_release);
  }
  return length;
}

/// Reads /proc/self/fd/NUMBER. 0: not a file with a path.
std::uint32_t path_of(int descriptor, char* out) {
  constexpr std::string_view kFolder = "/proc/self/fd/";
  char link[32];
  std::memcpy(link, kFolder.data(), kFolder.size());
  *std::to_chars(link + kFolder.size(), link + sizeof link - 1, descriptor).ptr = '\0';
  const ssize_t bytes = ::readlink(link, out, PATH_MAX - 1);
  if (bytes <= 0 || out[0] != '/') return 0;
  const std::string_view name(out, static_cast<std::size_t>(bytes));
  if (name.starts_with("/memfd:")) return 0;
  constexpr std::string_view kGone = " (deleted)";
  struct stat what{};
  const bool is_gone = name.ends_with(kGone) && ::fstat(descriptor, &what) == 0 && what.st_nlink == 0;
  return static_cast<std::uint32_t>(name.size() - (is_gone ? kGone.size() : 0));
}

/// Takes out ".", ".." and doubled slashes of an absolute path. Symbolic links before ".." are not followed.
std::uint32_t normalize(char* text, std::uint32_t length) {
  std::uint32_t out = 0;
  for (std::uint32_t at = 0; at < length;) {
    while (at < length && text[at] == '/') ++at;
    std::uint32_t end = at;
    while (end < length && text[end] != '/') ++end;
    const std::string_view part(text + at, end - at);
    if (part == "..") {
      while (out > 0 && text[--out] != '/') {
      }
    } else if (!part.empty() && part != ".") {
      text[out++] = '/';
      std::memmove(text + out, text + at, part.size());
      out += static_cast<std::uint32_t>(part.size());
    }
    at = end;
  }
  if (out == 0) text[out++] = '/';
  text[out] = '\0';
  return out;
}

struct Names {
  static constexpr std::uint32_t kSlots = 4096;
  std::uint32_t session;
  struct {
    std::uint64_t hash;
    std::uint32_t number;
  } slots[kSlots];
};

/// The names that this thread has told lately. A place of the recorder has no Python here, and keeps them.
Names* names_of(Thread& thread) {
  if (thread.python == nullptr) {
    void* at = ::mmap(nullptr, sizeof(Names), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return nullptr;
    thread.python = at;
  }
  auto* names = static_cast<Names*>(thread.python);
  const std::uint32_t now = session.load(std::memory_order_relaxed);
  if (names->session != now) std::memset(static_cast<void*>(names), 0, sizeof *names);
  names->session = now;
  return names;
}

std::uint64_t hash_of(const char* text, std::uint32_t length) {
  std::uint64_t hash = length;
  for (; length >= 8; text += 8, length -= 8) {
    hash = (hash ^ word_at(text)) * 0x9FB21C651E98DF25ULL;
    hash ^= hash >> 32;
  }
  std::uint64_t word = 0;
  std::memcpy(&word, text, length);
  hash = (hash ^ word) * 0x9FB21C651E98DF25ULL;
  return hash ^ (hash >> 29);
}

std::atomic<std::uint32_t> last_number{0};

}  // namespace

bool Path::find(int directory, const char* path) {
  const std::size_t length = std::strlen(path);
  if (length == 0 || length >= PATH_MAX) return false;
  char* out = scratch();
  if (out == nullptr) return false;
  if (path[0] == '/') {
    std::memcpy(out, path, length);
    return settle(out, normalize(out, static_cast<std::uint32_t>(length)));
  }
  const std::uint32_t base = directory == AT_FDCWD ? current_folder(out) : path_of(directory, out);
  if (base == 0) return false;
  out[base] = '/';
  std::memcpy(out + base + 1, path, length);
  return settle(out, normalize(out, base + 1 + static_cast<std::uint32_t>(length)));
}

bool Path::find(int descriptor) {
  char* out = scratch();
  const std::uint32_t length = out == nullptr ? 0 : path_of(descriptor, out);
  if (length == 0) return false;
  out[length] = '\0';
  return settle(out, length);
}

bool Path::settle(const char* text, std::uint32_t length) {
  if (length >= PATH_MAX) return false;
  text_ = text;
  length_ = length;
  return is_taken({text_, length_});
}

Named named(int directory, const char* path, std::size_t look) {
  if (look >= PATH_MAX || (look != 0 && !is_taken({path, look}))) return {};
  const int kept = errno;
  const Inside inside;
  Path found(path, static_cast<std::uint32_t>(look));
  Named file;
  if (look != 0 || found.find(directory, path)) {
    Thread* thread = place();
    file = thread == nullptr ? Named{kNoRoom, 0}
                             : Named{number_of(*thread, found.text(), found.length()),
                                     session.load(std::memory_order_relaxed)};
  }
  errno = kept;
  return file;
}

Named named(int directory, const char* path) { return named(directory, path, look_at(path)); }

Named named_text(const char* text, std::uint32_t length) {
  Thread* thread = place();
  if (thread == nullptr) return {};
  return {number_of(*thread, text, length), session.load(std::memory_order_relaxed)};
}

std::uint32_t number_of(Thread& thread, const char* path, std::uint32_t length) {
  const std::uint64_t hash = hash_of(path, length);
  Names* names = names_of(thread);
  auto* slot = names == nullptr ? nullptr : &names->slots[hash % Names::kSlots];
  if (slot != nullptr && slot->number != 0 && slot->hash == hash) return slot->number;
  const std::uint32_t number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  auto& text = *reinterpret_cast<record::Text*>(thread.segment + thread.used);
  const std::uint32_t size = (record::kTextBytes + length + 1 + 7) & ~7U;
  text.type = record::Type::io_path;
  text.units = static_cast<std::uint16_t>(size / 8);
  text.value = number;
  text.length = length;
  std::memcpy(text.bytes, path, length);
  text.bytes[length] = '\0';
  thread.used += size;
  commit(thread);
  if (slot != nullptr) *slot = {hash, number};
  return number;
}

void forget_folder() { current.changes.fetch_add(1, std::memory_order_acq_rel); }

}  // namespace stepscope::collect::posix
