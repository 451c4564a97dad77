#include "derive/allocator/level_walk.h"

#include <algorithm>
#include <limits>

#include "derive/allocator/saturated.h"

namespace stepscope::derive {

using trace::MemoryAction;

std::int64_t rounded(std::int64_t bytes) {
  constexpr std::int64_t kUnit = 512, kMax = std::numeric_limits<std::int64_t>::max() / kUnit * kUnit;
  return bytes > kMax - kUnit ? kMax : (std::max<std::int64_t>(bytes, 1) + kUnit - 1) / kUnit * kUnit;
}

LevelWalk::LevelWalk(const AllocatorReplay& replay)
    : replay_(replay), pending_(replay.device().events.count()) {
  now_.reserved = replay.reserved_at(-1);
  now_.requested = replay.start;
  for (const Allocation& of : replay.live_at(-1)) now_.rounded = plus(now_.rounded, rounded(of.bytes));
}

void LevelWalk::add(std::int64_t bytes, int sign) {
  now_.requested = plus(now_.requested, sign * bytes);
  now_.rounded = plus(now_.rounded, sign * rounded(bytes));
}

void LevelWalk::end(std::uint32_t allocation) {
  const std::int64_t bytes = replay_.device().events.size[allocation];
  add(bytes, -1);
  if (pending_[allocation]) now_.pending = plus(now_.pending, -bytes);
}

bool LevelWalk::next() {
  const trace::AllocatorEvents& events = replay_.device().events;
  if (event_ + 1 >= events.count()) return false;
  const auto e = static_cast<std::uint32_t>(++event_);
  const MemoryAction action = events.action[e];
  now_.reserved = plus(now_.reserved, replay_.reserved_change(e));
  const std::uint32_t ended = replay_.ended_by(e);
  if (ended != kNoEvent) end(ended);
  if (action == MemoryAction::alloc) {
    add(events.size[e], 1);
  } else if (replay_.frees(e)) {
    if (ended == kNoEvent) add(events.size[e], -1);
  } else if (action == MemoryAction::free_requested) {
    const std::uint32_t of = replay_.partner(e);
    if (of == kNoEvent || replay_.partner(of) == e + 1) return true;
    pending_[of] = true;
    now_.pending = plus(now_.pending, events.size[of]);
  }
  return true;
}

}  // namespace stepscope::derive
