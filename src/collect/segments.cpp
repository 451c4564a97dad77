#include "collect/segments.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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

/// Allocates disk space for units: else a full disk would kill the program (SIGBUS) when it touches their
/// pages. 0, or an errno.
int allocate(const Recorder& recorder, std::uint32_t first, std::uint32_t units) {
  int error = 0;
  do
    error = ::posix_fallocate(recorder.file, static_cast<off_t>(bytes_of(first)),
                              static_cast<off_t>(units) * record::kUnitBytes);
  while (error == EINTR);
  return error;
}

/// Begins a segment in new units, but in none of the last `reserved`. A thread's segments grow: most threads
/// of a server record little, and each new segment repeats names.
bool claim_units(Thread& thread, std::uint32_t bytes, std::uint32_t reserved) {
  const Recorder& recorder = *thread.recorder;
  Header& header = *recorder.header;
  const std::uint32_t first = header.claimed.load(std::memory_order_relaxed);
  const std::uint32_t most = header.unit_limit - reserved;
  const std::uint32_t needed = (kBegun + bytes + record::kUnitBytes - 1) / record::kUnitBytes;
  if (first >= most || most - first < needed) return false;
  std::uint32_t units = 1U << 2 * std::min(thread.segments, 2U);  // 64 KiB, 256 KiB, then 1 MiB
  units = std::min(std::max(units, needed), most - first);
  int error = allocate(recorder, first, units);
  if (error != 0 && units > needed) error = allocate(recorder, first, units = needed);
  if (error == ENOSPC || error == EDQUOT) header.disk_was_full.store(1, std::memory_order_relaxed);
  if (error != 0) return false;
  begin_segment(thread, recorder.segments + std::size_t{first} * record::kUnitBytes,
                units * record::kUnitBytes);
  header.claimed.store(first + units, std::memory_order_release);
  return true;
}

/// Begins a new segment with room for an event. False: there is none; one record is counted as dropped.
bool next_segment(Thread& thread, std::uint32_t bytes, std::uint32_t reserved) {
  const std::scoped_lock lock(claims);
  if (thread.recorder->is_closed) return false;
  leave_segment(thread);
  // A new thread goes on where an ended one stopped; others do so only when nothing else is left.
  const bool is_new = thread.segments == 0;
  if (!(is_new && take_rest(thread, bytes)) && !claim_units(thread, bytes, reserved) &&
      !take_rest(thread, bytes)) {
    Header& header = *thread.recorder->header;
    header.dropped.fetch_add(1, std::memory_order_relaxed);
    if (bytes <= kMargin && header.full_at.load(std::memory_order_relaxed) == 0)
      header.full_at.store(ticks(thread.recorder->clock), std::memory_order_relaxed);
    return false;
  }
  ++thread.segments;
  stepscope_tell_clock(&thread);
  return true;
}

}  // namespace

std::mutex claims;

std::size_t bytes_of(std::uint32_t units) {
  return record::kHeaderBytes + std::size_t{units} * record::kUnitBytes;
}

std::uint32_t reserved_of(std::uint32_t units) {
  constexpr std::uint32_t kLarge = 16 * kSegmentUnits;
  return units < kLarge ? 0 : kSegmentUnits;
}

void leave_segment(Thread& thread) {
  constexpr std::uint32_t kAlignment = record::kSegmentAlignment;
  Rest rest{thread.segment, (thread.used + kAlignment - 1) / kAlignment * kAlignment, thread.end};
  thread.segment = nullptr;
  thread.used = thread.end = thread.mapped = 0;
  if (rest.segment == nullptr || thread.recorder->is_closed || rest.used + kBegun + kMargin > rest.end)
    return;
  Rest& shortest = *std::ranges::min_element(rests, {}, &Rest::bytes);
  if (shortest.bytes() < rest.bytes()) shortest = rest;
}

void forget_rests() { std::ranges::fill(rests, Rest{}); }

bool more_room(Thread& thread, std::uint32_t bytes, std::uint32_t reserved) {
  if (bytes > record::kSegmentBytes - kPage) {  // more than a segment can hold
    const std::scoped_lock lock(claims);
    if (!thread.recorder->is_closed) thread.recorder->header->dropped.fetch_add(1, std::memory_order_relaxed);
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
  const std::scoped_lock lock(claims);
  thread.segment = nullptr;
  thread.used = thread.end = thread.mapped = 0;
  if (!thread.recorder->is_closed) thread.recorder->header->dropped.fetch_add(1, std::memory_order_relaxed);
  return false;
}

}  // namespace stepscope::collect
