#include "read/snapshot/frame_runs.h"

#include "base/hash.h"
#include "read/snapshot/opcodes.h"

namespace stepscope::read {

/// Where APPENDS follows; nullptr if something else does.
const char* FrameRuns::end_of(const char* p, const char* end) {
  while (p < end) {
    switch (static_cast<Op>(*p)) {
      case Op::binget:
        p += 2;
        continue;
      case Op::long_binget:
        p += 5;
        continue;
      case Op::appends:
        return p;
      default:
        return nullptr;
    }
  }
  return nullptr;
}

trace::StackId FrameRuns::read(const char*& at, const char* end) {
  const char* const behind = end_of(at, end);
  if (behind == nullptr || behind == at || rows_.heap().frames_changed()) return trace::kNoStack;
  constexpr std::size_t kKept = std::size_t{1} << 24;  // bytes of all runs
  const std::string_view run(at, static_cast<std::size_t>(behind - at));
  const std::uint64_t full = hash_of(run, process_hash_seed());
  const auto hash = static_cast<std::uint32_t>(full ^ full >> 32);
  const Slot& slot = slot_of(run, hash);
  trace::StackId stack = trace::kNoStack;
  if (slot.run != 0) {
    stack = runs_[slot.run - 1].stack;
  } else {
    stack = stack_of(at, behind);
    if (stack == trace::kNoStack) return stack;
    if (bytes_.size() + run.size() <= kKept) keep(run, hash, stack);
  }
  at = behind;
  return stack;
}

trace::StackId FrameRuns::stack_of(const char* p, const char* end) {
  scratch_.clear();
  while (p < end) {
    const bool is_long = static_cast<Op>(*p) == Op::long_binget;
    std::uint32_t index = static_cast<std::uint8_t>(p[1]);
    if (is_long) std::memcpy(&index, p + 1, sizeof index);
    Value frame;
    if (!rows_.heap().recall_plain(index, frame) || frame.tag() != Tag::frame) return trace::kNoStack;
    scratch_.push_back(static_cast<trace::FrameId>(frame.index()));
    p += is_long ? 5 : 2;
  }
  return rows_.stacks.stack(scratch_);
}

FrameRuns::Slot& FrameRuns::slot_of(std::string_view run, std::uint32_t hash) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.run == 0) return slot;
    const Run& of = runs_[slot.run - 1];
    if (slot.hash == hash && std::string_view(bytes_).substr(of.begin, of.size) == run) return slot;
  }
}

void FrameRuns::keep(std::string_view run, std::uint32_t hash, trace::StackId stack) {
  runs_.push_back({bytes_.size(), run.size(), stack});
  bytes_ += run;
  slot_of(run, hash) = {hash, static_cast<std::uint32_t>(runs_.size())};
  if (runs_.size() * 2 <= slots_.size()) return;
  std::vector<Slot> larger(slots_.size() * 4);
  for (const Slot& slot : slots_) {
    if (slot.run == 0) continue;
    std::size_t at = slot.hash & (larger.size() - 1);
    while (larger[at].run != 0) at = (at + 1) & (larger.size() - 1);
    larger[at] = slot;
  }
  slots_ = std::move(larger);
}

}  // namespace stepscope::read
