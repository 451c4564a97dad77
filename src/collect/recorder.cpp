#include "collect/recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <new>
#include <utility>

#include "collect/bus_errors.h"
#include "collect/segments.h"

namespace stepscope::collect {
namespace {

using record::Header;
using record::SegmentHeader;
using record::Text;

std::mutex control;                      // held by open, start, stop and close
Recorder* opened = nullptr;              // guarded by `control`
std::atomic<Recorder*> newest{nullptr};  // written under `control`
std::uint64_t sessions = 0;              // guarded by `control`
int descriptor = -1;                     // guarded by `control`
bool is_prepared = false;                // for forks and bus errors; guarded by `control`
Thread* left = nullptr;                  // places of threads that have ended; guarded by `claims`
Thread* places = nullptr;                // all of them; guarded by `claims`
pthread_key_t at_thread_end;

void leave(void* place) {
  stepscope_this_thread = nullptr;
  auto* thread = static_cast<Thread*>(place);
  const Claim claim;
  if (thread->recorder.load(std::memory_order_relaxed) != nullptr) leave_segment(*thread);
  thread->recorder.store(nullptr, std::memory_order_release);
  thread->next_left = std::exchange(left, thread);
}

const record::Clock kClock = best_clock();
const record::ClockPair kLoaded = clock_pair(kClock);
const bool kKeyMade = ::pthread_key_create(&at_thread_end, leave) == 0;

/// So that a fork never copies a recording that is being changed.
void hold_still() {
  control.lock();
  claims.lock();
}

void go_on() {
  claims.unlock();
  control.unlock();
}

/// Drops the recording in a forked child, which would write into its parent's segments.
void forget_in_child() {
  stepscope_recorder.store(nullptr, std::memory_order_release);
  if (opened != nullptr) opened->is_closed = true;  // here; the parent goes on
  opened = nullptr;
  if (descriptor >= 0) close_file(descriptor);
  descriptor = -1;
  stepscope_this_thread = nullptr;
  left = nullptr;
  forget_segments();
  go_on();
}

/// Zeroed memory that is not the program's heap: a signal handler may interrupt malloc and come here. Null if
/// there is none.
void* pages(std::size_t bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

Thread* made_place() {
  void* memory = pages(sizeof(Thread));
  return memory == nullptr ? nullptr : new (memory) Thread;
}

Thread* new_place() {
  const Claim claim;
  if (left != nullptr) return std::exchange(left, left->next_left);
  Thread* place = made_place();
  if (place != nullptr) place->next_place = std::exchange(places, place);
  return place;
}

/// Unmaps closed recordings, except those that a thread may still be writing into: the last one of each
/// thread. `claims` must be held.
void unmap_closed() {
  for (Recorder* one = newest; one != nullptr; one = one->before) {
    if (one->scratch == 0) continue;
    const Thread* thread = places;
    while (thread != nullptr && thread->recorder.load(std::memory_order_acquire) != one)
      thread = thread->next_place;
    if (thread == nullptr) ::munmap(one->header, std::exchange(one->scratch, 0));
  }
}

std::uint64_t hash_of(const char* bytes, std::uint32_t length, record::Type type) {
  std::uint64_t hash = 0xCBF29CE484222325ULL ^ static_cast<std::uint64_t>(type);
  for (; length >= 8; bytes += 8, length -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, 8);
    hash = (hash ^ word) * 0x9FB21C651E98DF25ULL;
    hash ^= hash >> 32;
  }
  std::uint64_t word = length;
  std::memcpy(&word, bytes, length);
  hash = (hash ^ word ^ (std::uint64_t{length} << 56)) * 0x9FB21C651E98DF25ULL;
  return hash ^ (hash >> 29);
}

/// Allocates the header's disk space and maps the file with room to grow: units are allocated as they are
/// claimed. 0, or an errno.
int map_file(int file, std::size_t bytes, void*& mapped) {
  if (!may_grow_to(record::kHeaderBytes)) return EFBIG;
  if (const int error = ::posix_fallocate(file, 0, record::kHeaderBytes); error != 0) return error;
  mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) return errno;
  // The first pages come one by one: else the first access waits until the file system has read ahead, 2 ms
  // for 8 MiB.
  (void)::madvise(mapped, record::kHeaderBytes + record::kUnitBytes, MADV_RANDOM);
  return 0;
}

void fill_header(Header& header, std::uint32_t limit, std::uint32_t flags) {
  std::memcpy(header.magic, record::kMagic, sizeof header.magic);
  header.version = record::kVersion;
  header.header_bytes = record::kHeaderBytes;
  header.unit_bytes = record::kUnitBytes;
  header.unit_limit = limit;
  header.pid = static_cast<std::uint32_t>(::getpid());
  header.clock = kClock;
  header.loaded = kLoaded;
  header.flags = flags;
  ::gethostname(header.host, sizeof header.host - 1);
}

/// A place for metadata in a recording that keeps the newest events.
Thread* place_for_notes(Recorder& recorder) {
  Thread* place = made_place();
  if (place != nullptr) place->recorder = &recorder;
  return place;
}

/// Records into `file`, which is closed if that fails, and also if `path` is given: it is opened again there
/// when it is needed. 0, or an errno. `control` must be held.
int open_recording(int file, const char* path, std::uint32_t megabytes, std::uint32_t flags) {
  if (!is_prepared) {
    ::pthread_atfork(hold_still, go_on, forget_in_child);
    survive_bus_errors(newest);
  }
  is_prepared = true;
  void* memory = pages(sizeof(Recorder) + (path == nullptr ? 0 : std::strlen(path) + 1));
  void* mapped = nullptr;
  const std::uint32_t units = megabytes * kSegmentUnits;
  int error = memory == nullptr ? ENOMEM : map_file(file, bytes_of(units), mapped);
  const bool keeps_newest = (flags & record::kNewest) != 0;
  const std::scoped_lock lock(claims);
  unmap_closed();
  if (error == 0 && !prepare_segments(keeps_newest, units)) {
    ::munmap(mapped, bytes_of(units));
    error = ENOMEM;
  }
  if (error != 0) {
    if (memory != nullptr) ::munmap(memory, sizeof(Recorder));
    close_file(file);
    return error;
  }
  Header& header = *static_cast<Header*>(mapped);
  fill_header(header, units, flags);
  ino_t inode = 0;
  if (path != nullptr) {
    struct stat now{};
    inode = ::fstat(file, &now) == 0 ? now.st_ino : 0;
    close_file(std::exchange(file, -1));
    path = std::strcpy(static_cast<char*>(memory) + sizeof(Recorder), path);
  }
  opened = new (memory) Recorder{&header,
                                 static_cast<char*>(mapped) + record::kHeaderBytes,
                                 header.clock,
                                 flags,
                                 file,
                                 path,
                                 inode,
                                 reserved_of(units),
                                 bytes_of(units),
                                 ++sessions,
                                 false,
                                 0,
                                 nullptr,
                                 newest};
  if (keeps_newest) opened->notes = place_for_notes(*opened);
  newest = opened;
  descriptor = file;
  return 0;
}

/// The calling thread's place, with room for one event; null: nothing is recorded, or no room is left.
Thread* place_in(Recorder* recorder) {
  Thread* thread = recorder == nullptr ? nullptr : thread_of(*recorder);
  return thread != nullptr && has_room(*thread) ? thread : nullptr;
}

}  // namespace

