// Files with a very large number of something. A count checks each answer; an algorithm that is not linear
// would take minutes.
#include "make_rank.h"

namespace stepscope {
namespace {

std::string text(std::int64_t number) { return std::to_string(number); }

TEST(Many, Devices) {
  std::string events;
  for (int device = 0; device < 4000; ++device)
    events += R"({"ph":"X","cat":"kernel","name":"gemm_)" + text(device) + R"(","pid":)" + text(device) +
              R"(,"tid":7,"ts":)" + text(device) + R"(,"dur":4000},)";
  const trace::Trace trace = test::open_events(events + R"({"ph":"M"})");
  const report::Report devices = test::answer("devices", trace);
  EXPECT_EQ(devices.tables[0].rows(), 4000u);
  EXPECT_EQ(test::cells(devices.tables[0], "busy").back(), "4000000");
  const report::Report idle = test::answer("idle", trace);
  EXPECT_EQ(idle.tables[0].rows(), 4000u);  // each is idle before its kernel, after it, or both
}

// 20,000 waits on as many threads; each lasts from 0 until after the last of 20,000 kernels.
TEST(Many, LongWaitsAtOnce) {
  constexpr std::int64_t kMany = 20'000;
  std::string events;
  for (std::int64_t i = 0; i < kMany; ++i)
    events += R"({"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":9,"tid":)" + text(i) +
              R"(,"ts":0,"dur":)" + text(2 * kMany + i) +
              R"(},{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)" + text(2 * i) +
              R"(,"dur":1},)";
  const trace::Trace trace = test::open_events(events + R"({"ph":"M"})");
  const report::Report report = test::answer("synchronizations", trace);
  EXPECT_EQ(test::cells(report.tables[0], "count"), (test::Cells{text(kMany)}));
  EXPECT_EQ(test::cells(report.tables[0], "busy"), (test::Cells{text(kMany * kMany * 1000)}));
}

// 20,000 schemas of 12 args each, one event per schema.
TEST(Many, Schemas) {
  constexpr std::int64_t kMany = 20'000;
  std::string events;
  for (std::int64_t i = 0; i < kMany; ++i) {
    events += R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":)" + text(i % 100) + R"(,"ts":)" +
              text(i) + R"(,"dur":1,"args":{"k)" + text(i) + "\":0";
    for (int k = 0; k < 10; ++k) events += ",\"f" + text(k) + "\":1";
    events += ",\"External id\":" + text(i + 1) + "}},";
  }
  const trace::Trace trace = test::open_events(events + R"({"ph":"M"})");
  EXPECT_GE(trace.schemas.size(), static_cast<std::uint32_t>(kMany) * 12);
  const trace::ArgReader external(trace, trace.ranks[0], "External id");
  std::int64_t sum = 0;
  for (trace::Row row = 0; row < trace.ranks[0].events.size(); ++row) sum += external.integer_or(row, 0);
  EXPECT_EQ(sum, kMany * (kMany + 1) / 2);
  EXPECT_EQ(test::cells(test::answer("operators", trace).tables[0], "calls"), (test::Cells{text(kMany)}));
}

}  // namespace
}  // namespace stepscope
