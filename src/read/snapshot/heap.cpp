#include "read/snapshot/heap.h"

#include <fmt/format.h>

#include <array>

#include "base/check.h"
#include "base/text.h"

namespace stepscope::read {

void add_words(trace::StringPool& strings){
#define STEPSCOPE_WORD(word) CHECK(strings.intern(#word) == static_cast<trace::StringId>(Word::word));
    STEPSCOPE_SNAPSHOT_WORDS(STEPSCOPE_WORD)
#undef STEPSCOPE_WORD
}

Value Heap::integer(std::int64_t value) {
  if (-kMaxInside <= value && value < kMaxInside) return {Tag::integer, value};
  large_.push_back(static_cast<std::uint64_t>(value));
  // The lowest bit of the payload is the sign, so that -1 and 2^64 - 1 stay apart.
  return {Tag::big, static_cast<std::int64_t>((large_.size() - 1) * 2 + (value < 0))};
}

Value Heap::large(std::uint64_t value) {
  if (value < static_cast<std::uint64_t>(kMaxInside)) return {Tag::integer, static_cast<std::int64_t>(value)};
  large_.push_back(value);
  return {Tag::big, static_cast<std::int64_t>((large_.size() - 1) * 2)};
}

Value Heap::real(double value) {
  reals_.push_back(value);
  return {Tag::real, static_cast<std::int64_t>(reals_.size() - 1)};
}

Value Heap::make(Object::Kind kind) {
  if (unused_.empty()) {
    unused_.push_back(static_cast<std::uint32_t>(objects_.size()));
    objects_.emplace_back();
  }
  const std::uint32_t index = unused_.back();
  unused_.pop_back();
  objects_[index].kind = kind;
  return {Tag::object, index};
}

Value Heap::make_pair(Value a, Value b) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 29;
  const auto fits = [](Value v) {
    return v.tag() == Tag::integer && -kHalf <= v.number() && v.number() < kHalf;
  };
  if (fits(a) && fits(b))
    return {Tag::pair, static_cast<std::int64_t>(static_cast<std::uint64_t>(a.number()) << 30 |
                                                 (static_cast<std::uint64_t>(b.number()) & 0x3FFFFFFF))};
  const Value tuple = make(Object::Kind::tuple);
  append(object(tuple), std::array{a, b});
  return tuple;
}

void Heap::append(Object& object, Value value) {
  const Tag tag = value.tag();
  const bool row = tag == Tag::event || tag == Tag::block || tag == Tag::segment || tag == Tag::mark;
  if (row && object.items.empty() && object.count == 0) {
    object.run = tag;
    object.first = value.index();
    object.count = 1;
    return;
  }
  if (object.run != Tag::none) {
    if (tag == object.run && value.index() == object.first + object.count) {
      ++object.count;
      return;
    }
    for (std::uint64_t i = 0; i < object.count; ++i)
      object.items.emplace_back(object.run, static_cast<std::int64_t>(object.first + i));
    object.run = Tag::none;
    items_ += object.count;
  }
  object.items.push_back(value);
  ++items_;
}

void Heap::append(Object& object, std::span<const Value> values) {
  object.items.insert(object.items.end(), values.begin(), values.end());
  items_ += values.size();
}

std::size_t Heap::held() const {
  constexpr std::size_t kOfAllocator = 16;
  return objects_.capacity() * (sizeof(Object) + kOfAllocator) +
         (items_ + memo_.capacity() + large_.capacity() + reals_.capacity()) * sizeof(Value) +
         strings_.bytes();
}

void Heap::release(std::uint64_t index) {
  Object& object = objects_[index];
  constexpr std::size_t kKept = 256;  // items whose memory the next object gets
  std::vector<Value> items = std::move(object.items);
  items_ -= items.size();
  items.clear();
  object = {};
  if (items.capacity() <= kKept) object.items = std::move(items);
  unused_.push_back(static_cast<std::uint32_t>(index));
}

