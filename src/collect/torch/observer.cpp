// Records PyTorch's ops with its RecordFunction callbacks. Compiled against the headers of the PyTorch that
// it is loaded into, with the flags of that build.
#include <ATen/record_function.h>
#include <c10/core/TensorImpl.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "collect/recorder.h"
#include "collect/torch/collective.h"
#include "collect/torch/lookups.h"
#include "collect/torch/shapes.h"
#include "collect/torch/signature.h"

namespace torch::jit {
/// PyTorch's, where it still has TorchScript. Declared here because its header costs seconds to compile.
__attribute__((weak)) std::vector<std::string> currentModuleHierarchy();
}  // namespace torch::jit

namespace stepscope::collect {
namespace {

using at::RecordFunction;
using at::RecordScope;

/// "TOP(Outer)::forward.inner(Inner)::forward.": where TorchScript's interpreter is on this thread.
void put_hierarchy(Signature& signature) {
  if (&torch::jit::currentModuleHierarchy == nullptr) return;
  std::string path;
  for (const std::string& level : torch::jit::currentModuleHierarchy()) path += level + '.';
  if (path.size() > 1) signature.text(Input::hierarchy, path);
}

const record::Text* signature_of(Thread& thread, const RecordFunction& fn, bool with_inputs = true) {
  char bytes[kMaxText];
  Signature signature(bytes);
  if ((thread.recorder.load(std::memory_order_relaxed)->flags & record::kModules) != 0)
    put_hierarchy(signature);
  if (with_inputs) signature.inputs(fn.inputs());
  if (signature.length() == 0) return nullptr;
  return stepscope_text(&thread, record::Type::signature, bytes, signature.length());
}

/// A collective is recorded even if shapes are not.
const record::Text* collective_signature_of(Thread& thread, const RecordFunction& fn, bool with_inputs) {
  char bytes[kMaxText];
  Signature signature(bytes);
  put_collective(signature, fn);
  if (with_inputs) signature.inputs(fn.inputs());
  if (signature.length() == 0) return nullptr;
  return stepscope_text(&thread, record::Type::signature, bytes, signature.length());
}

/// Ops that may end on a different thread than they began on.
struct Elsewhere {
  static constexpr std::uint32_t kMax = 1024;
  std::mutex mutex;
  Frame frames[kMax];
  std::atomic<std::uint32_t> count{0};  ///< read without the mutex to see that nothing is open
  std::uint64_t session = 0;            ///< of the open ops
};
Elsewhere& elsewhere() {
  static auto* const frames = new Elsewhere;
  return *frames;
}

Lookups& lookups() {
  static auto* const seen = new Lookups;
  return *seen;
}

/// The op's name with its overload. Each overload has its own schema, which holds the op's name, so the
/// name's address identifies the overload. Not inline: it costs nothing unless overloads are recorded.
[[gnu::noinline]] const record::Text* full_name_of(Thread& thread, const RecordFunction& fn) {
  const char* name = fn.name();
  Known::Slot& slot = slot_of(thread, name);
  if (holds(slot, name)) return slot.text;
  const auto op = fn.operator_name();
  if (!op || op->overload_name.empty()) return name_of(thread, name);
  const std::string full = op->name + '\0' + op->overload_name;
  const record::Text* text =
      stepscope_text(&thread, record::Type::op_name, full.data(), static_cast<std::uint32_t>(full.size()));
  slot = {reinterpret_cast<std::uint64_t>(name), text};
  return text;
}

ShapeWindows& shape_windows() {
  static auto* const windows = new ShapeWindows;
  return *windows;
}

const record::Text* timed_signature_of(Thread& thread, const RecordFunction& fn, record::Clock clock) {
  if (++thread.ops_with_shapes % ShapeWindows::kTimed != 0) return signature_of(thread, fn);
  const std::uint64_t before = ticks(clock);
  const record::Text* text = signature_of(thread, fn);
  shape_windows().timed(ticks(clock) - before);
  return text;
}

void fill(Frame& frame, Recorder& recorder, Thread& thread, const RecordFunction& fn, bool with_inputs) {
  frame.key = &fn;
  frame.sequence = fn.seqNr();
  frame.name = (recorder.flags & record::kOverloads) != 0 ? full_name_of(thread, fn) : nullptr;
  frame.scope = static_cast<std::uint8_t>(fn.scope());
  frame.flags = 0;
  if (frame.sequence >= 0 || fn.scope() == RecordScope::BACKWARD_FUNCTION) {
    frame.flags = record::kHasSequence;
    frame.forward_thread = fn.forwardThreadId();
  }
  with_inputs = with_inputs && (recorder.flags & record::kShapes) != 0;
  frame.signature = tells_of_collective(fn) ? collective_signature_of(thread, fn, with_inputs)
                    : with_inputs           ? timed_signature_of(thread, fn, recorder.clock)
                    : (recorder.flags & record::kModules) != 0 ? signature_of(thread, fn, false)
                                                               : nullptr;
  if (with_inputs) lookups().see(fn);
}

void know_thread(Thread& thread) {
  thread.torch_thread = RecordFunction::currentThreadId();
  reinterpret_cast<record::SegmentHeader*>(thread.segment)->torch_thread = thread.torch_thread;
}

void begin_elsewhere(Recorder& recorder, Thread& thread, const RecordFunction& fn, bool with_inputs) {
  Frame frame;
  fill(frame, recorder, thread, fn, with_inputs);
  if ((recorder.flags & record::kNewest) != 0)
    frame.name = frame.signature = nullptr;  // their segment may be replaced before the op ends
  else if (frame.name == nullptr)
    frame.name = stepscope_text(&thread, record::Type::text, fn.name(),
                                static_cast<std::uint32_t>(std::strlen(fn.name())));
  frame.flags |= record::kAsync;
  Elsewhere& others = elsewhere();
  const std::scoped_lock lock(others.mutex);
  if (std::exchange(others.session, thread.session) != thread.session) others.count = 0;
  frame.begin = ticks(recorder.clock);
  if (others.count < Elsewhere::kMax)
    others.frames[others.count++] = frame;
  else
    recorder.header->dropped.fetch_add(1, std::memory_order_relaxed);
}

void end_elsewhere(Thread& thread, const RecordFunction& fn, std::uint64_t now) {
  Elsewhere& others = elsewhere();
  if (others.count.load(std::memory_order_relaxed) == 0) return;
  const std::scoped_lock lock(others.mutex);
  if (others.session != thread.session) return;
  for (std::uint32_t i = 0; i < others.count; ++i) {
    if (others.frames[i].key != &fn) continue;
    write_op(thread, others.frames[i], fn.name(), now);
    others.frames[i] = others.frames[--others.count];
    return;
  }
}

/// PyTorch's callbacks: one gets the inputs of ops, the other does not. 0: not registered.
struct Callbacks {
  std::mutex mutex;  ///< held while PyTorch's own lock is taken; a fork waits for it
  at::CallbackHandle with_inputs = 0, without_inputs = 0;
};
Callbacks& callbacks() {
  static auto* const both = new Callbacks;
  return *both;
}

void turn_shapes(const ShapeWindows::Turn& turn) {
  {
    Callbacks& both = callbacks();
    const std::scoped_lock lock(both.mutex);
    if (both.with_inputs == 0 || both.without_inputs == 0) return;
    at::disableCallback(turn.on ? both.without_inputs : both.with_inputs);
    at::reenableCallback(turn.on ? both.with_inputs : both.without_inputs);
  }
  if (!turn.cost) return;
  char text[64];
  const int size = std::snprintf(text, sizeof text, "shapesCost=%.3f", *turn.cost);
  (void)stepscope_metadata(text, static_cast<std::uint32_t>(size));
}

std::unique_ptr<at::ObserverContext> begin(const RecordFunction& fn, bool with_inputs) {
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  if (recorder == nullptr) return nullptr;
  Thread* thread = thread_of(*recorder);
  if (thread == nullptr || !has_room(*thread)) return nullptr;
  if (thread->torch_thread == 0) know_thread(*thread);
  if (fn.isAsync()) {
    begin_elsewhere(*recorder, *thread, fn, with_inputs);
  } else if (Frame* frame = next_frame(*thread)) {
    fill(*frame, *recorder, *thread, fn, with_inputs);
    frame->begin = ticks(recorder->clock);
  }
  return nullptr;
}
std::unique_ptr<at::ObserverContext> begin_with_inputs(const RecordFunction& fn) { return begin(fn, true); }
std::unique_ptr<at::ObserverContext> begin_without_inputs(const RecordFunction& fn) {
  return begin(fn, false);
}

void look_at_shapes(Recorder& recorder, Thread& thread) {
  constexpr std::uint32_t kOften = 64;
  if (++thread.ended_ops % kOften != 0) return;
  if (const auto turn = shape_windows().turn(ticks(recorder.clock), nanoseconds(CLOCK_MONOTONIC)))
    turn_shapes(*turn);
}

/// Removes a frame that has ended. Frames inside that have not are dropped, but not ranges: a range of
/// TorchScript begins in one op and ends in another.
void close(Thread& thread, std::uint32_t at) {
  const bool is_range = thread.frames[at].scope == record::kUserScope;
  std::uint32_t kept = at;
  for (std::uint32_t i = at + 1; i < thread.depth; ++i)
    if (is_range || thread.frames[i].scope == record::kUserScope) thread.frames[kept++] = thread.frames[i];
  thread.depth = kept;
}

void end(const RecordFunction& fn, at::ObserverContext*) {
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  if (recorder == nullptr) return;
  const std::uint64_t now = ticks(recorder->clock);
  Thread* thread = thread_of(*recorder);
  if (thread == nullptr) return;
  for (std::uint32_t at = thread->depth; at-- > 0;) {
    if (thread->frames[at].key != &fn) continue;
    write_op(*thread, thread->frames[at], fn.name(), now);
    close(*thread, at);
    look_at_shapes(*recorder, *thread);
    return;
  }
  end_elsewhere(*thread, fn, now);
}

at::CallbackHandle add_callback(bool with_inputs) {
  return at::addGlobalCallback(
      at::RecordFunctionCallback(with_inputs ? begin_with_inputs : begin_without_inputs, end)
          .needsInputs(with_inputs)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION,
                   at::RecordScope::TORCHSCRIPT_FUNCTION, at::RecordScope::USER_SCOPE}));
}

