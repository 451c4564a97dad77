#include "record/events/function_events.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>

#include "record/device/events.h"
#include "record/events/forward_links.h"
#include "record/events/function_tree.h"
#include "record/interned.h"
#include "record/text/python_stacks.h"

namespace stepscope::record {
namespace {

constexpr std::uint32_t kNone = ~0U;

/// Names that torch.profiler leaves out.
constexpr std::array<std::string_view, 8> kUnseen = {"[memory]",
                                                     "[OutOfMemory]",
                                                     "profiler::_record_function_enter",
                                                     "profiler::_record_function_enter_new",
                                                     "profiler::_record_function_exit",
                                                     "aten::is_leaf",
                                                     "aten::output_nr",
                                                     "aten::_version"};

struct Row {
  std::int64_t begin, end;
  std::int64_t order;    // of writing: of events that end at the same instant, the inner is written first
  std::uint32_t thread;  // index in EventReader::threads_
  std::uint32_t name, inputs;
  std::int64_t overload = -1, sequence = -1;
  std::uint64_t forward_thread = 0;
  std::uint8_t scope = 0, flags = 0;
  std::int64_t cpu_bytes = 0, device_bytes = 0;  // of memory outside all events
  std::int64_t device = -1, stream = -1;         // of device work
  std::int64_t launcher = -1;                    // of device work: `order` of the op that launched it

  bool is_call() const { return scope >= kPythonScope; }
  bool is_work() const { return device >= 0; }
  bool is_async() const { return (flags & kAsync) != 0; }
};

bool before(const Row& a, const Row& b) {
  return std::tie(a.begin, b.end, b.order) < std::tie(b.begin, a.end, a.order);
}

struct Allocation {
  std::int64_t ns, cpu_bytes, device_bytes;
  std::uint32_t thread;
};

bool is_host(int device_type) { return device_type == 0 || device_type == 2 || device_type == 5; }

/// The rows that are open on a thread while its rows are walked by begin.
struct Open {
  struct Level {
    std::int64_t end;
    std::uint32_t number;
  };
  std::vector<Level> levels;

  std::uint32_t around(const Row& row) {
    while (!levels.empty() && (row.begin >= levels.back().end || row.end > levels.back().end))
      levels.pop_back();
    return levels.empty() ? kNone : levels.back().number;
  }
};

class EventReader {
 public:
  void read(const Recording& recording) {
    rows_.clear();
    allocations_.clear();
    threads_.clear();
    kernel_threads_.clear();
    thread_of_.clear();
    tells_of_devices_ = false;
    base_ = recording.begin_ns();
    for (const Segment& segment : recording.segments()) read(recording, segment);
    add_devices(recording);
    std::sort(rows_.begin(), rows_.end(), before);
    std::stable_sort(allocations_.begin(), allocations_.end(),
                     [](const Allocation& a, const Allocation& b) { return a.ns < b.ns; });
    add_uncovered();
    const std::size_t first = events_.size();
    add_events();
    merge_repeated(events_, first);
    add_memory(first);
    subtract_children(events_, first);
    add_device_times(events_, first);
    set_sequences(first);
    set_backward_stacks(events_, first);
  }

  FunctionEvents take() {
    for (std::size_t i = 0; i < texts_.size(); ++i) events_.texts.emplace_back(texts_[i]);
    for (std::size_t i = 0; i < signatures_.size(); ++i)
      events_.inputs_told.push_back(input_texts(signatures_[i]));
    events_.stacks = stacks_.take();
    return std::move(events_);
  }