Value Heap::replace(Value of, Value by) {
  Object& old = object(of);
  if (old.shared) {
    const std::uint32_t memo = old.memo;
    items_ -= old.items.size();
    old = {};
    old.kind = Object::Kind::alias;
    old.shared = true;
    old.memo = memo;
    old.first = by.bits;
    return by;
  }
  if (old.memo != Object::kNoMemo) memo_[old.memo] = by;
  release(of.index());
  return by;
}

bool Heap::memoize(std::uint64_t index, Value value) {
  constexpr std::uint64_t kMaxGap = 1 << 16;
  if (index > memo_.size() + kMaxGap) return false;
  while (memo_.size() <= index) memo_.push_back(kAbsent);
  if (const Value old = memo_[index]; old.tag() == Tag::object && object(old).memo == index)
    object(old).memo = Object::kNoMemo;
  frames_changed_ |= memo_[index].tag() == Tag::frame;
  memo_[index] = value;
  if (value.tag() == Tag::object) {
    Object& of = object(value);
    of.shared |= of.memo != Object::kNoMemo;
    of.memo = static_cast<std::uint32_t>(index);
  }
  return true;
}

Value Heap::share(std::uint64_t index) {
  Object& of = object(memo_[index]);
  if (of.kind == Object::Kind::alias) return memo_[index] = resolved(memo_[index]);
  of.shared = true;
  return memo_[index];
}

bool Heap::integer_of(Value value, std::int64_t& out) const {
  if (value.tag() == Tag::integer || value.tag() == Tag::boolean) {
    out = value.number();
    return true;
  }
  if (value.tag() != Tag::big) return false;
  const std::uint64_t bits = large_[value.index() / 2];
  out = static_cast<std::int64_t>(bits);
  return value.index() % 2 == 1 || bits >> 63 == 0;
}

bool Heap::address_of(Value value, std::uint64_t& out) const {
  if (value.tag() == Tag::big)
    out = large_[value.index() / 2];
  else
    out = static_cast<std::uint64_t>(value.number());
  return value.tag() == Tag::big || value.tag() == Tag::integer;
}

void Heap::write(Value value, int depth, std::string& out) const {
  value = resolved(value);
  constexpr std::size_t kMaxText = 4096;
  constexpr int kMaxDepth = 16;
  if (out.size() > kMaxText || depth > kMaxDepth) {
    if (!out.ends_with("…")) out += "…";
    return;
  }
  switch (value.tag()) {
    case Tag::none:
      out += "null";
      return;
    case Tag::boolean:
      out += value.number() != 0 ? "true" : "false";
      return;
    case Tag::integer:
      out += std::to_string(value.number());
      return;
    case Tag::big: {
      const std::uint64_t bits = large_[value.index() / 2];
      out += value.index() % 2 == 1 ? std::to_string(static_cast<std::int64_t>(bits)) : std::to_string(bits);
      return;
    }
    case Tag::real:
      out += fmt::format("{}", reals_[value.index()]);
      return;
    case Tag::text:
      out += json_text(strings_[value.text()].substr(0, kMaxText));
      return;
    case Tag::bytes:
      out += fmt::format("\"({} bytes)\"", value.number());
      return;
    case Tag::pair:
      out += fmt::format("[{}, {}]", value.number() >> 30, (value.number() << 34) >> 34);
      return;
    case Tag::object:
      break;
    default:
      out += "\"…\"";
      return;  // a row
  }
  const Object& of = objects_[value.index()];
  const bool dict = of.kind == Object::Kind::dict;
  out += dict ? '{' : '[';
  for (std::uint64_t i = 0; i < of.size() && out.size() <= kMaxText; ++i) {
    if (i > 0) out += dict && i % 2 == 1 ? ": " : ", ";
    write(of.at(i), depth + 1, out);
  }
  out += dict ? '}' : ']';
}

std::string Heap::json(Value value) const {
  if (value.tag() == Tag::text) return std::string(strings_[value.text()]);
  std::string out;
  write(value, 0, out);
  return out;
}

}  // namespace stepscope::read
