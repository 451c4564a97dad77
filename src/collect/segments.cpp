#include "collect/segments.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace stepscope::collect {
namespace {

using record::Header;
using record::SegmentHeader;

constexpr std::uint32_t kPage = 4096;
constexpr std::uint32_t kAtOnce = 1U << 17;
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/// The end of a segment that its thread does not fill: room for another thread.
struct Rest {
  char* segment = nullptr;  // null: none
  std::uint32_t used = 0, end = 0;
  std::uint32_t bytes() const { return end - used; }
};
Rest rests[64];  // of the open recording, the longest; guarded by `claims`

/// A segment that nobody fills any more.
struct Old {
  char* segment;
  std::uint64_t until;  ///< tick after its last event
};

/// In a recording that keeps the newest events: the segments that new ones may replace, oldest first.
struct {
  Old* ring = nullptr;  // null: nothing is replaced
  std::uint32_t size = 0, first = 0, count = 0;
} olds;  // of the open recording; guarded by `claims`

/// Texts of open ops while their thread goes to another segment; guarded by `claims`.
alignas(8) char carried[kMargin];

/// What a new segment holds before its first event.
constexpr std::uint32_t kBegun = sizeof(SegmentHeader) + sizeof(record::ClockRecord);

void begin_segment(Thread& thread, char* at, std::uint32_t bytes) {
  auto* segment = new (at) SegmentHeader{};
  segment->bytes.store(bytes, std::memory_order_relaxed);
  segment->thread = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  segment->torch_thread = thread.torch_thread;
  ::prctl(PR_GET_NAME, segment->thread_name);
  thread.segment = at;
  thread.used = sizeof(SegmentHeader);
  thread.end = bytes;
  thread.mapped = 0;
  thread.next_text = 1;
  std::memset(static_cast<void*>(&thread.known), 0, sizeof thread.known);
}

/// Begins a segment in the end of another. False if none is long enough.
bool take_rest(Thread& thread, std::uint32_t bytes) {
  Rest& longest = *std::ranges::max_element(rests, {}, &Rest::bytes);
  if (longest.segment == nullptr || longest.bytes() < kBegun + bytes) return false;
  const Rest rest = std::exchange(longest, {});
  begin_segment(thread, rest.segment + rest.used, rest.bytes());
  reinterpret_cast<SegmentHeader*>(rest.segment)->bytes.store(rest.used, std::memory_order_release);
  return true;
}

/// Events before that tick are missing.
void keep_from(Header& header, std::uint64_t tick) {
  header.kept_from.store(std::max(header.kept_from.load(std::memory_order_relaxed), tick),
                         std::memory_order_relaxed);
}

/// Replaces the oldest segment. False if there is none, or if it is too short.
bool take_oldest(Thread& thread, std::uint32_t bytes) {
  if (olds.count == 0) return false;
  const Old oldest = olds.ring[olds.first];
  const std::uint32_t room = reinterpret_cast<SegmentHeader*>(oldest.segment)->bytes;
  if (room < kBegun + bytes) return false;
  olds.first = (olds.first + 1) % olds.size;
  --olds.count;
  keep_from(thread.header(), oldest.until);
  begin_segment(thread, oldest.segment, room);
  return true;
}

/// Drops the open ops from number `from` on.
void drop_open(Thread& thread, std::uint32_t from) {
  for (std::uint32_t i = from; i < thread.depth; ++i)
    thread.frames[i].name = thread.frames[i].signature = nullptr;
  thread.header().dropped.fetch_add(thread.depth - from, std::memory_order_relaxed);
  thread.depth = from;
}

/// Copies the texts of open ops out of the thread's segment, which may be replaced. Ops are dropped if their
/// texts are too long.
void carry_texts(Thread& thread) {
  std::size_t used = 0;
  const auto carry = [&](const record::Text*& text) {
    if (text == nullptr) return true;
    const std::size_t bytes = text->units * std::size_t{8};
    if (used + bytes > sizeof carried) return false;
    std::memcpy(carried + used, static_cast<const void*>(text), bytes);
    text = reinterpret_cast<const record::Text*>(carried + used);
    used += bytes;
    return true;
  };
  std::uint32_t depth = 0;
  while (depth < thread.depth && carry(thread.frames[depth].name) && carry(thread.frames[depth].signature))
    ++depth;
  drop_open(thread, depth);
}

void put_down_texts(Thread& thread) {
  for (std::uint32_t i = 0; i < thread.depth; ++i)
    for (const record::Text** text : {&thread.frames[i].name, &thread.frames[i].signature})
      if (*text != nullptr) *text = stepscope_text(&thread, (*text)->type, (*text)->bytes, (*text)->length);
}

record::Limit limit_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return record::Limit::disk;
    case EFBIG:
      return record::Limit::file_size;
    case EBADF:
      return record::Limit::access;
    default:
      return record::Limit::recording;
  }
}