extern "C" {

std::atomic<Recorder*> stepscope_recorder{nullptr};
constinit thread_local Thread* stepscope_this_thread = nullptr;

int stepscope_open(const char* path, std::uint32_t megabytes, std::uint32_t flags) {
  const std::scoped_lock lock(control);
  if (opened != nullptr) return EBUSY;
  const int file = open_file(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return errno;
  const int error = open_recording(file, (flags & record::kIo) != 0 ? path : nullptr, megabytes, flags);
  if (error != 0) ::unlink(path);
  return error;
}

int stepscope_open_file(int file, std::uint32_t megabytes, std::uint32_t flags) {
  const std::scoped_lock lock(control);
  if (opened != nullptr) return EBUSY;
  const int own = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
  return own < 0 ? errno : open_recording(own, nullptr, megabytes, flags);
}

int stepscope_worker_of(std::uint32_t parent, std::uint32_t worker) {
  const std::scoped_lock lock(control);
  if (opened == nullptr) return ENXIO;
  opened->header->parent = parent;
  opened->header->worker = worker;
  return 0;
}

int stepscope_start() {
  const std::scoped_lock lock(control);
  if (opened == nullptr) return ENXIO;
  if (opened->header->begin.tick == 0) opened->header->begin = clock_pair(opened->clock);
  opened->header->end = {};
  opened->session.store(++sessions, std::memory_order_relaxed);
  stepscope_recorder.store(opened, std::memory_order_release);
  return 0;
}

int stepscope_stop() {
  const std::scoped_lock lock(control);
  if (opened == nullptr) return ENXIO;
  stepscope_recorder.store(nullptr, std::memory_order_release);
  opened->header->end = clock_pair(opened->clock);
  return 0;
}

std::uint64_t stepscope_close() {
  const std::scoped_lock lock(control);
  if (opened == nullptr) return 0;
  stepscope_recorder.store(nullptr, std::memory_order_release);
  const std::scoped_lock ends(claims);
  opened->is_closed = true;
  forget_segments();
  Header& header = *opened->header;
  const std::uint64_t dropped = header.dropped.load(std::memory_order_relaxed);
  const std::uint32_t limit = header.unit_limit;
  const std::uint32_t claimed = std::min(header.claimed.load(std::memory_order_relaxed), limit);
  const std::size_t used = bytes_of(claimed);
  // A thread may still be about to write into its segment: from here on such writes go to scratch memory.
  (void)::mmap(&header, used, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
               -1, 0);
  opened->scratch = used;
  if (Thread* notes = std::exchange(opened->notes, nullptr)) ::munmap(notes, sizeof(Thread));
  opened->bytes.store(0, std::memory_order_release);  // the rest of its addresses may become another's
  if (claimed < limit) ::munmap(reinterpret_cast<char*>(&header) + used, bytes_of(limit) - used);
  {
    const OpenFile file(*opened);
    if (may_grow_to(record::kHeaderBytes) &&
        write_file(file.descriptor(), &claimed, sizeof claimed, offsetof(Header, claimed)) == sizeof claimed)
      (void)!::ftruncate(file.descriptor(), static_cast<off_t>(used));
  }
  if (descriptor >= 0) close_file(descriptor);
  descriptor = -1;
  opened = nullptr;
  return dropped;
}

Thread* stepscope_thread(Recorder* recorder) {
  Thread* thread = stepscope_this_thread;
  if (thread == nullptr) {
    thread = new_place();
    if (thread == nullptr) return nullptr;
    stepscope_this_thread = thread;
    thread->segments = 0;  // left over from the place's previous thread
    thread->torch_thread = 0;
    if (kKeyMade) ::pthread_setspecific(at_thread_end, thread);
  }
  if (thread->recorder.load(std::memory_order_relaxed) != recorder) {
    thread->recorder.store(recorder, std::memory_order_release);
    thread->segment = nullptr;
    thread->used = thread->end = thread->mapped = thread->segments = 0;
  }
  thread->session = recorder->session.load(std::memory_order_relaxed);
  thread->depth = thread->python_depth = 0;
  thread->python_is_known = false;
  return thread;
}

bool stepscope_more_room(Thread* thread, std::uint32_t bytes) {
  return more_room(*thread, bytes, thread->recorder.load(std::memory_order_relaxed)->reserved);
}

void stepscope_tell_clock(Thread* thread) {
  auto& now = next<record::ClockRecord>(*thread, record::Type::clock);
  now.pair = clock_pair(thread->recorder.load(std::memory_order_relaxed)->clock);
  thread->clock = now.pair.tick;
  commit(*thread, now);
}

const Text* stepscope_text(Thread* thread, record::Type type, const char* bytes, std::uint32_t length) {
  if (length > kMaxText) length = kMaxText;
  const std::uint64_t key = hash_of(bytes, length, type);
  std::uint32_t at = mixed(key);
  Known& known = thread->known;
  for (int tries = 0; tries < 8; ++tries, at = (at + 1) % Known::kSlots) {
    const Known::Slot& slot = known.slots[at];
    if (slot.text == nullptr) break;
    if (slot.key == key && slot.text->length == length && std::memcmp(slot.text->bytes, bytes, length) == 0)
      return slot.text;
  }
  auto* text = reinterpret_cast<Text*>(thread->segment + thread->used);
  const std::uint32_t size = (record::kTextBytes + length + 1 + 7) & ~7U;
  text->type = type;
  text->units = static_cast<std::uint16_t>(size / 8);
  text->value = thread->next_text++;
  text->length = length;
  std::memcpy(text->bytes, bytes, length);
  text->bytes[length] = '\0';
  thread->used += size;
  known.slots[at] = {key, text};
  return text;
}

void stepscope_counter(const char* name, std::uint32_t length, double value) {
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  Thread* thread = place_in(recorder);
  if (thread == nullptr) return;
  const record::Text* text = stepscope_text(thread, record::Type::text, name, length);
  auto& counter = next<record::Counter>(*thread, record::Type::counter);
  counter.value = text->value;
  counter.tick = ticks(recorder->clock);
  counter.number = value;
  commit(*thread, counter);
}

void stepscope_memory(std::uint64_t address, std::int64_t bytes, int device) {
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  Thread* thread = place_in(recorder);
  if (thread == nullptr) return;
  auto& memory = next<record::Memory>(*thread, record::Type::memory);
  memory.tick = ticks(recorder->clock);
  memory.address = address;
  memory.bytes = bytes;
  memory.value = device < 0 ? 0 : 1U + (static_cast<std::uint32_t>(device + 1) << 8U);
  commit(*thread, memory);
}

void stepscope_flow(std::uint64_t id, int begins) {
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  Thread* thread = place_in(recorder);
  if (thread == nullptr) return;
  auto& flow = next<record::Flow>(*thread, record::Type::flow);
  flow.value = begins != 0;
  flow.tick = ticks(recorder->clock);
  flow.id = id;
  commit(*thread, flow);
}

int stepscope_metadata(const char* text, std::uint32_t length) {
  const std::scoped_lock lock(control);
  if (opened == nullptr) return ENXIO;
  Thread* thread = opened->notes != nullptr ? opened->notes : thread_of(*opened);
  const std::uint32_t size = (record::kTextBytes + length + 1 + 7) & ~7U;
  if (thread == nullptr || length > record::kMaxMetadata) return ENOSPC;
  if (thread->used + size + kMargin > thread->mapped && !more_room(*thread, size + kMargin, 0)) return ENOSPC;
  auto* told = reinterpret_cast<Text*>(thread->segment + thread->used);
  told->type = record::Type::metadata;
  told->units = static_cast<std::uint16_t>(size / 8);
  told->value = 0;
  told->length = length;
  std::memcpy(told->bytes, text, length);
  told->bytes[length] = '\0';
  thread->used += size;
  commit(*thread);
  return 0;
}
}

}  // namespace stepscope::collect
