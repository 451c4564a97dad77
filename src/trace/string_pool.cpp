#include "trace/string_pool.h"

#include <algorithm>

#include "base/same_bytes.h"

namespace stepscope::trace {
namespace {

constexpr std::size_t kArenaBlock = std::size_t{1} << 16;
constexpr std::size_t kFirstSlots = 1024;

}  // namespace

StringPool::StringPool() : seed_(process_hash_seed()), slots_(kFirstSlots) { intern(""); }

std::string_view StringPool::store(std::string_view text) {
  if (text.empty()) return "";
  if (text.size() > arena_left_) {
    const std::size_t size = std::max(kArenaBlock, text.size());
    arena_.push_back(std::make_unique_for_overwrite<char[]>(size));
    arena_at_ = arena_.back().get();
    arena_left_ = size;
    arena_bytes_ += size;
  }
  char* at = arena_at_;
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  arena_at_ += text.size();
  arena_left_ -= text.size();
  return {at, text.size()};
}

StringId StringPool::intern(std::string_view text) {
  const auto tag = static_cast<std::uint32_t>(hash_of(text, seed_));
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = tag & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    const StringId id = slots_[at] - 1;
    if (hashes_[id] == tag && texts_[id].size() == text.size() &&
        same_bytes(texts_[id].data(), text.data(), text.size()))
      return id;
  }
  const auto id = static_cast<StringId>(texts_.size());
  texts_.push_back(store(text));
  hashes_.push_back(tag);
  slots_[at] = id + 1;
  if (texts_.size() * 2 > slots_.size()) grow();
  return id;
}

StringId StringPool::find(std::string_view text) const {
  const auto tag = static_cast<std::uint32_t>(hash_of(text, seed_));
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = tag & mask; slots_[at] != 0; at = (at + 1) & mask) {
    const StringId id = slots_[at] - 1;
    if (hashes_[id] == tag && texts_[id].size() == text.size() &&
        same_bytes(texts_[id].data(), text.data(), text.size()))
      return id;
  }
  return kNoString;
}

void StringPool::grow() {
  std::vector<std::uint32_t> slots(slots_.size() * 4);
  const std::size_t mask = slots.size() - 1;
  for (StringId id = 0; id < texts_.size(); ++id) {
    std::size_t at = hashes_[id] & mask;
    while (slots[at] != 0) at = (at + 1) & mask;
    slots[at] = id + 1;
  }
  slots_ = std::move(slots);
}

}  // namespace stepscope::trace
