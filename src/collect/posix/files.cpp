#include "collect/posix/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace stepscope::collect::posix {
namespace {

/// Places in `files` that are free again: the first one, and above it a count that makes each state of the
/// list different.
std::atomic<std::uint64_t> free_files{0};
std::atomic<std::uint32_t> made_files{1};  // 0 ends the list of free ones

void release(std::uint32_t slot) {
  if (slot < kFirstFile) return;
  const std::uint32_t at = slot - kFirstFile;
  std::atomic<std::uint32_t>& users = files[at].users;
  if (users.load(std::memory_order_acquire) != 1 && users.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  std::uint64_t first = free_files.load(std::memory_order_relaxed);
  do files[at].next_free = static_cast<std::uint32_t>(first);
  while (!free_files.compare_exchange_weak(first, ((first >> 32) + 1) << 32 | at, std::memory_order_acq_rel));
}

/// A free place; 0: there is none.
std::uint32_t take() {
  std::uint64_t first = free_files.load(std::memory_order_acquire);
  while (static_cast<std::uint32_t>(first) != 0) {
    const std::uint32_t at = static_cast<std::uint32_t>(first);
    if (free_files.compare_exchange_weak(first, ((first >> 32) + 1) << 32 | files[at].next_free,
                                         std::memory_order_acq_rel))
      return at;
  }
  if (made_files.load(std::memory_order_relaxed) >= descriptors) return 0;
  const std::uint32_t at = made_files.fetch_add(1, std::memory_order_relaxed);
  return at < descriptors ? at : 0;
}

void set(int descriptor, std::uint32_t slot) {
  const auto number = static_cast<std::uint32_t>(descriptor);
  if (number >= descriptors) return release(slot);
  std::atomic<std::uint32_t>& place = slots[number];
  for (std::uint32_t most = highest.load(std::memory_order_relaxed);
       number > most && !highest.compare_exchange_weak(most, number, std::memory_order_relaxed);) {
  }
  if (place.load(std::memory_order_relaxed) < kFirstFile)
    place.store(slot, std::memory_order_release);  // cheaper, and there is no file to release
  else
    release(place.exchange(slot, std::memory_order_acq_rel));
}

std::uint32_t new_file(Named named, Position position) {
  const std::uint32_t at = take();
  if (at == 0) return kIgnored;
  File& file = files[at];
  file.position.store(0, std::memory_order_relaxed);
  file.users.store(1, std::memory_order_relaxed);
  file.number = named.number;
  file.session = named.session;
  file.born = forks.load(std::memory_order_relaxed);
  file.asks = position != Position::counted;
  file.appends = position == Position::appended;
  return at + kFirstFile;
}

void* reserved(std::size_t bytes) {
  void* at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

}  // namespace

std::atomic<std::uint32_t>* slots = nullptr;
File* files = nullptr;
std::atomic<std::uint32_t> highest{0};

std::uint32_t descriptors = 0;

bool make_tables(bool full) {
  const std::uint32_t wanted = full ? 1U << 20 : 1U << 16;
  slots = static_cast<std::atomic<std::uint32_t>*>(reserved(wanted * sizeof *slots));
  files = static_cast<File*>(reserved(wanted * sizeof *files));
  if (slots == nullptr || files == nullptr) return false;
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
    slot = new_file({}, flags != -1 && (flags & O_APPEND) != 0 ? Position::appended : Position::asked);
  }
  if (is_open) set(descriptor, slot);
  errno = kept;
  return slot >= kFirstFile ? &files[slot - kFirstFile] : nullptr;
}

void opened(int descriptor, Named file, Position position) {
  if (descriptor >= 0) set(descriptor, file.number == 0 ? kIgnored : new_file(file, position));
}

void forget(int descriptor) { release(slots[descriptor].exchange(kUnknown, std::memory_order_acq_rel)); }

std::uint32_t next_used(std::uint32_t first) {
  const std::uint32_t most = highest.load(std::memory_order_relaxed);
  for (; first <= most && first < descriptors; ++first)
    if (slots[first].load(std::memory_order_relaxed) != kUnknown) return first;
  return UINT32_MAX;
}

void duplicated(int from, int to) {
  if (from == to || static_cast<std::uint32_t>(from) >= descriptors || mine.inside == kElsewhere) return;
  const std::uint32_t slot = slots[from].load(std::memory_order_relaxed);
  if (slot >= kFirstFile) files[slot - kFirstFile].users.fetch_add(1, std::memory_order_relaxed);
  set(to, slot);
}

std::int64_t position_of(const File& file, int descriptor) {
  if (!file.asks && file.born == forks.load(std::memory_order_relaxed))
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
