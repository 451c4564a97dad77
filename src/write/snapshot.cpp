#include "write/snapshot.h"

#include <algorithm>
#include <span>
#include <vector>

#include "derive/allocator/allocator_state.h"
#include "write/output.h"
#include "write/pickle.h"

namespace stepscope::write {
namespace {

using derive::AllocatorReplay;
using trace::MemoryAction;
using trace::MemoryBlock;
using trace::MemoryOfDevice;
using trace::MemorySegment;

constexpr std::uint32_t kUnwritten = 0xFFFFFFFF;

class Writer {
 public:
  Writer(const trace::Trace& trace, const trace::Snapshot& snapshot, Pickle& out)
      : trace_(trace),
        snapshot_(snapshot),
        out_(out),
        frames_(snapshot.stacks.frames.size(), kUnwritten),
        stacks_(snapshot.stacks.size(), kUnwritten) {}

  void write(const std::vector<SnapshotWindow>& windows) {
    const auto window_of = [&](const MemoryOfDevice& device) {
      const auto at = static_cast<std::size_t>(&device - snapshot_.devices.data());
      return at < windows.size() ? windows[at] : SnapshotWindow{};
    };
    out_.begin_dict();
    out_.key("segments");
    out_.begin_list();
    for (const MemoryOfDevice& device : snapshot_.devices) put_segments(device, window_of(device).until);
    out_.end_list();
    out_.key("device_traces");
    put_traces(window_of);
    put_settings();
    put_marks();
    for (const auto& [key, value] : snapshot_.metadata) {
      out_.key(key);
      out_.json(value);
    }
    out_.end_dict();
    out_.stop();
  }

 private:
  void put_stack(trace::StackId stack) {
    if (stacks_[stack] != kUnwritten) return out_.again(stacks_[stack]);
    out_.begin_list();
    stacks_[stack] = out_.remember();
    for (const trace::FrameId id : snapshot_.stacks[stack]) {
      out_.item();
      put_frame(id);
    }
    out_.end_list();
  }

  void put_frame(trace::FrameId id) {
    if (frames_[id] != kUnwritten) return out_.again(frames_[id]);
    const trace::Frame& frame = snapshot_.stacks.frames[id];
    out_.begin_dict();
    frames_[id] = out_.remember();
    put_text("name", trace_.text(frame.name));
    put_text("filename", trace_.text(frame.file));
    put_integer("line", frame.line);
    out_.end_dict();
  }

  void put_text(std::string_view key, std::string_view value) {
    out_.key(key);
    out_.text(value);
  }
  void put_integer(std::string_view key, std::int64_t value) {
    out_.key(key);
    out_.integer(value);
  }
  void put_address(std::uint64_t value) {
    out_.key("address");
    out_.address(value);
  }
  void put_pool(std::uint16_t pool) {
    out_.key("segment_pool_id");
    const trace::PoolKey key = pool < snapshot_.pools.size() ? snapshot_.pools[pool] : trace::PoolKey{};
    out_.pair(key.first, key.second);
  }

  void put_block(const MemoryBlock& block) {
    using State = MemoryBlock::State;
    out_.item();
    out_.begin_dict();
    put_address(block.address);
    put_integer("size", block.size);
    put_integer("requested_size", block.requested);
    put_text("state", block.state == State::active         ? "active_allocated"
                      : block.state == State::pending_free ? "active_pending_free"
                                                           : "inactive");
    out_.key("frames");
    put_stack(block.stack);
    out_.end_dict();
  }

  /// `segment` with the sums of its blocks.
  void put_segment(const MemoryOfDevice& device, MemorySegment segment, std::span<const MemoryBlock> blocks) {
    segment.allocated = segment.active = segment.requested = 0;
    for (const MemoryBlock& block : blocks) {
      if (block.state == MemoryBlock::State::inactive) continue;
      if (block.state == MemoryBlock::State::active) segment.allocated += block.size;
      segment.active += block.size;
      segment.requested += block.requested;
    }
    out_.item();
    out_.begin_dict();
    put_integer("device", device.number);
    put_address(segment.address);
    put_integer("total_size", segment.size);
    put_integer("allocated_size", segment.allocated);
    put_integer("active_size", segment.active);
    put_integer("requested_size", segment.requested);
    put_integer("stream", snapshot_.streams[segment.stream]);
    put_text("segment_type", segment.large ? "large" : "small");
    put_pool(segment.pool);
    out_.key("is_expandable");
    out_.boolean(segment.expandable);
    out_.key("frames");
    put_stack(segment.stack);
    out_.key("blocks");
    out_.begin_list();
    for (const MemoryBlock& block : blocks) put_block(block);
    out_.end_list();
    out_.end_dict();
  }