/// Allocates disk space for units: else a full disk would kill the program (SIGBUS) when it touches their
/// pages. 0, or an errno.
int allocate(const Recorder& recorder, std::uint32_t first, std::uint32_t units) {
  if (!may_grow_to(bytes_of(first + units))) return EFBIG;
  const OpenFile file(recorder);
  int error = 0;
  do
    error = ::posix_fallocate(file.descriptor(), static_cast<off_t>(bytes_of(first)),
                              static_cast<off_t>(units) * record::kUnitBytes);
  while (error == EINTR);
  return error;
}

/// Begins a segment in new units, but in none of the last `reserved`. A thread's segments grow: most threads
/// of a server record little, and each new segment repeats names.
bool claim_units(Thread& thread, std::uint32_t bytes, std::uint32_t reserved) {
  const Recorder& recorder = *thread.recorder.load(std::memory_order_relaxed);
  Header& header = *recorder.header;
  const std::uint32_t first = header.claimed.load(std::memory_order_relaxed);
  const std::uint32_t most = header.unit_limit - reserved;
  const std::uint32_t needed = (kBegun + bytes + record::kUnitBytes - 1) / record::kUnitBytes;
  if (first >= most || most - first < needed) return false;
  std::uint32_t units = 1U << 2 * std::min(thread.segments, 2U);  // 64 KiB, 256 KiB, then 1 MiB
  units = std::min(std::max(units, needed), most - first);
  int error = allocate(recorder, first, units);
  if (error != 0 && units > needed) error = allocate(recorder, first, units = needed);
  if (error != 0) header.limit.store(limit_of(error), std::memory_order_relaxed);
  if (error != 0) return false;
  begin_segment(thread, recorder.segments + std::size_t{first} * record::kUnitBytes,
                units * record::kUnitBytes);
  header.claimed.store(first + units, std::memory_order_release);
  return true;
}

/// Begins a new segment with room for an event. False: there is none; one record is counted as dropped.
bool next_segment(Thread& thread, std::uint32_t bytes, std::uint32_t reserved) {
  const Claim claim;
  const Recorder& recorder = *thread.recorder.load(std::memory_order_relaxed);
  if (recorder.is_closed) return false;
  const bool replaces = olds.ring != nullptr;
  if (replaces) carry_texts(thread);
  leave_segment(thread);
  // A new thread goes on where an ended one stopped; others do so only when nothing else is left.
  const bool is_new = thread.segments == 0;
  const std::uint32_t room = replaces ? bytes + sizeof carried : bytes;
  if (!(is_new && take_rest(thread, room)) && !claim_units(thread, room, reserved) &&
      !take_rest(thread, room) && !take_oldest(thread, room)) {
    Header& header = *recorder.header;
    header.dropped.fetch_add(1, std::memory_order_relaxed);
    if (replaces) drop_open(thread, 0);
    if (replaces)
      keep_from(header, ticks(recorder.clock));
    else if (bytes <= kMargin && header.full_at.load(std::memory_order_relaxed) == 0)
      header.full_at.store(ticks(recorder.clock), std::memory_order_relaxed);
    return false;
  }
  ++thread.segments;
  stepscope_tell_clock(&thread);
  if (replaces) put_down_texts(thread);
  return true;
}

