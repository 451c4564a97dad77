#if defined(__linux__)
#define Py_BUILD_CORE 1  // for the layout of frames: every API function for them needs the lock
#endif
#include "collect/python/stack_reader.h"

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)
#include <internal/pycore_frame.h>
#define STACKS_CAN_BE_READ 1
#endif

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <utility>

#include "base/text.h"
#include "collect/python/line_table.h"
#include "collect/python/names.h"
#include "record/format.h"

namespace stepscope::collect {

#ifndef STACKS_CAN_BE_READ

std::string StackReader::begin() {
  return "no samples are taken: they need Python 3.11, 3.12 or 3.13 with the global interpreter lock";
}
std::vector<ThreadStack> StackReader::read() { return {}; }
std::vector<SampledLine> StackReader::lines() const { return {}; }

#else
namespace {

bool read_bytes(const void* from, void* to, std::size_t bytes) {
  const iovec local{to, bytes}, remote{const_cast<void*>(from), bytes};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

template <class T>
bool read_value(const void* from, std::size_t offset, T& to) {
  return from != nullptr && read_bytes(static_cast<const char*>(from) + offset, &to, sizeof to);
}

const void* code_of(const _PyInterpreterFrame& frame) {
#if PY_VERSION_HEX >= 0x030D0000
  return frame.f_executable;
#else
  return frame.f_code;
#endif
}

/// The instruction that runs, or that called the next frame.
const void* instruction_of(const _PyInterpreterFrame& frame) {
#if PY_VERSION_HEX >= 0x030D0000
  return frame.instr_ptr;
#else
  return frame.prev_instr;
#endif
}

/// True for the placeholder frames of C code that called Python.
bool is_no_call(const _PyInterpreterFrame& frame) {
#if PY_VERSION_HEX >= 0x030C0000
  return frame.owner == FRAME_OWNED_BY_CSTACK;
#else
  (void)frame;
  return false;
#endif
}

bool first_frame(const void* thread, const void*& frame) {
#if PY_VERSION_HEX >= 0x030D0000
  return read_value(thread, offsetof(PyThreadState, current_frame), frame);
#else
  const void* cframe = nullptr;
  return read_value(thread, offsetof(PyThreadState, cframe), cframe) &&
         read_value(cframe, offsetof(_PyCFrame, current_frame), frame);
#endif
}

constexpr std::size_t kMax = 400;  // characters; a whole sample must fit into a segment
static_assert(StackReader::kDeepest * (2 * 4 * kMax + 64) < record::kSegmentBytes - 65'536);

/// Reads at most `kMax` characters of a Python string. False: `object` is not a readable string.
bool read_string(const void* object, std::string& out) {
  PyASCIIObject head;
  if (!read_value(object, 0, head) || head.ob_base.ob_type != &PyUnicode_Type || head.length < 0 ||
      head.state.compact == 0)
    return false;
  const std::size_t kind = head.state.kind;
  const auto length = std::min<std::size_t>(static_cast<std::size_t>(head.length), kMax);
  char bytes[4 * kMax];
  const std::size_t from = head.state.ascii != 0 ? sizeof(PyASCIIObject) : sizeof(PyCompactUnicodeObject);
  if ((kind != 1 && kind != 2 && kind != 4) ||
      !read_bytes(static_cast<const char*>(object) + from, bytes, length * kind))
    return false;
  out.clear();
  for (std::size_t i = 0; i < length; ++i) {
    std::uint32_t c = 0;
    std::memcpy(&c, bytes + i * kind, kind);
    append_utf8(out, c);
  }
  return true;
}

/// Reads the bytes of a Python bytes object. False: `object` is none, or a table longer than any that is
/// worth reading.
bool read_table(const void* object, std::string& out) {
  constexpr Py_ssize_t kMaxTable = 1 << 20;
  PyVarObject head;
  if (!read_value(object, 0, head) || head.ob_base.ob_type != &PyBytes_Type || head.ob_size < 0 ||
      head.ob_size > kMaxTable)
    return false;
  out.resize(static_cast<std::size_t>(head.ob_size));
  return out.empty() || read_bytes(static_cast<const char*>(object) + offsetof(PyBytesObject, ob_sval),
                                   out.data(), out.size());
}

}  // namespace

std::string StackReader::begin() {
  char here = 'x', copy = 0;
  if (!read_value(&here, 0, copy) || copy != here)
    return "no samples are taken: this system forbids process_vm_readv";
  interpreter_ = PyInterpreterState_Main();
  prefixes_ = paths_of_python();
  known_.clear();
  return "";
}

bool StackReader::frames_of(const void* thread, std::vector<Frame>& frames) const {
  frames.clear();
  const void* at = nullptr;
  if (!first_frame(thread, at)) return false;
  for (std::size_t seen = 0; at != nullptr; ++seen) {
    // Only up to the locals: the memory after them may be unmapped.
    alignas(_PyInterpreterFrame) char bytes[offsetof(_PyInterpreterFrame, localsplus)];
    if (seen >= 2 * kDeepest || frames.size() >= kDeepest || !read_bytes(at, bytes, sizeof bytes))
      return false;
    const auto& frame = *reinterpret_cast<const _PyInterpreterFrame*>(bytes);
    if (!is_no_call(frame)) frames.push_back({at, code_of(frame), instruction_of(frame)});
    at = frame.previous;
  }
  return true;
}

const std::string* StackReader::text_of(const Frame& frame) {
  // Only up to the instructions.
  alignas(PyCodeObject) char bytes[offsetof(PyCodeObject, co_code_adaptive)];
  if (frame.code == nullptr || !read_bytes(frame.code, bytes, sizeof bytes)) return nullptr;
  const auto& object = *reinterpret_cast<const PyCodeObject*>(bytes);
  if (object.ob_base.ob_base.ob_type != &PyCode_Type) return nullptr;
  const Code code{object.co_filename, object.co_qualname, object.co_linetable, object.co_firstlineno};
  const auto known = known_.find(frame.code);
  if (known == known_.end() || known->second.code != code) {
    Known read{code, {}, {}, {}, {}, {}};
    if (!read_string(code.file, read.path) || !read_string(code.name, read.name) ||
        !read_table(code.lines, read.lines))
      return nullptr;
    read.file = shortened(read.path, prefixes_);
    known_.insert_or_assign(frame.code, std::move(read));
  }
  Known& found = known_.find(frame.code)->second;
  const std::ptrdiff_t unit =
      (static_cast<const char*>(frame.instruction) - static_cast<const char*>(frame.code) -
       static_cast<std::ptrdiff_t>(sizeof bytes)) /
      static_cast<std::ptrdiff_t>(sizeof(_Py_CODEUNIT));
  const std::string*& text = found.texts[unit];
  if (text == nullptr) {
    const int line = line_at(found.lines, code.line, unit).value_or(code.line);
    const std::string made = found.file + "(" + std::to_string(line) + "): " + found.name;
    text = &texts_.try_emplace(made, made).first->second;
    lines_.insert({found.path, found.file, line});
  }
  return text;
}

std::vector<SampledLine> StackReader::lines() const { return {lines_.begin(), lines_.end()}; }

std::vector<ThreadStack> StackReader::read() {
  std::vector<ThreadStack> stacks;
  std::vector<Frame> frames, again;
  const void* thread = PyInterpreterState_ThreadHead(interpreter_);
  constexpr int kMaxThreads = 4096;
  for (int count = 0; thread != nullptr && count < kMaxThreads; ++count) {
    const void *interpreter = nullptr, *next = nullptr;
    unsigned long id = 0;
    if (!read_value(thread, offsetof(PyThreadState, interp), interpreter) || interpreter != interpreter_ ||
        !read_value(thread, offsetof(PyThreadState, next), next) ||
        !read_value(thread, offsetof(PyThreadState, native_thread_id), id))
      break;  // the thread has ended; the rest are read in the next sample
    ThreadStack stack{static_cast<std::uint32_t>(id), {}};
    if (id != 0 && frames_of(thread, frames)) {
      for (std::size_t i = frames.size(); i-- > 0;) {
        const std::string* text = text_of(frames[i]);
        if (text == nullptr) break;
        stack.frames.push_back(text);
      }
      if (frames_of(thread, again)) {
        const auto same = std::mismatch(frames.rbegin(), frames.rend(), again.rbegin(), again.rend(),
                                        std::mem_fn(&Frame::is_same_call))
                              .first;
        const auto stayed = static_cast<std::size_t>(same - frames.rbegin());
        stack.frames.resize(std::min(stack.frames.size(), stayed));
        std::reverse(stack.frames.begin(), stack.frames.end());
        if (!stack.frames.empty()) stacks.push_back(std::move(stack));
      }
    }
    thread = next;
  }
  return stacks;
}

#endif

}  // namespace stepscope::collect
