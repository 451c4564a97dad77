#include "read/snapshot/machine.h"

#include <algorithm>

namespace stepscope::read {
namespace {

constexpr std::size_t kMaxDepth = 1000;  // marks; a snapshot needs 8
constexpr std::size_t kMaxRows = std::size_t{1} << 31;

constexpr const char* kNoMark = "closes something that was not opened";
constexpr const char* kNotList = "appends to something that is not a list";
constexpr const char* kNotDict = "sets a key of something that is not a dict";

}  // namespace

bool Machine::mark() {
  if (marks_.size() == kMaxDepth) return fail("is nested more than 1,000 levels deep, a snapshot 8");
  marks_.push_back(stack.size());
  return true;
}

bool Machine::fill_frames(const char*& at, const char* end) {
  if (reachable() == 0) return false;
  const Value list = root();
  if (!heap.is(list, Object::Kind::list) || heap.object(list).size() != 0) return false;
  const trace::StackId frames = runs_.read(at, end);
  if (frames == trace::kNoStack) return false;
  rows.fill(list, frames);
  return true;
}

bool Machine::has_room(std::int64_t stored) {
  constexpr std::size_t kFreely = std::size_t{1} << 27, kTimes = 64;  // PyTorch's: 1, packed 15
  if (rows.events.action.size() > kMaxRows) return fail("holds more events than can be told apart");
  const std::size_t held = heap.held() + rows.held() + stack.size() * sizeof(Value);
  if (held < kFreely + kTimes * static_cast<std::size_t>(stored)) return true;
  return fail("takes more memory than any snapshot of its size");
}

bool Machine::take_mark(std::size_t& from) {
  if (marks_.empty()) return fail(kNoMark);
  from = marks_.back();
  marks_.pop_back();
  return true;
}

bool Machine::append(std::size_t list, std::size_t from) {
  stack[list] = heap.resolved(stack[list]);
  if (!heap.is(stack[list], Object::Kind::list)) return fail(kNotList);
  if (Object& of = heap.object(stack[list]); of.run == Tag::stack) rows.unfold(of);
  for (std::size_t i = from; i < stack.size(); ++i) {
    const Value value = stack[i].tag() == Tag::object ? rows.settled(stack[i]) : stack[i];
    heap.append(heap.object(stack[list]), value);
  }
  stack.shrink(from);
  return true;
}

bool Machine::set(std::size_t dict, std::size_t from) {
  if ((stack.size() - from) % 2 != 0) return fail("gives a dict a key without a value");
  const Value target = stack[dict] = heap.resolved(stack[dict]);
  const std::span<Value> pairs = stack.above(from);
  if (target.tag() == Tag::event || target.tag() == Tag::block || target.tag() == Tag::segment ||
      target.tag() == Tag::mark) {
    for (std::size_t i = 0; i < pairs.size(); i += 2) rows.set(target, pairs[i], pairs[i + 1]);
  } else if (target.tag() == Tag::frame) {
    ++rows.odd.changes;
  } else if (!heap.is(target, Object::Kind::dict)) {
    return fail(kNotDict);
  } else {
    const Value row =
        heap.object(target).items.empty() && pairs.size() > 2 ? rows.row_of(pairs) : Value(Tag::none, 0);
    if (row.tag() != Tag::none) {
      stack[dict] = heap.replace(target, row);
    } else {
      for (Value& value : pairs)
        if (value.tag() == Tag::object) value = rows.settled(value);
      heap.append(heap.object(target), pairs);
    }
  }
  stack.shrink(from);
  return true;
}

bool Machine::append_marked() {
  std::size_t from = 0;
  if (!take_mark(from)) return false;
  return from > floor() ? append(from - 1, from) : fail(kNotList);
}

bool Machine::append_one() {
  const std::size_t size = stack.size();
  return reachable() >= 2 ? append(size - 2, size - 1) : fail(kNotList);
}

bool Machine::set_marked() {
  std::size_t from = 0;
  if (!take_mark(from)) return false;
  return from > floor() ? set(from - 1, from) : fail(kNotDict);
}

bool Machine::set_one() {
  const std::size_t size = stack.size();
  return reachable() >= 3 ? set(size - 3, size - 2) : fail(kNotDict);
}

bool Machine::make_marked(Object::Kind kind) {
  std::size_t from = 0;
  if (!take_mark(from)) return false;
  if (kind == Object::Kind::tuple) return make_tuple(stack.size() - from);
  push({Tag::none, 0});
  const std::span<Value> values = stack.above(from);
  std::shift_right(values.begin(), values.end(), 1);
  values[0] = heap.make(kind);
  return kind == Object::Kind::list ? append(from, from + 1) : set(from, from + 1);
}

bool Machine::make_tuple(std::size_t count) {
  if (reachable() < count) return fail("makes a tuple of more values than there are");
  const std::size_t from = stack.size() - count;
  Value tuple;
  if (count == 2) {
    tuple = heap.make_pair(stack[from], stack[from + 1]);
  } else {
    tuple = heap.make(Object::Kind::tuple);
    heap.append(heap.object(tuple), stack.above(from));
  }
  stack.shrink(from);
  push(tuple);
  return true;
}

bool Machine::reduce() {
  const std::size_t size = stack.size();
  if (reachable() < 2 || stack[size - 2].tag() != Tag::restore_type_tag ||
      !heap.is(stack[size - 1], Object::Kind::tuple) || heap.object(stack[size - 1]).items.empty())
    return fail("calls something other than restore_type_tag");
  const Value first = heap.object(stack[size - 1]).items.front();
  stack.shrink(size - 2);
  push(first);
  return true;
}

bool Machine::memoize(std::uint64_t index) {
  if (reachable() == 0) return fail("has nothing to put into the memo");
  return heap.memoize(index, stack[stack.size() - 1]) ||
         fail("puts something far beyond the end of the memo");
}

/// A list's last item is behind it until its APPEND: here lists that are the value of the last key from
/// `from`.
void Machine::append_last(std::size_t from) {
  std::size_t value = from + 1;
  while (value + 1 < stack.size() && stack[value + 1].tag() == Tag::text) value += 2;
  for (std::size_t last = stack.size(); last-- > value + 1;)
    if (!heap.is(heap.resolved(stack[last - 1]), Object::Kind::list) || !append(last - 1, last))
      stack.shrink(last);
}

void Machine::close() {
  while (!marks_.empty()) {
    const std::size_t from = marks_.back();
    marks_.pop_back();
    if (from == floor()) {
      stack.shrink(from);
      continue;
    }
    const bool outermost = marks_.empty();
    const Value below = heap.resolved(stack[from - 1]);
    if (heap.is(below, Object::Kind::list)) {
      append(from - 1, from);
    } else if (outermost) {
      append_last(from);
      stack.shrink(stack.size() - (stack.size() - from) % 2);
      set(from - 1, from);
    } else {  // half a row
      stack.shrink(from - 1);
    }
  }
  if (!stack.empty()) stack.shrink(1);
}

}  // namespace stepscope::read