  void put_segments(const MemoryOfDevice& device, const std::optional<std::int64_t>& until) {
    if (!until || *until + 1 >= device.events.count()) {
      for (const MemorySegment& segment : device.segments)
        put_segment(device, segment, std::span(device.blocks).subspan(segment.first_block, segment.blocks));
      return;
    }
    const AllocatorReplay replay(device);
    for (const derive::HeldSegment& held : derive::segments_at(replay, *until)) {
      MemorySegment segment;
      segment.address = held.address;
      segment.size = held.size;
      segment.stream = held.stream;
      segment.pool = held.pool;
      segment.large = held.large;
      segment.expandable = held.expandable;
      std::vector<MemoryBlock> blocks;
      for (const derive::UsedBlock& used : held.used)
        blocks.push_back({used.allocation.address, used.size, used.allocation.bytes, used.allocation.stack,
                          used.pending ? MemoryBlock::State::pending_free : MemoryBlock::State::active});
      for (const derive::Gap& gap : held.gaps) blocks.push_back({gap.address, gap.size, 0});
      std::ranges::sort(blocks, {}, &MemoryBlock::address);
      put_segment(device, segment, blocks);
    }
  }

  template <class WindowOf>
  void put_traces(WindowOf window_of) {
    constexpr std::int64_t kMostDevices = 4096;
    out_.begin_list();
    std::int64_t number = 0;
    for (const MemoryOfDevice& device : snapshot_.devices) {
      if (device.number < number || device.number >= kMostDevices) continue;
      for (; number < device.number; ++number) put_empty();
      ++number;
      out_.item();
      out_.begin_list();
      const SnapshotWindow window = window_of(device);
      const std::int64_t last = std::int64_t{device.events.count()} - 1;
      const std::int64_t from = std::max<std::int64_t>(window.since.value_or(-1), -1) + 1;
      auto extra = device.extras.begin();
      for (std::int64_t e = from; e <= std::min(last, window.until.value_or(last)); ++e)
        put_event(device, static_cast<std::uint32_t>(e), extra);
      out_.end_list();
    }
    out_.end_list();
  }
  void put_empty() {
    out_.item();
    out_.begin_list();
    out_.end_list();
  }

  void put_event(const MemoryOfDevice& device, std::uint32_t e,
                 std::vector<trace::EventExtra>::const_iterator& extra) {
    const trace::AllocatorEvents& events = device.events;
    out_.item();
    out_.begin_dict();
    put_text("action", name_of(events.action[e]));
    if (events.address[e] != trace::kNoAddress) {
      out_.key(events.action[e] == MemoryAction::oom ? "device_free" : "addr");
      out_.address(events.address[e]);
    }
    put_integer("size", events.size[e]);
    put_integer("stream", snapshot_.streams[events.stream[e]]);
    if (!events.time.empty() && events.time[e] != trace::kNoTime)
      put_integer("time_us", events.time[e] / 1000);
    if (!events.metadata.empty() && events.metadata[e] != trace::kEmptyString)
      put_text("user_metadata", trace_.text(events.metadata[e]));
    if (!events.context.empty() && events.context[e] != trace::kEmptyString)
      put_text("compile_context", trace_.text(events.context[e]));
    while (extra != device.extras.end() && extra->event < e) ++extra;
    for (; extra != device.extras.end() && extra->event == e; ++extra) {
      out_.key(trace_.text(extra->key));
      out_.json(trace_.text(extra->value));
    }
    out_.key("frames");
    put_stack(events.stack[e]);
    out_.end_dict();
  }

  void put_settings() {
    if (snapshot_.settings.empty()) return;
    out_.key("allocator_settings");
    out_.begin_dict();
    for (const auto& [key, value] : snapshot_.settings) {
      out_.key(key);
      out_.json(value);
    }
    out_.end_dict();
  }

  void put_marks() {
    if (snapshot_.marks.empty()) return;
    out_.key("external_annotations");
    out_.begin_list();
    for (const trace::MemoryMark& mark : snapshot_.marks) {
      out_.item();
      out_.begin_dict();
      put_text("stage", mark.begin ? "START" : "END");
      put_text("name", trace_.text(mark.name));
      put_integer("device", mark.device);
      put_integer("time_us", mark.time / 1000);
      out_.end_dict();
    }
    out_.end_list();
  }

  const trace::Trace& trace_;
  const trace::Snapshot& snapshot_;
  Pickle& out_;
  std::vector<std::uint32_t> frames_, stacks_;  ///< their numbers in the pickle
};

}  // namespace

std::optional<Error> export_snapshot(const trace::Trace& trace, const trace::Rank& rank,
                                     const std::vector<SnapshotWindow>& windows, const std::string& path) {
  auto output = Output::open(path);
  if (!output) return output.error();
  Pickle pickle([&](std::string_view piece) { return output->write(piece); });
  Writer(trace, *rank.snapshot, pickle).write(windows);
  return output->finish();
}

}  // namespace stepscope::write
