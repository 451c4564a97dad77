// The descriptors of this process: which file each has open, and at which position.
#pragma once

#include <atomic>
#include <cstdint>

#include "collect/posix/process.h"

namespace stepscope::collect::posix {

/// What POSIX calls an open file description: duplicates of a descriptor share it.
struct File {
  std::atomic<std::int64_t> position;
  std::atomic<std::uint32_t> users;
  std::uint32_t number;  ///< in the recording of `session`; 0: not told yet
  std::uint32_t session;
  std::uint32_t born;  ///< `forks` when it was opened
  std::uint32_t next_free;
  bool asks;  ///< others may move it: its position is asked of the kernel
  bool appends;
};

inline constexpr std::uint32_t kDescriptors = 1U << 20;  ///< higher ones are not traced
enum Slot : std::uint32_t { kUnknown = 0, kIgnored = 1, kFirstFile = 2 };
/// What each descriptor is: a Slot, or kFirstFile + the place of its File.
extern std::atomic<std::uint32_t>* slots;
extern File* files;

/// Finds out what a descriptor is that we did not see opened: inherited, a socket, opened by other means.
File* look_up(int descriptor);

/// The descriptor's file; null: not traced.
inline File* traced(int descriptor) {
  if (is_off() || static_cast<std::uint32_t>(descriptor) >= kDescriptors) return nullptr;
  const std::uint32_t slot = slots[descriptor].load(std::memory_order_relaxed);
  if (slot == kIgnored) return nullptr;
  return slot >= kFirstFile ? &files[slot - kFirstFile] : look_up(descriptor);
}

/// The descriptor was opened at position 0. `number`: of its path; 0: not traced.
void opened(int descriptor, std::uint32_t number, bool appends);
void closed(int descriptor);
/// All from `first` to `last`.
void closed(std::uint32_t first, std::uint32_t last);
void duplicated(int from, int to);

/// Where the next sequential call begins.
std::int64_t position_of(const File& file, int descriptor);

/// Its number in the current recording. There must be room.
std::uint32_t number_of(Thread& thread, File& file, int descriptor);

/// False: no memory; then nothing is traced.
bool make_tables();

}  // namespace stepscope::collect::posix
