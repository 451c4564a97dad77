#include "read/blocks.h"

#include <algorithm>
#include <cstring>

#include "read/json_text.h"

namespace stepscope::read {
namespace {

bool event_key_at(const char* p, const char* end) {
  constexpr std::string_view kKeys[] = {"ph\"",  "name\"", "cat\"", "ts\"", "pid\"",
                                        "tid\"", "args\"", "id\"",  "dur\""};
  const std::string_view text(p, static_cast<std::size_t>(end - p));
  for (std::string_view key : kKeys)
    if (text.starts_with(key)) return true;
  return false;
}

/// `brace` is a "}". Returns the "{" of an event right after it, or nullptr.
const char* event_behind(const char* brace, const char* end) {
  const char* p = skip_space(brace + 1);
  if (p < end && *p == ',') p = skip_space(p + 1);
  if (p >= end || *p != '{') return nullptr;
  const char* start = p;
  p = skip_space(p + 1);
  return p < end && *p == '"' && event_key_at(p + 1, end) ? start : nullptr;
}

/// The last event start in the text, or nullptr.
const char* last_event(const char* begin, const char* end) {
  for (const char* p = end; p > begin;) {
    p = static_cast<const char*>(memrchr(begin, '}', static_cast<std::size_t>(p - begin)));
    if (p == nullptr) return nullptr;
    if (const char* start = event_behind(p, end)) return start;
  }
  return nullptr;
}

constexpr std::ptrdiff_t kMaxBoundary = 4096;

/// Whether an object at `brace` is no value of another one. Blanks from `from` on were looked at before.
bool stands_alone(const char* from, const char* brace) {
  const char* p = brace - 1;
  while (p > from && (*p == ' ' || *p == '\t' || *p == '\r')) --p;
  return *p != ':' && *p != '[' && *p != ',' && *p != '"' && *p != ' ' && *p != '\t' && *p != '\r';
}

}  // namespace

const char* next_event(const char* from, const char* end) {
  for (const char* p = from; p < end; ++p) {
    p = static_cast<const char*>(std::memchr(p, '}', static_cast<std::size_t>(end - p)));
    if (p == nullptr) return nullptr;
    if (const char* start = event_behind(p, end)) return start;
  }
  return nullptr;
}

const char* next_line(const char* from, const char* end) {
  for (const char* p = from + 1; p < end; ++p) {
    p = static_cast<const char*>(std::memchr(p, '{', static_cast<std::size_t>(end - p)));
    if (p == nullptr) return nullptr;
    const char* key = skip_space(p + 1);
    if (key < end && *key == '"' && event_key_at(key + 1, end) && stands_alone(from, p)) return p;
  }
  return nullptr;
}

const char* undecided_line(const char* from, const char* end) {
  return std::max(from, end - std::min(end - from, kMaxBoundary));
}

const char* undecided(const char* from, const char* end) {
  const char* tail = std::max(from, end - std::min(end - from, kMaxBoundary));
  const void* brace = memrchr(tail, '}', static_cast<std::size_t>(end - tail));
  return brace != nullptr ? static_cast<const char*>(brace) : end;
}

bool BlockReader::next(Block& block) {
  const std::lock_guard lock(mutex_);
  if (ended_ && carry_.empty()) return false;
  std::size_t size = carry_.size();
  const auto capped = [&](std::size_t wanted) { return std::max(size + 1, std::min(wanted, sizes_.most)); };
  std::size_t goal = capped(std::max(sizes_.usual, size * 2));
  const char* cut = nullptr;
  for (;;) {
    if (block.buffer.size() < goal + kPadding) block.buffer.resize(goal + kPadding);
    if (!carry_.empty()) {
      std::memcpy(block.buffer.data(), carry_.data(), carry_.size());
      carry_.clear();
    }
    while (size < goal && !ended_) {
      const std::size_t got = source_.read(block.buffer.data() + size, goal - size);
      ended_ = got == 0;
      size += got;
    }
    cut = block.buffer.data() + size;
    std::memset(block.buffer.data() + size, 0, kPadding);
    if (!guess_ || ended_ || goal >= sizes_.most) break;
    cut = last_event(block.buffer.data(), cut);
    if (cut != nullptr) break;
    goal = capped(goal * 2);
  }
  const char* text_end = block.buffer.data() + size;
  carry_.assign(cut, text_end);
  block.size = static_cast<std::size_t>(cut - block.buffer.data());
  std::memset(block.buffer.data() + block.size, 0, kPadding);
  block.offset = offset_;
  block.index = index_++;
  block.last = ended_ && carry_.empty();
  offset_ += static_cast<std::int64_t>(block.size);
  stored_position_ = source_.position();
  return block.size != 0 || block.last;
}

}  // namespace stepscope::read
