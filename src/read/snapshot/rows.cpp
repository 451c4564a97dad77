#include "read/snapshot/rows.h"

#include "trace/trace.h"

namespace stepscope::read {
namespace {

using trace::MemoryAction;
using trace::MemoryBlock;

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;  // more than any memory holds

/// The number of `key` among `known`, which grows; the last number when there are too many.
template <class Key>
std::uint16_t numbered(std::map<Key, std::uint16_t>& ids, std::vector<Key>& known, const Key& key,
                       std::int64_t& too_many) {
  constexpr std::size_t kMax = 0xFFFF;
  const auto found = ids.find(key);
  if (found != ids.end()) return found->second;
  if (known.size() == kMax) {
    ++too_many;
    return static_cast<std::uint16_t>(kMax - 1);
  }
  known.push_back(key);
  return ids[key] = static_cast<std::uint16_t>(known.size() - 1);
}

}  // namespace

std::int64_t Rows::integer(Value value) {
  std::int64_t out = 0;
  if (!heap_.integer_of(value, out)) ++odd.types;
  return out;
}

std::int64_t Rows::bytes(Value value) {
  std::int64_t out = 0;
  if (!heap_.integer_of(value, out) || out < 0 || out > kMaxBytes) {
    ++odd.sizes;
    return 0;
  }
  return out;
}

std::uint64_t Rows::address(Value value) {
  std::uint64_t out = 0;
  if (!heap_.address_of(value, out)) ++odd.types;
  return out;
}

std::int64_t Rows::nanoseconds(Value value) {
  std::int64_t us = 0, ns = 0;
  if (heap_.integer_of(value, us) && !__builtin_mul_overflow(us, 1000, &ns)) return ns;
  ++odd.types;
  return trace::kNoTime;
}

trace::StringId Rows::text(Value value) {
  if (value.tag() == Tag::text) return value.text();
  return value.tag() == Tag::none ? trace::kEmptyString : json(value);
}

std::uint16_t Rows::stream(Value value) {
  const auto raw = static_cast<std::int64_t>(address(value));
  if (raw != last_stream_) {
    last_stream_id_ = numbered(stream_ids_, streams, raw, odd.streams);
    last_stream_ = raw;
  }
  return last_stream_id_;
}

std::uint16_t Rows::pool(Value value) {
  trace::PoolKey key;
  if (value.tag() == Tag::pair) {
    key = {value.number() >> 30, (value.number() << 34) >> 34};
  } else if (value.tag() == Tag::object && heap_.object(value).size() == 2) {
    const Value a = heap_.object(value).at(0), b = heap_.object(value).at(1);
    key = {integer(a), integer(b)};
    if (const Value pair = heap_.make_pair(a, b); pair.tag() == Tag::pair) heap_.replace(value, pair);
  } else {
    ++odd.types;
  }
  if (key != last_pool_) {
    last_pool_id_ = numbered(pool_ids_, pools, key, odd.streams);
    last_pool_ = key;
  }
  return last_pool_id_;
}

trace::StackId Rows::stack_of(Value list) {
  list = heap_.resolved(list);
  if (list.tag() == Tag::stack) return static_cast<trace::StackId>(list.index());
  if (!heap_.is(list, Object::Kind::list)) {
    odd.types += list.tag() != Tag::none;
    return trace::kNoStack;
  }
  const Object& of = heap_.object(list);
  if (of.run == Tag::stack) {
    const auto id = static_cast<trace::StackId>(of.first);
    heap_.replace(list, {Tag::stack, id});
    return id;
  }
  scratch_.resize(of.size());
  std::size_t count = 0;
  for (std::uint64_t i = 0; i < scratch_.size(); ++i) {
    const Value frame = of.at(i);
    scratch_[count] = static_cast<trace::FrameId>(frame.index());
    count += frame.tag() == Tag::frame;
  }
  odd.types += count != scratch_.size();
  scratch_.resize(count);
  const trace::StackId id = stacks.stack(scratch_);
  heap_.replace(list, {Tag::stack, id});
  return id;
}

void Rows::fill(Value list, trace::StackId stack) {
  Object& of = heap_.object(list);
  of.run = Tag::stack;
  of.first = stack;
  of.count = stacks.table()[stack].size();
}

void Rows::unfold(Object& list) {
  const auto stack = static_cast<trace::StackId>(list.first);
  list.run = Tag::none;
  list.first = list.count = 0;
  for (const trace::FrameId frame : stacks.table()[stack]) heap_.append(list, {Tag::frame, frame});
}

std::size_t Rows::held() const {
  constexpr std::size_t kEvent = 46;
  return events.action.capacity() * kEvent + extras.capacity() * sizeof(trace::EventExtra) +
         blocks.capacity() * sizeof(MemoryBlock) + segments.capacity() * sizeof(SegmentRow) +
         marks.capacity() * sizeof(trace::MemoryMark) + stacks.held();
}

Value Rows::settled(Value value) {
  value = heap_.resolved(value);
  if (value.tag() != Tag::object || heap_.object(value).kind != Object::Kind::dict) return value;
  if (heap_.object(value).size() > kMaxItems) return value;
  const std::vector<Value> pairs = heap_.object(value).items;
  const Value row = row_of(pairs);
  return row.tag() == Tag::none ? value : heap_.replace(value, row);
}

Value Rows::row_of(std::span<const Value> pairs) {
  Word kind = Word::none;
  if (pairs.size() > kMaxItems) return {Tag::none, 0};
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const Word key = word_of(pairs[i]);
    if (key == Word::action || key == Word::blocks || key == Word::filename || key == Word::stage) {
      kind = key;
      break;
    }
    if (key == Word::state) kind = key;
  }
  switch (kind) {
    case Word::action:
      return add_event(pairs);
    case Word::filename:
      return add_frame(pairs);
    case Word::blocks:
      segments.emplace_back();
      break;
    case Word::state:
      blocks.push_back({});
      break;
    case Word::stage:
      marks.emplace_back();
      break;
    default:
      return {Tag::none, 0};
  }
  const Value row = kind == Word::blocks ? Value(Tag::segment, static_cast<std::int64_t>(segments.size() - 1))
                    : kind == Word::state ? Value(Tag::block, static_cast<std::int64_t>(blocks.size() - 1))
                                          : Value(Tag::mark, static_cast<std::int64_t>(marks.size() - 1));
  if (kind == Word::blocks) {
    trace::MemorySegment& of = segments.back().of;
    of.allocated = of.active = of.requested = -1;
  }
  if (kind == Word::state) blocks.back().requested = -1;
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) set(row, pairs[i], pairs[i + 1]);
  return row;
}

