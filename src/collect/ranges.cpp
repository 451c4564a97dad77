// Ranges that a program marks: those of a stack per thread, and those that know their own begin.
#include <algorithm>

#include "collect/recorder.h"

namespace stepscope::collect {
namespace {

Recorder* active() { return stepscope_recorder.load(std::memory_order_acquire); }

/// The calling thread's place, with room for one event; null: nothing is recorded, or no room is left.
Thread* place_in(Recorder* recorder) {
  Thread* thread = recorder == nullptr ? nullptr : thread_of(*recorder);
  return thread != nullptr && has_room(*thread) ? thread : nullptr;
}

}  // namespace

extern "C" {

void stepscope_range_begin(const char* name, std::uint32_t length) {
  Recorder* recorder = active();
  Thread* thread = place_in(recorder);
  Frame* frame = thread == nullptr ? nullptr : next_frame(*thread);
  if (frame == nullptr) return;
  const record::Text* text = stepscope_text(thread, record::Type::text, name, length);
  *frame = {nullptr, ticks(recorder->clock), -1, 0, text, nullptr, record::kUserScope, 0};
}

void stepscope_range_end() {
  Recorder* recorder = active();
  if (recorder == nullptr) return;
  const std::uint64_t end = ticks(recorder->clock);
  Thread* thread = thread_of(*recorder);
  for (std::uint32_t at = thread == nullptr ? 0 : thread->depth; at-- > 0;) {
    if (thread->frames[at].key != nullptr) continue;
    write_op(*thread, thread->frames[at], "", end);
    thread->depth = at;  // frames inside that have not ended are dropped
    return;
  }
}

std::uint64_t stepscope_tick() {
  const Recorder* recorder = active();
  return recorder == nullptr ? 0 : ticks(recorder->clock);
}

void stepscope_range(std::uint64_t begin, const char* name, std::uint32_t length, const char* members,
                     std::uint32_t bytes) {
  Recorder* recorder = active();
  if (recorder == nullptr || begin < recorder->header->begin.tick) return;
  const std::uint64_t end = ticks(recorder->clock);
  Thread* thread = place_in(recorder);
  if (thread == nullptr) return;
  const record::Text* text = stepscope_text(thread, record::Type::text, name, length);
  const record::Text* args =
      bytes == 0 || bytes > kMaxText ? nullptr : stepscope_text(thread, record::Type::text, members, bytes);
  write_op(*thread, {nullptr, begin, -1, 0, text, args, record::kUserScope, 0}, "", end);
}

}  // extern "C"
}  // namespace stepscope::collect
