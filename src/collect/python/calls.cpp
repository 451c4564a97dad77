#include "collect/python/calls.h"

#include <frameobject.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "collect/python/names.h"
#include "collect/recorder.h"

namespace stepscope::collect {
namespace {

struct Call {
  const void* key;  ///< code object, or PyMethodDef of a C function
  const Called* what;
  std::uint64_t begin;
};

/// The open calls of one thread. Their number, Thread::python_depth, may exceed kDeepest; the excess is not
/// stored.
struct Calls {
  static constexpr std::uint32_t kDeepest = 4096;
  std::uint32_t thread;  ///< kernel id
  Call calls[kDeepest];
};
static_assert(Calls::kDeepest <= UINT16_MAX);

/// All guarded by the interpreter's lock.
unsigned asked_for = 0;
std::uint64_t began = 0;  // tick
std::vector<Thread*>& places() {
  static auto* const all = new std::vector<Thread*>;
  return *all;
}

Calls& calls_of(Thread& thread) { return *static_cast<Calls*>(thread.python); }

/// The segment's copy of a text that is never freed. Its key is the text's address with bit 63 set, so that
/// it cannot equal the address of an op's name.
const record::Text* stays(Thread& thread, const std::string& text) {
  const std::uint64_t key = reinterpret_cast<std::uint64_t>(text.data()) | 1ULL << 63;
  Known::Slot& slot = thread.known.slots[mixed(key)];
  if (slot.text != nullptr && slot.key == key) return slot.text;
  const record::Text* told =
      stepscope_text(&thread, record::Type::text, text.data(), static_cast<std::uint32_t>(text.size()));
  slot = {key, told};
  return told;
}

/// Writes the call into the current thread's segment. `of`: the thread that made the call; 0: the current
/// one.
void write_call(Thread& thread, const Call& call, std::uint32_t depth, std::uint64_t end, std::uint8_t flags,
                std::uint32_t of = 0) {
  if (!has_room(thread)) return;
  const std::uint32_t name = stays(thread, call.what->name)->value;
  const std::uint32_t path = call.what->path.empty() ? 0 : stays(thread, call.what->path)->value;
  auto& op = next<record::SequencedOp>(thread, record::Type::op);
  op.value = name;
  op.signature = path;
  op.begin = call.begin;
  op.end = end;
  op.scope = call.what->scope;
  op.flags = flags;
  op.depth = static_cast<std::uint16_t>(depth);
  if (of != 0) {
    op.sequence = -1;
    op.forward_thread = of;
  } else {
    op.units = sizeof(record::Op) / 8;
  }
  commit(thread, op);
}

void push(Recorder& recorder, Thread& thread, const void* key, const Called* what, std::uint64_t begin) {
  const std::uint32_t depth = thread.python_depth++;
  if (depth < Calls::kDeepest)
    calls_of(thread).calls[depth] = {key, what, begin != 0 ? begin : ticks(recorder.clock)};
  else
    recorder.header->dropped.fetch_add(1, std::memory_order_relaxed);
}

/// Ends the innermost call of `key`, and all calls inside it whose end was not seen.
void pop(Thread& thread, const void* key, std::uint64_t end) {
  if (thread.python_depth > Calls::kDeepest) {
    --thread.python_depth;
    return;
  }
  const Call* calls = calls_of(thread).calls;
  for (std::uint32_t at = thread.python_depth; at-- > 0;) {
    if (calls[at].key != key) continue;
    for (std::uint32_t depth = thread.python_depth; depth-- > at;)
      write_call(thread, calls[depth], depth, end, depth == at ? 0 : record::kEndedLate);
    thread.python_depth = at;
    return;
  }
}

bool is_outermost_module(Thread& thread) {
  const std::uint32_t depth = std::min(thread.python_depth, Calls::kDeepest);
  const Call* calls = calls_of(thread).calls;
  for (std::uint32_t at = depth; at-- > 0;)
    if (calls[at].what->scope == record::kModuleScope) return false;
  return true;
}

/// `frame` null: the innermost frame of the current thread.
const Called* named(Thread& thread, const Called* what, PyFrameObject* frame) {
  if (what != module_call()) return what;
  return called_module(frame != nullptr ? frame : PyEval_GetFrame(), is_outermost_module(thread));
}

bool is_wanted(const Called* what) {
  return (asked_for & kCalls) != 0 || what->scope == record::kModuleScope;
}

/// Pushes the calls that were open when the recording began, outermost first.
void replay(Recorder& recorder, Thread& thread, PyFrameObject* innermost) {
  thread.python_is_known = true;
  std::vector<PyFrameObject*> frames;
  Py_XINCREF(innermost);
  for (PyFrameObject* frame = innermost; frame != nullptr; frame = PyFrame_GetBack(frame))
    frames.push_back(frame);
  for (std::size_t i = frames.size(); i-- > 0;) {
    PyCodeObject* code = PyFrame_GetCode(frames[i]);
    const Called* what = called(code);
    if (is_wanted(what)) push(recorder, thread, code, named(thread, what, frames[i]), began);
    Py_DECREF(code);
    Py_DECREF(frames[i]);
  }
}

Thread* place_in(Recorder& recorder) {
  Thread* thread = thread_of(recorder);
  if (thread == nullptr) return nullptr;
  if (thread->python == nullptr) {
    thread->python = std::malloc(sizeof(Calls));
    if (thread->python == nullptr) return nullptr;
    places().push_back(thread);
  }
  return thread;
}

/// The current thread's place, with the calls around the event known. `is_begin`: the event is the begin of
/// `frame`.
Thread* known_place(Recorder& recorder, PyFrameObject* frame, bool is_begin) {
  Thread* thread = place_in(recorder);
  if (thread == nullptr || thread->python_is_known) return thread;
  calls_of(*thread).thread = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  if (frame == nullptr) frame = PyEval_GetFrame();
  PyFrameObject* around = is_begin && frame != nullptr ? PyFrame_GetBack(frame) : nullptr;
  replay(recorder, *thread, is_begin ? around : frame);
  Py_XDECREF(around);
  return thread;
}

void close_open_calls(Recorder& recorder) {
  Thread* present = place_in(recorder);
  if (present == nullptr) return;
  const std::uint64_t end = ticks(recorder.clock);
  for (Thread* thread : places()) {
    if (thread->recorder != &recorder || !thread->python_is_known) continue;
    const Calls& open = calls_of(*thread);
    for (std::uint32_t depth = std::min(thread->python_depth, Calls::kDeepest); depth-- > 0;)
      if (thread == present)
        write_call(*present, open.calls[depth], depth, end, record::kEndedLate);
      else
        write_call(*present, open.calls[depth], depth, end, record::kEndedLate | record::kOtherThread,
                   open.thread);
    thread->python_depth = 0;
    thread->python_is_known = false;  // the recording may resume later
  }
}

}  // namespace

void entered(PyCodeObject* code, PyFrameObject* frame) {
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  if (recorder == nullptr) return;
  const Called* what = called(code);
  if (!is_wanted(what)) return;
  Thread* thread = known_place(*recorder, frame, true);
  if (thread != nullptr) push(*recorder, *thread, code, named(*thread, what, frame), 0);
}

void left(PyCodeObject* code, PyFrameObject* frame) {
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  if (recorder == nullptr) return;
  const std::uint64_t end = ticks(recorder->clock);
  if ((asked_for & kCalls) == 0 && called(code) != module_call()) return;
  if (Thread* thread = known_place(*recorder, frame, false)) pop(*thread, code, end);
}

void entered_builtin(PyObject* function, PyFrameObject* frame) {
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  if (recorder == nullptr || !PyCFunction_Check(function)) return;
  Thread* thread = known_place(*recorder, frame, false);
  const void* key = reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
  if (thread != nullptr) push(*recorder, *thread, key, called_builtin(function), 0);
}

void left_builtin(PyObject* function, PyFrameObject* frame) {
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  if (recorder == nullptr || !PyCFunction_Check(function)) return;
  const std::uint64_t end = ticks(recorder->clock);
  Thread* thread = known_place(*recorder, frame, false);
  if (thread != nullptr) pop(*thread, reinterpret_cast<PyCFunctionObject*>(function)->m_ml, end);
}

PyObject* python_start(PyObject*, PyObject* asked) {
  const unsigned long wish = PyLong_AsUnsignedLong(asked);
  if (PyErr_Occurred() != nullptr) return nullptr;
  asked_for = static_cast<unsigned>(wish);
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  began = recorder == nullptr ? 0 : ticks(recorder->clock);
  std::string reason;
  if ((asked_for & (kCalls | kModuleCalls)) != 0) {
    reason = begin_names(recorder)
                 ? hook_start(asked_for)
                 : "calls are not recorded: this Python has no free extra slot on code objects";
    if (!reason.empty() && (asked_for & kCalls) != 0) {
      asked_for |= kSamples;
      reason += "; falling back to samples";
    }
  }
  if ((asked_for & kSamples) != 0)
    if (const std::string why = sampler_start(); !why.empty())
      reason = reason.empty() ? why : reason + ", but " + why;
  return PyUnicode_FromStringAndSize(reason.data(), static_cast<Py_ssize_t>(reason.size()));
}

PyObject* python_stop(PyObject*, PyObject*) {
  sampler_stop();
  hook_stop();
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  if (recorder != nullptr && (asked_for & (kCalls | kModuleCalls)) != 0) close_open_calls(*recorder);
  asked_for = 0;
  Py_RETURN_NONE;
}

}  // namespace stepscope::collect
