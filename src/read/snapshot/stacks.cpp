#include "read/snapshot/stacks.h"

#include <algorithm>
#include <string_view>

#include "base/key_hash.h"

namespace stepscope::read {

/// The slot of the entry, or the free slot where it belongs.
template <class Same>
std::size_t Stacks::find(const std::vector<Slot>& slots, std::uint32_t hash, Same same) {
  const std::size_t mask = slots.size() - 1;
  std::size_t at = hash & mask;
  while (slots[at].id != 0 && !(slots[at].hash == hash && same(slots[at].id - 1))) at = (at + 1) & mask;
  return at;
}

void Stacks::keep(std::vector<Slot>& slots, std::size_t at, std::uint32_t hash, std::size_t count) {
  slots[at] = {hash, static_cast<std::uint32_t>(count)};
  if (count * 2 <= slots.size()) return;
  std::vector<Slot> larger(slots.size() * 4);
  for (const Slot& slot : slots) {
    if (slot.id == 0) continue;
    larger[find(larger, slot.hash, [](std::uint32_t) { return false; })] = slot;
  }
  slots = std::move(larger);
}

std::size_t Stacks::held() const {
  return table_.frames.capacity() * sizeof(trace::Frame) +
         table_.of_stacks.capacity() * sizeof(trace::FrameId) +
         table_.ends.capacity() * sizeof(std::uint64_t) +
         (frame_slots_.size() + stack_slots_.size()) * sizeof(Slot);
}

trace::FrameId Stacks::frame(const trace::Frame& frame) {
  const auto hash = static_cast<std::uint32_t>(
      hash_of_all(process_hash_seed(), frame.name, frame.file, frame.extra, frame.line));
  std::vector<trace::Frame>& frames = table_.frames;
  const std::size_t at = find(frame_slots_, hash, [&](std::uint32_t id) { return frames[id] == frame; });
  if (frame_slots_[at].id != 0) return frame_slots_[at].id - 1;
  frames.push_back(frame);
  keep(frame_slots_, at, hash, frames.size());
  return static_cast<trace::FrameId>(frames.size() - 1);
}

trace::StackId Stacks::stack(std::span<const trace::FrameId> frames) {
  if (frames.empty()) return trace::kNoStack;
  const std::string_view bytes(reinterpret_cast<const char*>(frames.data()), frames.size_bytes());
  const std::uint64_t full = hash_of(bytes, process_hash_seed());
  const auto hash = static_cast<std::uint32_t>(full ^ full >> 32);
  const std::size_t at =
      find(stack_slots_, hash, [&](std::uint32_t id) { return std::ranges::equal(table_[id], frames); });
  if (stack_slots_[at].id != 0) return stack_slots_[at].id - 1;
  table_.of_stacks.insert(table_.of_stacks.end(), frames.begin(), frames.end());
  table_.ends.push_back(table_.of_stacks.size());
  keep(stack_slots_, at, hash, table_.size());
  return table_.size() - 1;
}

}  // namespace stepscope::read
