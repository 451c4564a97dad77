#include "read/snapshot/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/memory.h"

namespace stepscope::read {
namespace {

using trace::AllocatorEvents;
using trace::MemoryBlock;
using trace::MemoryOfDevice;
using trace::MemorySegment;
using trace::Snapshot;

constexpr std::int64_t kMaxDevices = 1024;
constexpr std::size_t kMaxKeys = 1000;  // of the file or its settings; PyTorch writes about 10

/// Applies `use` to each column of two tables.
template <class Use>
void each_column(AllocatorEvents& a, AllocatorEvents& b, Use use) {
  use(a.action, b.action);
  use(a.address, b.address);
  use(a.size, b.size);
  use(a.time, b.time);
  use(a.stack, b.stack);
  use(a.metadata, b.metadata);
  use(a.context, b.context);
  use(a.stream, b.stream);
  use(a.pool, b.pool);
}

class Assembly {
 public:
  Assembly(Machine& machine, Snapshot& out) : heap_(machine.heap), rows_(machine.rows), out_(out) {}

  bool from(Value root) {
    if (heap_.is(root, Object::Kind::list)) {  // PyTorch 1.13: the segments alone
      const Object& list = heap_.object(root);
      if (list.size() == 0 || list.at(0).tag() != Tag::segment) return false;
      segments(root);
    } else if (heap_.is(root, Object::Kind::dict)) {
      if (!keys(root)) return false;
    } else {
      return false;
    }
    for (auto& [number, device] : devices_) {
      if (device.segments.empty() && device.events.count() == 0) continue;
      device.number = number;
      out_.devices.push_back(std::move(device));
    }
    out_.stacks = rows_.stacks.take();
    out_.streams = std::move(rows_.streams);
    out_.pools = std::move(rows_.pools);
    out_.marks = std::move(rows_.marks);
    describe_oddities();
    return true;
  }

 private:
  bool keys(Value root) {
    bool known = false;
    Value traces(Tag::none, 0);
    const std::vector<Value> pairs = heap_.object(root).items;
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
      const Value value = heap_.resolved(pairs[i + 1]);
      switch (word_of(pairs[i])) {
        case Word::segments:
          segments(value);
          break;
        case Word::device_traces:
          traces = value;
          break;
        case Word::allocator_settings:
          settings(value);
          break;
        case Word::external_annotations:
          break;  // its marks are rows
        default:
          add_text(out_.metadata, pairs[i], value);
          continue;
      }
      known = true;
    }
    events(traces);
    return known;
  }

  void segments(Value list) {
    if (!heap_.is(list, Object::Kind::list)) return;
    std::vector<bool> taken(rows_.segments.size());
    const Object& of = heap_.object(list);
    for (std::uint64_t i = 0; i < of.size(); ++i) {
      const Value item = of.at(i);
      if (item.tag() != Tag::segment || taken[item.index()]) {
        ++(item.tag() == Tag::segment ? twice_ : strangers_);
        continue;
      }
      taken[item.index()] = true;
      add(rows_.segments[item.index()]);
    }
    rows_.blocks = {};
    for (auto& [number, device] : devices_)
      std::ranges::stable_sort(device.segments, {}, &MemorySegment::address);
  }

  MemoryOfDevice* device(std::int64_t number) {
    if (number >= 0 && number < kMaxDevices) return &devices_[number];
    ++strangers_;
    return nullptr;
  }

  void add(const SegmentRow& row) {
    MemoryOfDevice* const device = this->device(row.device);
    if (device == nullptr) return;
    MemorySegment segment = row.of;
    const std::uint32_t first = segment.first_block;
    segment.first_block = static_cast<std::uint32_t>(device->blocks.size());
    std::uint64_t address = segment.address;
    std::int64_t sum = 0, sums[3] = {};
    for (std::uint32_t b = first; b < first + segment.blocks; ++b) {
      MemoryBlock block = rows_.blocks[b];
      if (block.requested < 0) block.requested = block.size;
      if (block.address == 0) block.address = address;  // files older than PyTorch 2.1 have none
      moved_ += block.address != address;
      address += static_cast<std::uint64_t>(block.size);
      sum += block.size;
      const bool active = block.state == MemoryBlock::State::active;
      sums[0] += active ? block.size : 0;
      if (block.state != MemoryBlock::State::inactive) {
        sums[1] += block.size;
        sums[2] += block.requested;
      }
      device->blocks.push_back(block);
    }
    unequal_ += sum != segment.size;
    miscounted_ += (segment.allocated >= 0 && segment.allocated != sums[0]) ||
                   (segment.active >= 0 && segment.active != sums[1]) ||
                   (segment.requested >= 0 && segment.requested != sums[2]);
    device->segments.push_back(segment);
  }

  void add_text(std::vector<std::pair<std::string, std::string>>& to, Value key, Value value) {
    if (to.size() < kMaxKeys)
      to.emplace_back(heap_.json(key), heap_.json(value));
    else
      ++left_out_;
  }