 private:
  void read(const Recording& recording, const Segment& segment) {
    const std::uint32_t thread = number_of_thread(segment.thread);
    if (segment.torch_thread != 0) threads_[thread] = segment.torch_thread;
    const Texts texts(segment);
    std::vector<std::uint32_t> names, overloads, signatures;  // from the segment's ids to ours
    const auto number = [&](std::vector<std::uint32_t>& known, Interned& all, std::uint32_t id,
                            std::string_view text) {
      if (id >= segment.records.size()) return all.id("");
      if (known.size() <= id) known.resize(id + 1, kNone);
      if (known[id] == kNone) known[id] = all.id(text);
      return known[id];
    };
    for_each_record(segment, [&](const Record& record, std::span<const char> bytes) {
      tells_of_devices_ |= record.type >= Type::device_session;
      Memory memory;
      if (record.type == Type::memory && copy_to(memory, bytes)) {
        const bool host = is_host(memory.device_type());
        allocations_.push_back({recording.times().ns(memory.tick) - base_, host ? memory.bytes : 0,
                                host ? 0 : memory.bytes, thread});
      }
      Op op;
      if (record.type != Type::op || !copy_to(op, bytes)) return;
      Row row{recording.times().ns(op.begin) - base_,
              recording.times().ns(op.end) - base_,
              static_cast<std::int64_t>(rows_.size()),
              thread,
              number(names, texts_, op.value, texts[op.value]),
              texts.signature(op.signature).empty()
                  ? 0
                  : number(signatures, signatures_, op.signature, texts.signature(op.signature))};
      row.end = std::max(row.end, row.begin);
      if (const std::string_view overload = texts.overload(op.value); !overload.empty())
        row.overload = number(overloads, texts_, op.value, overload);
      row.scope = op.scope;
      row.flags = op.flags;
      SequencedOp more;
      if ((op.flags & (kHasSequence | kOtherThread)) != 0 && copy_to(more, bytes)) {
        row.sequence = more.sequence;
        if ((op.flags & kOtherThread) != 0)
          row.thread = number_of_thread(static_cast<std::uint32_t>(more.forward_thread));
        else if (more.sequence >= 0)
          row.forward_thread = more.forward_thread;
      }
      if (std::ranges::find(kUnseen, texts_[row.name]) == kUnseen.end()) rows_.push_back(row);
    });
  }

  std::uint32_t number_of_thread(std::uint32_t id) {
    const auto [at, added] = thread_of_.try_emplace(id, static_cast<std::uint32_t>(threads_.size()));
    if (added) {
      threads_.push_back(id);
      kernel_threads_.push_back(id);
    }
    return at->second;
  }

  /// Adds CUDA calls as events of their threads, and work as events of its device.
  void add_devices(const Recording& recording) {
    if (!tells_of_devices_) return;
    std::vector<HostRange> ranges;
    std::vector<std::string_view> annotations;
    for (const Row& row : rows_) {
      if (row.is_call() || (row.flags & (kAsync | kOtherThread)) != 0) continue;
      HostRange range{kernel_threads_[row.thread], base_ + row.begin, base_ + row.end, row.order + 1};
      if (row.scope == kUserScope) {
        range.name = static_cast<std::int64_t>(annotations.size());
        annotations.push_back(texts_[row.name]);
      }
      ranges.push_back(range);
    }
    std::int64_t order = 0;  // less than any op's: a call is inside an op with the same begin and end
    for (const DeviceEvent& event : device_events(recording, std::move(ranges), annotations, texts_)) {
      Row row{event.begin_ns - base_,         event.end_ns - base_, --order,
              number_of_thread(event.thread), event.name,           0};
      row.device = event.device;
      row.stream = event.stream;
      row.launcher = event.launcher - 1;
      if (event.kind == DeviceEvent::Kind::annotation) row.scope = kUserScope;
      events_.has_devices = true;
      rows_.push_back(row);
    }
  }

  /// Memory changes outside all events become events of zero length.
  void add_uncovered() {
    std::vector<Row> added;
    std::int64_t covered = -1;
    std::size_t at = 0;
    for (const Allocation& allocation : allocations_) {
      for (; at < rows_.size() && rows_[at].begin <= allocation.ns; ++at)
        if (!rows_[at].is_call() && !rows_[at].is_work()) covered = std::max(covered, rows_[at].end);
      if (covered >= allocation.ns) continue;
      Row row{allocation.ns, allocation.ns, -1, allocation.thread, texts_.id("[memory]"), 0};
      row.cpu_bytes = allocation.cpu_bytes;
      row.device_bytes = allocation.device_bytes;
      added.push_back(row);
    }
    const auto middle = static_cast<std::ptrdiff_t>(rows_.size());
    rows_.insert(rows_.end(), added.begin(), added.end());
    std::inplace_merge(rows_.begin(), rows_.begin() + middle, rows_.end(), before);
  }

