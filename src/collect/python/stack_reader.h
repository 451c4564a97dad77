// Python stacks of this process, read without the interpreter's lock. Everything is read by
// process_vm_readv, which fails on unmapped memory instead of crashing. All values that it reads are checked.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace stepscope::collect {

struct ThreadStack {
  std::uint32_t thread;                    ///< kernel id
  std::vector<const std::string*> frames;  ///< innermost first; never freed
};

struct SampledLine {
  std::string path;  ///< of its file, as the code object names it
  std::string file;  ///< the same, as frames name it
  int line;
  friend auto operator<=>(const SampledLine&, const SampledLine&) = default;
};

class StackReader {
 public:
  static constexpr std::size_t kDeepest = 256;  ///< frames; deeper stacks are left out

  /// Call it with the interpreter's lock. Returns "", or why stacks cannot be read.
  std::string begin();
  /// Stacks of all threads that are in Python. Each stack is read twice; only the outer frames that did not
  /// change are kept. A stack without such frames is left out.
  std::vector<ThreadStack> read();
  /// Every line that a stack named.
  std::vector<SampledLine> lines() const;

 private:
  struct Frame {
    const void *at, *code, *instruction;
    /// The same call, maybe at another of its lines.
    bool is_same_call(const Frame& other) const { return at == other.at && code == other.code; }
  };
  /// Identifies a code object: another one at the same address has other fields.
  struct Code {
    const void *file, *name, *lines;
    int line;
    bool operator==(const Code&) const = default;
  };
  struct Known {
    Code code;
    std::string lines;  ///< its table
    std::string path, file, name;
    std::unordered_map<std::ptrdiff_t, const std::string*> texts;  ///< by code unit
  };

  bool frames_of(const void* thread, std::vector<Frame>& frames) const;
  /// "file(line): function", with the line that runs.
  const std::string* text_of(const Frame& frame);

  PyInterpreterState* interpreter_ = nullptr;
  std::vector<std::string> prefixes_;
  std::unordered_map<const void*, Known> known_;
  std::unordered_map<std::string, std::string> texts_;
  std::set<SampledLine> lines_;
};

}  // namespace stepscope::collect
