// Hostile memory time lines: sums of their sizes stay defined, and every change is of a known category.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/check.h"
#include "derive/memory_records.h"
#include "read/memory_timeline/memory_timeline.h"
#include "trace/memory_timeline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read::is_memory_timeline(bytes);
  const auto source = memory_bytes(bytes.data(), bytes.size());
  const auto parsed = read::parse_memory_timeline("file", *source);
  if (!parsed) {
    CHECK(!parsed.error().message.empty());
    return 0;
  }
  const trace::MemoryTimeline& of = *parsed->memory_timeline;
  std::int64_t moved = 0;
  for (std::uint32_t i = 0; i < of.count(); ++i) {
    CHECK(of.time[i] >= 0 && of.category[i] < trace::kTimelineCategories);
    CHECK((of.action[i] == trace::TimelineAction::sum) == !of.has_actions);
    moved += std::abs(of.bytes[i]);
  }
  CHECK(moved <= derive::kMaxMoved);
  CHECK(parsed->rank.reading.complete || parsed->rank.reading.losses > 0);
  return 0;
}
