// The stack machine on which both forms of a snapshot are read: a pickle's opcodes and JSON's brackets.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "read/snapshot/frame_runs.h"

namespace stepscope::read {

/// The values that are still open. Its memory grows and never shrinks.
class ValueStack {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void push(Value value) {
    if (size_ == values_.size()) grow();
    values_[size_++] = value;
  }
  /// Room for so many more values; then took() says where those that were written end.
  Value* room(std::size_t values) {
    while (values_.size() - size_ < values) grow();
    return values_.data() + size_;
  }
  void took(const Value* end) { size_ = static_cast<std::size_t>(end - values_.data()); }
  /// Leaves out what is above `size`.
  void shrink(std::size_t size) { size_ = size; }
  Value& operator[](std::size_t at) { return values_[at]; }
  const Value& operator[](std::size_t at) const { return values_[at]; }
  std::span<Value> above(std::size_t from) { return {values_.data() + from, size_ - from}; }

 private:
  void grow() { values_.resize(std::max<std::size_t>(values_.size() * 2, 64)); }

  Column<Value> values_;
  std::size_t size_ = 0;
};

/// An operation fails with a reason, "" while all is well. Nothing here recurses.
class Machine {
 public:
  explicit Machine(trace::StringPool& strings) : heap(strings), rows(heap), runs_(rows) {}

  void push(Value value) { stack.push(value); }
  bool mark();
  /// Appends what lies above the last mark to the list below it.
  bool append_marked();
  /// Fills an empty list on the top with the run of frames at `at`, after which `at` is at its APPENDS; false
  /// if it is none.
  bool fill_frames(const char*& at, const char* end);
  /// Appends the top to the list below it.
  bool append_one();
  /// Puts what lies above the last mark, keys and values, into the dict below it.
  bool set_marked();
  bool set_one();
  /// What lies above the last mark becomes a list, dict or tuple.
  bool make_marked(Object::Kind kind);
  /// The top `count` values become a tuple.
  bool make_tuple(std::size_t count);
  /// Calls the only function that is known: it returns its first argument.
  bool reduce();

  bool memoize(std::uint64_t index);
  bool recall(std::uint64_t index) {
    Value value;
    if (!heap.recall(index, value)) return fail("asks for a memo entry that was not made before");
    push(value);
    return true;
  }

  /// Ends all that is open, as if the file ended properly; leaves out what would be half a row.
  void close();
  /// The top of the stack; Tag::none if it is empty.
  Value root() const { return stack.empty() ? Value(Tag::none, 0) : stack[stack.size() - 1]; }
  /// False if what was made of the first `stored` bytes of the file takes more memory than any snapshot's.
  bool has_room(std::int64_t stored);

  const char* reason() const { return reason_; }

  ValueStack stack;
  Heap heap;
  Rows rows;

 private:
  bool fail(const char* reason) {
    reason_ = reason;
    return false;
  }
  /// No operation reaches below the last mark.
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  std::size_t reachable() const { return stack.size() - floor(); }
  bool take_mark(std::size_t& from);
  bool append(std::size_t list, std::size_t from);
  bool set(std::size_t dict, std::size_t from);
  void append_last(std::size_t from);

  FrameRuns runs_;
  std::vector<std::size_t> marks_;
  const char* reason_ = "";
};

}  // namespace stepscope::read
