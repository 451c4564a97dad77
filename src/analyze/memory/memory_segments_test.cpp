// memory_segments over a small snapshot, counted by hand.
#include <gtest/gtest.h>

#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

// Two large segments of the default pool, of which one is free as a whole, a small one, and one of a private
// pool on another stream.
constexpr const char* kFourSegments = R"J({"segments": [
  {"device": 0, "address": 1048576, "total_size": 20000, "stream": 0, "segment_type": "large", "blocks": [
    {"address": 1048576, "size": 8192, "requested_size": 8000, "state": "active_allocated"},
    {"address": 1056768, "size": 3000, "requested_size": 7, "state": "inactive"},
    {"address": 1059768, "size": 4096, "requested_size": 4000, "state": "active_pending_free"},
    {"address": 1063864, "size": 4712, "requested_size": 7, "state": "inactive"}]},
  {"device": 0, "address": 3145728, "total_size": 30000, "stream": 0, "segment_type": "large", "blocks": [
    {"address": 3145728, "size": 30000, "requested_size": 7, "state": "inactive"}]},
  {"device": 0, "address": 4194304, "total_size": 2048, "stream": 0, "segment_type": "small",
    "is_expandable": true, "blocks": [
    {"address": 4194304, "size": 2048, "requested_size": 2000, "state": "active_allocated"}]},
  {"device": 0, "address": 5242880, "total_size": 4096, "stream": 255, "segment_type": "small",
    "segment_pool_id": [1, 0], "blocks": [
    {"address": 5242880, "size": 4096, "requested_size": 7, "state": "inactive"}]}],
  "device_traces": []})J";

TEST(MemorySegments, ByHand) {
  const trace::Trace trace = test::open_json(kFourSegments);
  const report::Table pools = test::answer("fragmentation", trace, test::params({{"at", "end"}})).tables[0];
  const std::pair<const char*, Cells> kOfPools[] = {{"pool", {"default", "default", "private 1.0"}},
                                                    {"requests", {"large", "small", "small"}},
                                                    {"stream", {"0", "0", "1"}},
                                                    {"segments", {"2", "1", "1"}},
                                                    {"reserved", {"50000", "2048", "4096"}},
                                                    {"used", {"12288", "2048", "0"}},
                                                    {"free", {"37712", "0", "4096"}},
                                                    {"largest_free", {"30000", "0", "4096"}},
                                                    {"releasable", {"30000", "0", "0"}},
                                                    {"split", {"7712", "0", "0"}},
                                                    {"waste", {"288", "48", "0"}}};
  for (const auto& [column, expected] : kOfPools) EXPECT_EQ(cells(pools, column), expected) << column;
  const report::Report report = test::answer("memory_segments", trace);
  const std::pair<const char*, Cells> kOfSegments[] = {
      {"address", {"0x100000", "0x400000", "0x300000", "0x500000"}},
      {"size", {"20000", "2048", "30000", "4096"}},
      {"stream", {"default", "default", "default", "0xff"}},
      {"pool", {"default", "default", "default", "private 1.0"}},
      {"class", {"large", "small", "large", "small"}},
      {"expandable", {"no", "yes", "no", "no"}},
      {"allocated", {"8192", "2048", "0", "0"}},
      {"free", {"7712", "0", "30000", "4096"}},
      {"largest_free", {"4712", "0", "30000", "4096"}},
      {"waste", {"288", "48", "0", "0"}}};
  for (const auto& [column, expected] : kOfSegments)
    EXPECT_EQ(cells(report.tables[0], column), expected) << column;
  EXPECT_TRUE(report.notes.empty());
}

TEST(MemorySegments, AddUpToTheSummary) {
  const trace::Trace trace = test::open_json(kFourSegments);
  const report::Table summary = test::answer("memory_summary", trace).tables[0];
  const report::Table segments = test::answer("memory_segments", trace).tables[0];
  const auto sum = [&](const char* column) {
    std::int64_t all = 0;
    for (const std::int64_t value : std::get<report::Ints>(segments.column(column)->values)) all += value;
    return all;
  };
  EXPECT_EQ(Cells{std::to_string(sum("size"))}, cells(summary, "end_reserved"));
  EXPECT_EQ(Cells{std::to_string(sum("allocated"))}, cells(summary, "end_allocated"));
  EXPECT_EQ(Cells{std::to_string(sum("free"))}, cells(summary, "free_cached"));
  EXPECT_EQ(sum("size"), sum("allocated") + sum("pending") + sum("free"));
}

}  // namespace
}  // namespace stepscope