void remove_callback(at::CallbackHandle& handle) {
  if (handle == 0) return;
  try {
    at::removeCallback(handle);
  } catch (...) {
  }
  handle = 0;
}

/// So that a fork never copies a lock that is held.
void keep_whole_in_forks() {
  static const int registered =
      pthread_atfork([] { callbacks().mutex.lock(); }, [] { callbacks().mutex.unlock(); },
                     [] {
                       callbacks().mutex.unlock();
                       lookups().forget();
                     });
  (void)registered;
}

}  // namespace
}  // namespace stepscope::collect

#pragma GCC visibility push(default)
extern "C" {

/// The version of the recording format that this was compiled for.
std::uint32_t stepscope_torch_version() { return stepscope::record::kVersion; }

/// `inputs`: 0 none, 1 those of all ops, 2 those of all ops while that is cheap, else in windows. Returns 0,
/// or 1 if PyTorch refused.
int stepscope_torch_attach(int inputs) {
  using namespace stepscope::collect;
  Callbacks& both = callbacks();
  keep_whole_in_forks();
  const std::scoped_lock lock(both.mutex);
  if (both.with_inputs != 0 || both.without_inputs != 0) return 0;
  elsewhere().count = 0;
  lookups().begin();
  try {
    if (inputs != 0) both.with_inputs = add_callback(true);
    if (inputs != 1) both.without_inputs = add_callback(false);
    if (inputs != 2) return 0;
    at::disableCallback(both.without_inputs);
    shape_windows().begin();
  } catch (...) {
    remove_callback(both.with_inputs);
    remove_callback(both.without_inputs);
    return 1;
  }
  return 0;
}

/// PyTorch calls nothing until the next attach, which goes on with the recording.
void stepscope_torch_pause() {
  using namespace stepscope::collect;
  Callbacks& both = callbacks();
  shape_windows().end();
  const std::scoped_lock lock(both.mutex);
  remove_callback(both.with_inputs);
  remove_callback(both.without_inputs);
}

void stepscope_torch_detach() {
  using namespace stepscope::collect;
  stepscope_torch_pause();
  lookups().tell();
}
}
#pragma GCC visibility pop