void Rows::set(Value row, Value key, Value value) {
  const std::size_t at = row.index();
  value = heap_.resolved(value);
  switch (row.tag()) {
    case Tag::event:
      return set_event(at, key, value);
    case Tag::block:
      return set_block(blocks[at], key, value);
    case Tag::segment:
      return set_segment(segments[at], key, value);
    case Tag::mark:
      return set_mark(marks[at], key, value);
    default:
      ++odd.changes;
  }
}

Value Rows::add_event(std::span<const Value> pairs) {
  events.action.push_back(MemoryAction::other);
  events.address.push_back(trace::kNoAddress);
  events.size.push_back(0);
  events.time.push_back(trace::kNoTime);
  events.stack.push_back(trace::kNoStack);
  events.metadata.push_back(trace::kEmptyString);
  events.context.push_back(trace::kEmptyString);
  events.stream.push_back(0);
  events.pool.push_back(0);
  const std::size_t row = events.action.size() - 1;
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
    set_event(row, pairs[i], heap_.resolved(pairs[i + 1]));
  return {Tag::event, static_cast<std::int64_t>(row)};
}

void Rows::set_event(std::size_t row, Value key, Value value) {
  constexpr auto kFirst = static_cast<unsigned>(Word::alloc);
  switch (word_of(key)) {
    case Word::action: {
      const auto action = static_cast<unsigned>(word_of(value)) - kFirst;
      events.action[row] =
          action < trace::kMemoryActions - 1 ? static_cast<MemoryAction>(action) : MemoryAction::other;
      if (events.action[row] != MemoryAction::other) return;
      break;
    }
    case Word::addr:
    case Word::address:
    case Word::device_free:
      events.address[row] = address(value);
      return;
    case Word::size:
      events.size[row] = bytes(value);
      return;
    case Word::stream:
      events.stream[row] = stream(value);
      return;
    case Word::time_us:
      events.time[row] = nanoseconds(value);
      return;
    case Word::frames:
      events.stack[row] = stack_of(value);
      return;
    case Word::compile_context: {
      const trace::StringId id = text(value);
      events.context[row] = heap_.strings()[id] == "N/A" ? trace::kEmptyString : id;
      return;
    }
    case Word::user_metadata:
      events.metadata[row] = text(value);
      return;
    case Word::pool_id:
    case Word::segment_pool_id:
      events.pool[row] = pool(value);
      return;
    default:
      break;
  }
  if (key.tag() != Tag::text) {
    ++odd.types;
    return;
  }
  extras.push_back({static_cast<std::uint32_t>(row), key.text(), json(value)});
  if (value.tag() == Tag::object) heap_.replace(value, {Tag::text, extras.back().value});
}

Value Rows::add_frame(std::span<const Value> pairs) {
  constexpr std::size_t kMaxExtra = 4096;
  trace::Frame frame;
  std::string extra;
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const Value value = pairs[i + 1];
    switch (word_of(pairs[i])) {
      case Word::name:
        frame.name = text(value);
        break;
      case Word::filename:
        frame.file = text(value);
        break;
      case Word::line:
        frame.line = integer(value);
        break;
      default:
        if (value.tag() == Tag::none || extra.size() > kMaxExtra) break;
        if (!extra.empty()) extra += "; ";
        extra += heap_.json(pairs[i]) + ": " + heap_.json(value);
    }
  }
  frame.extra = extra.empty() ? trace::kEmptyString : heap_.strings().intern(extra);
  return {Tag::frame, stacks.frame(frame)};
}

void Rows::set_mark(trace::MemoryMark& mark, Value key, Value value) {
  switch (word_of(key)) {
    case Word::stage:
      mark.begin = word_of(value) == Word::START;
      return;
    case Word::name:
      mark.name = text(value);
      return;
    case Word::device:
      mark.device = integer(value);
      return;
    case Word::time_us:
      mark.time = nanoseconds(value);
      return;
    default:
      return;
  }
}

}  // namespace stepscope::read