void count_dropped(Thread& thread) {
  const Claim claim;
  if (!thread.recorder.load(std::memory_order_relaxed)->is_closed)
    thread.header().dropped.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

OpenFile::OpenFile(const Recorder& recorder) : file_(recorder.file), is_own_(recorder.path != nullptr) {
  if (!is_own_) return;
  file_ = open_file(recorder.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  struct stat now{};
  if (file_ < 0 || (::fstat(file_, &now) == 0 && now.st_ino == recorder.inode)) return;
  close_file(file_);
  file_ = -1;
}

OpenFile::~OpenFile() {
  if (is_own_ && file_ >= 0) close_file(file_);
}

std::mutex claims;

bool may_grow_to(std::size_t bytes) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

std::size_t bytes_of(std::uint32_t units) {
  return record::kHeaderBytes + std::size_t{units} * record::kUnitBytes;
}

std::uint32_t reserved_of(std::uint32_t units) {
  constexpr std::uint32_t kLarge = 16 * kSegmentUnits;
  return units < kLarge ? 0 : kSegmentUnits;
}

void leave_segment(Thread& thread) {
  constexpr std::uint32_t kAlignment = record::kSegmentAlignment;
  const Recorder& recorder = *thread.recorder.load(std::memory_order_relaxed);
  Rest rest{thread.segment, (thread.used + kAlignment - 1) / kAlignment * kAlignment, thread.end};
  thread.segment = nullptr;
  thread.used = thread.end = thread.mapped = 0;
  if (rest.segment == nullptr || recorder.is_closed) return;
  if (olds.ring != nullptr) {
    if (&thread != recorder.notes && olds.count < olds.size)
      olds.ring[(olds.first + olds.count++) % olds.size] = {rest.segment, ticks(recorder.clock)};
    return;
  }
  if (rest.used + kBegun + kMargin > rest.end) return;
  Rest& shortest = *std::ranges::min_element(rests, {}, &Rest::bytes);
  if (shortest.bytes() < rest.bytes()) shortest = rest;
}

bool prepare_segments(bool keeps_newest, std::uint32_t units) {
  if (!keeps_newest) return true;
  olds = {static_cast<Old*>(std::calloc(units, sizeof(Old))), units, 0, 0};
  return olds.ring != nullptr;
}

void forget_segments() {
  std::ranges::fill(rests, Rest{});
  std::free(std::exchange(olds, {}).ring);
}

bool more_room(Thread& thread, std::uint32_t bytes, std::uint32_t reserved) {
  if (bytes > record::kSegmentBytes - kPage) {  // more than a segment can hold
    count_dropped(thread);
    return false;
  }
  if (thread.used + bytes > thread.end && !next_segment(thread, bytes, reserved)) return false;
  // Mapping several pages at once is cheaper than a fault for each. Kernels before 5.14 cannot: they fault.
  const std::uint32_t from = std::max(thread.mapped, thread.used);
  char* page = thread.segment + from;
  page -= reinterpret_cast<std::uintptr_t>(page) % kPage;
  thread.mapped = std::min(thread.used + bytes + kAtOnce, thread.end);
  if (::madvise(page, static_cast<std::size_t>(thread.segment + thread.mapped - page), MADV_POPULATE_WRITE) ==
          0 ||
      errno != EFAULT)
    return true;
  // The file was cut off, or its disk failed.
  thread.segment = nullptr;
  thread.used = thread.end = thread.mapped = 0;
  count_dropped(thread);
  return false;
}

}  // namespace stepscope::collect
