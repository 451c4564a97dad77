#include "collect/posix/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace stepscope::collect::posix {
namespace {

constexpr std::uint32_t kMoreFiles = 1U << 14;  ///< places above those of descriptors

/// Places above the descriptors that are free again: the first one, and above it a count that makes each
/// state of the list different.
std::atomic<std::uint64_t> free_files{0};
std::atomic<std::uint32_t> made_files{0};  // above the descriptors

void release(std::uint32_t slot) {
  if (slot < kFirstFile) return;
  const std::uint32_t at = slot - kFirstFile;
  std::atomic<std::uint32_t>& users = files[at].users;
  if (users.load(std::memory_order_acquire) == 1)
    users.store(0, std::memory_order_release);
  else if (users.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  if (at < descriptors) return;
  std::uint64_t first = free_files.load(std::memory_order_relaxed);
  do files[at].next_free = static_cast<std::uint32_t>(first);
  while (!free_files.compare_exchange_weak(first, ((first >> 32) + 1) << 32 | at, std::memory_order_acq_rel));
}

/// A place for the file of a descriptor; UINT32_MAX: there is none.
std::uint32_t take(std::uint32_t descriptor) {
  if (descriptor >= descriptors) return UINT32_MAX;
  if (files[descriptor].users.load(std::memory_order_acquire) == 0) return descriptor;
  std::uint64_t first = free_files.load(std::memory_order_acquire);
  while (static_cast<std::uint32_t>(first) != 0) {
    const std::uint32_t at = static_cast<std::uint32_t>(first);
    if (free_files.compare_exchange_weak(first, ((first >> 32) + 1) << 32 | files[at].next_free,
                                         std::memory_order_acq_rel))
      return at;
  }
  if (made_files.load(std::memory_order_relaxed) >= kMoreFiles) return UINT32_MAX;
  const std::uint32_t number = made_files.fetch_add(1, std::memory_order_relaxed);
  return number < kMoreFiles ? descriptors + number : UINT32_MAX;
}

void set(int descriptor, std::uint32_t slot) {
  const auto number = static_cast<std::uint32_t>(descriptor);
  if (number >= descriptors) return release(slot);
  std::atomic<std::uint32_t>& place = files[number].slot;
  for (std::uint32_t most = highest.load(std::memory_order_relaxed);
       number > most && !highest.compare_exchange_weak(most, number, std::memory_order_relaxed);) {
  }
  if (place.load(std::memory_order_relaxed) < kFirstFile)
    place.store(slot, std::memory_order_release);  // cheaper, and there is no file to release
  else
    release(place.exchange(slot, std::memory_order_acq_rel));
}

std::uint32_t new_file(int descriptor, Named named, Position position) {
  const std::uint32_t at = take(static_cast<std::uint32_t>(descriptor));
  if (at == UINT32_MAX) return kIgnored;
  File& file = files[at];
  file.position.store(0, std::memory_order_relaxed);
  file.users.store(1, std::memory_order_relaxed);
  file.number = named.number == kNoRoom ? 0 : named.number;
  file.session = named.session;
  file.born = forks.load(std::memory_order_relaxed);
  file.asks.store(position != Position::counted, std::memory_order_relaxed);
  file.appends = position == Position::appended;
  file.hides_appending = false;
  return at + kFirstFile;
}

}  // namespace

File* files = nullptr;
std::atomic<std::uint32_t> highest{0};
std::uint32_t descriptors = 0;

bool make_tables(bool full) {
  const std::uint32_t wanted = full ? 1U << 20 : 1U << 16;
  void* at = ::mmap(nullptr, (wanted + kMoreFiles) * sizeof *files, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  files = static_cast<File*>(at);
  descriptors = wanted;
  return true;
}

File* look_up(int descriptor) {
  const int kept = errno;
  const Inside inside;
  struct stat what{};
  Path path;
  const bool is_open = ::fstat(descriptor, &what) == 0;
  std::uint32_t slot = kIgnored;
  if (is_open && (S_ISREG(what.st_mode) || S_ISDIR(what.st_mode) || S_ISBLK(what.st_mode)) &&
      path.find(descriptor)) {
    const int flags = ::fcntl(descriptor, F_GETFL);
    slot = new_file(descriptor, {},
                    flags != -1 && (flags & O_APPEND) != 0 ? Position::appended : Position::asked);
  }
  if (is_open) set(descriptor, slot);
  errno = kept;
  return slot >= kFirstFile ? &files[slot - kFirstFile] : nullptr;
}

void opened(int descriptor, Named file, Position position) {
  if (descriptor >= 0) set(descriptor, file.number == 0 ? kIgnored : new_file(descriptor, file, position));
}

void forget(int descriptor) { release(files[descriptor].slot.exchange(kUnknown, std::memory_order_acq_rel)); }

std::uint32_t next_used(std::uint32_t first) {
  const std::uint32_t most = highest.load(std::memory_order_relaxed);
  for (; first <= most && first < descriptors; ++first)
    if (files[first].slot.load(std::memory_order_relaxed) != kUnknown) return first;
  return UINT32_MAX;
}

void duplicated(int from, int to) {
  if (from == to || static_cast<std::uint32_t>(from) >= descriptors || mine.inside == kElsewhere) return;
  const std::uint32_t slot = files[from].slot.load(std::memory_order_relaxed);
  if (slot >= kFirstFile) files[slot - kFirstFile].users.fetch_add(1, std::memory_order_relaxed);
  set(to, slot);
}

std::int64_t position_of(const File& file, int descriptor) {
  if (!file.asks.load(std::memory_order_relaxed) && file.born == forks.load(std::memory_order_relaxed))
    return file.position.load(std::memory_order_relaxed);
  const int kept = errno;
  const Inside inside;
  const off_t now = ::lseek(descriptor, 0, SEEK_CUR);
  errno = kept;
  return now;
}

std::uint32_t number_of(Thread& thread, File& file, int descriptor) {
  const std::uint32_t now = session.load(std::memory_order_relaxed);
  if (file.number != 0 && file.session == now) [[likely]]
    return file.number;
  Path path;
  if (!path.find(descriptor)) return 0;
  file.number = number_of(thread, path.text(), path.length());
  file.session = now;
  return file.number;
}

Named name_again(File& file, int descriptor) {
  const int kept = errno;
  const Inside inside;
  Named found;
  if (Thread* thread = place())
    found = {number_of(*thread, file, descriptor), session.load(std::memory_order_relaxed)};
  errno = kept;
  return found;
}

}  // namespace stepscope::collect::posix
