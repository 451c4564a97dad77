// Lists of frames as pickles have them: nine in ten bytes of a file are the memo's indices of frames. The
// same bytes are the same stack, and most stacks come again and again.
#pragma once

#include <string>
#include <vector>

#include "read/snapshot/rows.h"

namespace stepscope::read {

class FrameRuns {
 public:
  explicit FrameRuns(Rows& rows) : rows_(rows) {}

  /// The stack of the run of memo indices that begins at `at`, and in `at` where APPENDS follows it;
  /// kNoStack, and `at` as it was, if they are not all frames, or no APPENDS follows before `end`.
  trace::StackId read(const char*& at, const char* end);

 private:
  struct Run {
    std::size_t begin, size;  ///< in bytes_
    trace::StackId stack;
  };
  struct Slot {
    std::uint32_t hash = 0, run = 0;  ///< run + 1; 0 is free
  };
  static const char* end_of(const char* p, const char* end);
  trace::StackId stack_of(const char* p, const char* end);
  Slot& slot_of(std::string_view run, std::uint32_t hash);
  void keep(std::string_view run, std::uint32_t hash, trace::StackId stack);

  Rows& rows_;
  std::string bytes_;  ///< of all runs
  std::vector<Run> runs_;
  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  std::vector<trace::FrameId> scratch_;
};

}  // namespace stepscope::read
