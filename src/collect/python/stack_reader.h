// Python stacks of this process, read without the interpreter's lock. Everything is read by
// process_vm_readv, which fails where there is no memory any more; what it read is checked, never believed.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace stepscope::collect {

struct ThreadStack {
  std::uint32_t thread;                    ///< the kernel's id
  std::vector<const std::string*> frames;  ///< innermost first; never freed
};

class StackReader {
 public:
  static constexpr std::size_t kDeepest = 256;  ///< frames; of a deeper stack none are told

  /// Under the interpreter's lock. "", or why stacks cannot be read.
  std::string begin();
  /// Stacks of all threads that are in Python. One that changed while it was read ends at the frame, from the
  /// outermost on, up to which it stayed the same; if none did, it is left out.
  std::vector<ThreadStack> read();

 private:
  struct Frame {
    const void *at, *code;
    bool operator==(const Frame&) const = default;
  };
  /// What a code object looks like: another one at its address looks different.
  struct Code {
    const void *file, *name;
    int line;
    bool operator==(const Code&) const = default;
  };
  struct Known {
    Code code;
    const std::string* text;
  };

  bool frames_of(const void* thread, std::vector<Frame>& frames) const;
  const std::string* text_of(const void* code);

  PyInterpreterState* interpreter_ = nullptr;
  std::vector<std::string> prefixes_;
  std::unordered_map<const void*, Known> known_;
  std::unordered_map<std::string, std::string> texts_;
};

}  // namespace stepscope::collect
