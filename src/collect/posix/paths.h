// Paths, and their numbers in the recording.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

#include "collect/posix/rules.h"
#include "collect/recorder.h"

namespace stepscope::collect::posix {

/// Whether a text of less than PATH_MAX bytes is at the address: asks the kernel. errno is kept.
bool is_text(const char* path);
/// Whether a call that failed with this errno has found a text there. errno is kept.
bool was_read_by_failed_call(const char* path);
/// Whether something that was written to `out` may have changed the path.
bool overlaps(const char* path, const void* out, std::size_t room);

/// An absolute path without "." and ".." and doubled slashes. It points into what the caller gave, or into
/// scratch(), until the thread's next path. To be used inside.
class Path {
 public:
  Path() = default;
  Path(const char* text, std::uint32_t length) : text_(text), length_(length) {}
  /// `path` is relative to `directory`, a descriptor or AT_FDCWD. False: not known, or not to be traced.
  bool find(int directory, const char* path);
  /// Of an open descriptor, by asking the kernel.
  bool find(int descriptor);

  const char* text() const { return text_; }
  std::uint32_t length() const { return length_; }

 private:
  bool settle(const char* text, std::uint32_t length);
  const char* text_ = "";
  std::uint32_t length_ = 0;
};

/// Its file is traced, but there was no room to tell the name.
inline constexpr std::uint32_t kNoRoom = UINT32_MAX;

/// A file's number, and the session in which it was told; 0: not traced, or kNoRoom.
struct Named {
  std::uint32_t number = 0, session = 0;
};

/// Tells the path's name. errno is kept.
Named named(int directory, const char* path);
Named named(int directory, const char* path, std::size_t look);  ///< `look`: look_at(path)

/// Tells a name that is no path and shorter than PATH_MAX. To be used inside.
Named named_text(const char* text, std::uint32_t length);

/// The file's number in the recording; it is told there if it is new to this thread. There must be room.
std::uint32_t number_of(Thread& thread, const char* path, std::uint32_t length);

/// The current folder has changed.
void forget_folder();

}  // namespace stepscope::collect::posix