  void add_events() {
    std::vector<Open> events(threads_.size()), calls(threads_.size());
    std::unordered_map<std::int64_t, std::int64_t> by_order;
    const std::size_t first = events_.size();
    for (const Row& row : rows_) {
      if (row.is_work()) {
        add(row, kNone, kNone);
        continue;
      }
      const std::uint32_t call = calls[row.thread].around(row);
      if (row.is_call()) {
        calls[row.thread].levels.push_back({row.end, stacks_.call(call == kNone ? 0 : call, row.name)});
        continue;
      }
      const std::uint32_t parent = row.is_async() ? kNone : events[row.thread].around(row);
      if (!row.is_async())
        events[row.thread].levels.push_back({row.end, static_cast<std::uint32_t>(events_.size())});
      if (events_.has_devices) by_order.emplace(row.order, static_cast<std::int64_t>(events_.size()));
      add(row, parent, call);
    }
    for (std::size_t i = first; i < events_.size(); ++i) {
      std::int64_t& launcher = events_.launcher[i];
      if (launcher >= 0) launcher = by_order.at(launcher);
    }
  }

  void add(const Row& row, std::uint32_t parent, std::uint32_t call) {
    FunctionEvents& e = events_;
    e.begin_ns.push_back(row.begin);
    e.end_ns.push_back(row.end);
    e.parent.push_back(parent == kNone ? -1 : std::int64_t{parent});
    e.name.push_back(texts_[row.name].starts_with("ProfilerStep#") ? texts_.id("ProfilerStep*") : row.name);
    e.trace_name.push_back(row.name);
    e.overload.push_back(row.overload);
    e.inputs.push_back(row.inputs);
    e.stack.push_back(call == kNone ? 0 : stacks_.stack(call, texts_));
    e.thread.push_back(static_cast<std::int64_t>(threads_[row.thread]));
    e.forward_thread.push_back(static_cast<std::int64_t>(row.forward_thread));
    e.sequence.push_back(row.sequence);
    e.scope.push_back(row.scope);
    e.is_async.push_back(row.is_async());
    e.cpu_bytes.push_back(row.cpu_bytes);
    e.device_bytes.push_back(row.device_bytes);
    e.device.push_back(row.device);
    e.stream.push_back(row.stream);
    e.launcher.push_back(row.launcher);
  }

  void add_memory(std::size_t first) {
    if (allocations_.empty()) return;
    std::vector<std::int64_t> times, cpu{0}, device{0};
    for (const Allocation& allocation : allocations_) {
      times.push_back(allocation.ns);
      cpu.push_back(sum_of(cpu.back(), allocation.cpu_bytes));
      device.push_back(sum_of(device.back(), allocation.device_bytes));
    }
    const auto memory = texts_.id("[memory]");
    FunctionEvents& e = events_;
    for (std::size_t i = first; i < e.size(); ++i) {
      if (e.name[i] == memory || e.device[i] >= 0) continue;
      const auto from = std::ranges::lower_bound(times, e.begin_ns[i]) - times.begin();
      const auto to = std::ranges::upper_bound(times, e.end_ns[i]) - times.begin();
      e.cpu_bytes[i] = difference(cpu, from, to);
      e.device_bytes[i] = difference(device, from, to);
    }
  }

  static std::int64_t difference(const std::vector<std::int64_t>& sums, std::ptrdiff_t from,
                                 std::ptrdiff_t to) {
    return difference_of(sums[static_cast<std::size_t>(to)], sums[static_cast<std::size_t>(from)]);
  }

  /// Gives autograd's engine op the sequence number of the first backward op in it.
  void set_sequences(std::size_t first) {
    FunctionEvents& e = events_;
    for (std::size_t i = first; i < e.size(); ++i) {
      if (e.scope[i] != kBackwardScope || e.parent[i] < 0) continue;
      const auto above = static_cast<std::size_t>(e.parent[i]);
      if (e.sequence[above] >= 0 || !texts_[static_cast<std::size_t>(e.name[above])].starts_with(kEngineOp))
        continue;
      e.sequence[above] = e.sequence[i];
      e.forward_thread[above] = e.forward_thread[i];
    }
  }

  FunctionEvents events_;
  Interned texts_, signatures_ = with_none();
  PythonStacks stacks_;
  // State of the recording that is being read.
  std::int64_t base_ = 0;
  bool tells_of_devices_ = false;
  std::vector<Row> rows_;
  std::vector<Allocation> allocations_;
  std::vector<std::uint64_t> threads_;
  std::vector<std::uint32_t> kernel_threads_;
  std::unordered_map<std::uint32_t, std::uint32_t> thread_of_;  // by the thread's kernel id

  static Interned with_none() {
    Interned none;
    none.id("");
    return none;
  }
};

}  // namespace

FunctionEvents function_events(std::span<const Recording* const> recordings) {
  EventReader reader;
  for (const Recording* recording : recordings) reader.read(*recording);
  return reader.take();
}

}  // namespace stepscope::record
