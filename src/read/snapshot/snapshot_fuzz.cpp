// Hostile snapshots: nothing is run, memory stays bounded, and whatever was read keeps its invariants.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "derive/allocator/allocator_replay.h"
#include "read/snapshot/snapshot.h"
#include "support/check_trace.h"

namespace {

using namespace stepscope;

void check_device(const trace::Snapshot& snapshot, const trace::MemoryOfDevice& device) {
  const trace::AllocatorEvents& events = device.events;
  for (std::uint32_t e = 0; e < events.count(); ++e) {
    CHECK(events.stack[e] < snapshot.stacks.size());
    CHECK(events.stream[e] < snapshot.streams.size() && events.pool[e] < snapshot.pools.size());
    CHECK(events.size[e] >= 0);
  }
  std::uint64_t blocks = 0;
  for (const trace::MemorySegment& segment : device.segments) {
    CHECK(std::uint64_t{segment.first_block} + segment.blocks <= device.blocks.size());
    blocks += segment.blocks;
  }
  CHECK(blocks == device.blocks.size());
  for (const trace::MemoryBlock& block : device.blocks) CHECK(block.stack < snapshot.stacks.size());
  const derive::AllocatorReplay replay(device);
  CHECK(replay.requested_at(std::int64_t{events.count()} - 1) == replay.end);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read::is_snapshot(bytes);
  const auto source = memory_bytes(bytes.data(), bytes.size());
  auto parsed = read::parse_snapshot("file", *source, bytes.substr(0, 1 << 16));
  if (!parsed) {
    CHECK(!parsed.error().message.empty());
    return 0;
  }
  for (const trace::FrameId frame : parsed->snapshot->stacks.of_stacks)
    CHECK(frame < parsed->snapshot->stacks.frames.size());
  for (const trace::MemoryOfDevice& device : parsed->snapshot->devices)
    check_device(*parsed->snapshot, device);
  trace::Trace trace;
  read::seal(trace, std::move(*parsed), 1);
  test::check_analyses(trace);
  return 0;
}
