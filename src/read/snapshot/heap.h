// The lists, dicts and tuples of a snapshot file that are not yet rows, and the memo that refers to them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/memory.h"
#include "read/snapshot/values.h"

namespace stepscope::read {

struct Object {
  enum class Kind : std::uint8_t { list, dict, tuple, alias, unused };
  static constexpr std::uint32_t kNoMemo = 0xFFFFFFFF;

  Kind kind = Kind::unused;
  bool shared = false;           ///< more than one value may refer to it
  std::uint32_t memo = kNoMemo;  ///< the memo's index that refers to it
  Tag run =
      Tag::none;  ///< its items are rows of this kind, one after the other; stack: the frames of this one
  std::uint64_t first = 0, count = 0;  ///< of the run; `first`, of an alias: the bits of its value
  std::vector<Value> items;            ///< of a dict: key, value, key, value …

  std::uint64_t size() const { return run == Tag::none ? items.size() : count; }
  Value at(std::uint64_t i) const {
    return run == Tag::none ? items[i] : Value(run, static_cast<std::int64_t>(first + i));
  }
};

class Heap {
 public:
  explicit Heap(trace::StringPool& strings) : strings_(strings) { add_words(strings); }

  Value text(std::string_view text) { return {Tag::text, strings_.intern(text)}; }
  Value integer(std::int64_t value);
  /// An unsigned integer beyond int64.
  Value large(std::uint64_t value);
  Value real(double value);
  Value make(Object::Kind kind);
  /// A tuple of two.
  Value make_pair(Value a, Value b);

  Object& object(Value value) { return objects_[value.index()]; }
  bool is(Value value, Object::Kind kind) const {
    return value.tag() == Tag::object && objects_[value.index()].kind == kind;
  }
  /// Appends to a list or tuple.
  void append(Object& object, Value value);
  void append(Object& object, std::span<const Value> values);
  /// What stands for an object that was replaced.
  Value resolved(Value value) const {
    if (value.tag() != Tag::object || objects_[value.index()].kind != Object::Kind::alias) return value;
    Value by;
    by.bits = objects_[value.index()].first;
    return by;
  }
  /// From now on, `by` stands for the object everywhere. Returns `by`.
  Value replace(Value object, Value by);

  /// False: the index is too far beyond the others.
  bool memoize(std::uint64_t index, Value value);
  std::uint64_t memo_size() const { return memo_.size(); }
  bool recall(std::uint64_t index, Value& out) {
    if (index >= memo_.size() || memo_[index] == kAbsent) return false;
    out = memo_[index];
    if (out.tag() == Tag::object) out = share(index);
    return true;
  }
  /// The same, but false for an object.
  bool recall_plain(std::uint64_t index, Value& out) const {
    if (index >= memo_.size()) return false;
    out = memo_[index];
    return out.tag() < Tag::object;
  }
  /// Whether an index of the memo that meant a frame means something else now.
  bool frames_changed() const { return frames_changed_; }
  /// Bytes of memory.
  std::size_t held() const;

  /// The value of an integer; false for anything else.
  bool integer_of(Value value, std::int64_t& out) const;
  /// The same for addresses: large and negative ones are the same 64 bits.
  bool address_of(Value value, std::uint64_t& out) const;
  /// A value as JSON, cut at some length and depth; a text that stands alone is without quotes.
  std::string json(Value value) const;

  trace::StringPool& strings() { return strings_; }

 private:
  static constexpr Value kAbsent = Value(Tag::restore_type_tag, -1);

  Value share(std::uint64_t index);
  void release(std::uint64_t index);
  void write(Value value, int depth, std::string& out) const;

  trace::StringPool& strings_;
  std::vector<Object> objects_;
  std::vector<std::uint32_t> unused_;
  std::vector<std::uint64_t> large_;
  std::vector<double> reals_;
  Column<Value> memo_;
  std::size_t items_ = 0;  ///< of all objects
  bool frames_changed_ = false;
};

}  // namespace stepscope::read