  void settings(Value dict) {
    if (!heap_.is(dict, Object::Kind::dict)) return;
    const std::vector<Value>& pairs = heap_.object(dict).items;
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
      std::int64_t number = 0;
      const bool whole = heap_.integer_of(pairs[i + 1], number);
      if (word_of(pairs[i]) == Word::trace_alloc_overflowed && whole) {
        out_.has_overflow = true;
        out_.overflowed = number != 0;
      }
      if (word_of(pairs[i]) == Word::trace_alloc_max_entries && whole) out_.max_events = number;
      add_text(out_.settings, pairs[i], pairs[i + 1]);
    }
  }

  void events(Value traces) {
    if (!heap_.is(traces, Object::Kind::list)) return;
    const Object& of = heap_.object(traces);
    std::vector<bool> taken;  // rows, once a list is not simply the next ones
    std::uint64_t from = 0;   // rows before are in some device's list
    std::ranges::stable_sort(rows_.extras, {}, &trace::EventExtra::event);
    for (std::uint64_t d = 0; d < of.size(); ++d) {
      const Value list = heap_.resolved(of.at(d));
      if (!heap_.is(list, Object::Kind::list)) {
        strangers_ += list.tag() != Tag::stack && list.tag() != Tag::none;
        continue;
      }
      Object& its = heap_.object(list);
      if (its.size() == 0) continue;
      MemoryOfDevice* const device = this->device(static_cast<std::int64_t>(d));
      if (device == nullptr) return;
      if (its.run == Tag::event && its.first == 0 && its.count == rows_.events.count()) {
        device->events = std::move(rows_.events);
        device->extras = std::move(rows_.extras);
        rows_.events = {};
        return;
      }
      const bool next = its.run == Tag::event && its.first >= from && taken.empty();
      if (!next && taken.empty()) {
        taken.resize(rows_.events.count());
        std::fill(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(from), true);
      }
      copy(its, taken, *device);
      if (next) from = its.first + its.count;
      its = {};  // should it be another device's too
      its.kind = Object::Kind::list;
    }
  }

  void copy(const Object& list, std::vector<bool>& taken, MemoryOfDevice& device) {
    each_column(device.events, rows_.events, [&](auto& to, const auto&) { to.reserve(list.size()); });
    for (std::uint64_t i = 0; i < list.size(); ++i) {
      const Value item = list.at(i);
      if (item.tag() != Tag::event || item.index() >= rows_.events.count() ||
          (!taken.empty() && taken[item.index()])) {
        ++(item.tag() == Tag::event ? twice_ : strangers_);
        continue;
      }
      if (!taken.empty()) taken[item.index()] = true;
      for (const trace::EventExtra& extra : std::ranges::equal_range(
               rows_.extras, static_cast<std::uint32_t>(item.index()), {}, &trace::EventExtra::event))
        device.extras.push_back({device.events.count(), extra.key, extra.value});
      each_column(device.events, rows_.events,
                  [&](auto& to, const auto& all) { to.push_back(all[item.index()]); });
    }
  }

  void fault(std::int64_t count, std::string_view one, std::string_view several) {
    if (count > 0) out_.faults.push_back(fmt::format("{} {}.", count, count == 1 ? one : several));
  }

  void describe_oddities() {
    const Oddities& odd = rows_.odd;
    fault(unequal_, "segment has another size than its blocks together",
          "segments have other sizes than their blocks together");
    fault(moved_, "block has an address that does not follow from the blocks before it",
          "blocks have addresses that do not follow from the blocks before them");
    fault(miscounted_, "segment states other sums than its blocks give; the blocks count",
          "segments state other sums than their blocks give; the blocks count");
    fault(twice_, "segment or event is listed twice and counts once",
          "segments or events are listed twice and count once");
    fault(strangers_,
          "item of the lists is no segment or event, or of an impossible device, and was left out",
          "items of the lists are no segments or events, or of impossible devices, and were left out");
    fault(left_out_, "key of the file or its settings is beyond the first 1,000 and was left out",
          "keys of the file or its settings are beyond the first 1,000 and were left out");
    fault(odd.sizes, "size is negative or beyond 1 PiB and counts as 0",
          "sizes are negative or beyond 1 PiB and count as 0");
    fault(odd.types, "value is of a type that PyTorch does not write and was left out",
          "values are of types that PyTorch does not write and were left out");
    fault(odd.changes, "frame was changed after it was complete; the change was ignored",
          "frames were changed after they were complete; the changes were ignored");
    fault(odd.streams, "event is on a stream or pool beyond the first 65,535, which are not told apart",
          "events are on streams or pools beyond the first 65,535, which are not told apart");
  }

  Heap& heap_;
  Rows& rows_;
  Snapshot& out_;
  std::map<std::int64_t, MemoryOfDevice> devices_;
  std::int64_t unequal_ = 0, moved_ = 0, miscounted_ = 0, twice_ = 0, strangers_ = 0, left_out_ = 0;
};

}  // namespace

bool assemble(Machine& machine, Snapshot& snapshot) {
  return Assembly(machine, snapshot).from(machine.heap.resolved(machine.root()));
}

}  // namespace stepscope::read
