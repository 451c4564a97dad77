// The descriptors of this process: which file each has open, and at which position.
#pragma once

#include <atomic>
#include <cstdint>

#include "collect/posix/hot.h"
#include "collect/posix/paths.h"
#include "collect/posix/process.h"

namespace stepscope::collect::posix {

/// What POSIX calls an open file description: duplicates of a descriptor share it. One of its own is kept for
/// each descriptor, so that threads share no line of the cache.
struct alignas(64) File {
  std::atomic<std::uint32_t>
      slot;  ///< of the descriptor with this file's place: a Slot, or kFirstFile + a place
  std::atomic<std::int64_t> position;
  std::atomic<std::uint32_t> users;
  std::uint32_t number;  ///< in the recording of `session`; 0: not told yet
  std::uint32_t session;
  std::uint32_t born;  ///< `forks` when it was opened
  std::uint32_t next_free;
  std::atomic<bool> asks;  ///< others may move it: its position is asked of the kernel
  bool appends;
  bool hides_appending;  ///< from stdio, which then does not know where it writes
};

HOT_DATA extern std::uint32_t descriptors;  ///< higher ones are not traced
enum Slot : std::uint32_t { kUnknown = 0, kIgnored = 1, kFirstFile = 2 };
/// By descriptor; behind them those whose descriptor is another file's now.
HOT_DATA extern File* files;
HOT_DATA extern std::atomic<std::uint32_t> highest;  ///< descriptor that has a slot

/// Finds out what a descriptor is that we did not see opened: inherited, a socket, opened by other means.
File* look_up(int descriptor);

/// The descriptor's file; null: not traced.
inline File* traced(int descriptor) {
  if (is_off() || static_cast<std::uint32_t>(descriptor) >= descriptors) return nullptr;
  const std::uint32_t slot = files[descriptor].slot.load(std::memory_order_relaxed);
  if (slot == kIgnored) return nullptr;
  return slot >= kFirstFile ? &files[slot - kFirstFile] : look_up(descriptor);
}

/// A call in a signal handler that interrupts our own work is passed on unseen, but moves the file.
inline void moves_unseen(int descriptor) {
  if (mine.inside == 0 || mine.inside == kElsewhere) return;
  const auto number = static_cast<std::uint32_t>(descriptor);
  const std::uint32_t slot = number < descriptors ? files[number].slot.load(std::memory_order_relaxed) : 0;
  if (slot >= kFirstFile) files[slot - kFirstFile].asks.store(true, std::memory_order_relaxed);
}

/// How a file's position is known.
enum class Position : std::uint8_t { counted, appended, asked };

/// The descriptor was opened at position 0. `file.number` 0: not traced.
void opened(int descriptor, Named file, Position position);
/// The descriptor is new, and not traced.
inline void ignored(int descriptor) {
  const auto number = static_cast<std::uint32_t>(descriptor);
  if (number <= highest.load(std::memory_order_relaxed) &&
      files[number].slot.load(std::memory_order_relaxed) < kFirstFile) [[likely]]
    files[number].slot.store(kIgnored, std::memory_order_relaxed);
  else
    opened(descriptor, {}, Position::counted);
}
void forget(int descriptor);
/// The descriptor is about to be closed, or has become another's.
inline void closed(int descriptor) {
  const auto number = static_cast<std::uint32_t>(descriptor);
  if (number >= descriptors || mine.inside == kElsewhere) return;
  const std::uint32_t before = files[number].slot.load(std::memory_order_relaxed);
  if (before == kIgnored)
    files[number].slot.store(kUnknown, std::memory_order_relaxed);
  else if (before != kUnknown)
    forget(descriptor);
}
/// Whether the descriptor is known not to be traced. False, too, while nothing is recorded.
inline bool is_ignored(int descriptor) {
  return life_now() != kOff && mine.inside == 0 && static_cast<std::uint32_t>(descriptor) < descriptors &&
         files[descriptor].slot.load(std::memory_order_relaxed) == kIgnored;
}
/// The next descriptor from `first` on of which something is known; UINT32_MAX: none.
std::uint32_t next_used(std::uint32_t first);
void duplicated(int from, int to);

/// Where the next sequential call begins.
std::int64_t position_of(const File& file, int descriptor);

/// Its number in the current recording. There must be room.
std::uint32_t number_of(Thread& thread, File& file, int descriptor);

/// The file's name, told before the descriptor is closed. errno is kept.
Named name_again(File& file, int descriptor);
inline Named named(File& file, int descriptor) {
  const std::uint32_t now = session.load(std::memory_order_relaxed);
  return file.number != 0 && file.session == now ? Named{file.number, now} : name_again(file, descriptor);
}

/// `full`: for 2^20 descriptors, else for 2^16. False: no memory; then nothing is traced.
bool make_tables(bool full);

}  // namespace stepscope::collect::posix
