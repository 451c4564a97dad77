// Compares the tb_ analyses with numbers of the TensorBoard plugin 0.4.3 itself: for shipped traces, written
// to test/data/tb by bench/peers/plugin_numbers.py, and for the traces in ../shared/golden/tb. Times agree
// within 0.1 % or 1 µs, ratios within 0.1 % or 0.000001, counts exactly.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/tb/gpu.h"
#include "read/open.h"

namespace stepscope {
namespace {

using report::Params;
using report::Report;
using report::Table;
using simdjson::dom::element;
using simdjson::dom::object;

const std::string kShared = STEPSCOPE_ROOT "/../shared";

struct Golden {
  const char* name;
  const char* trace;
};
constexpr Golden kGoldens[] = {
    {"a100_nccl", "a100_nccl/rank-0.json.gz"},
    {"b200_eager", "b200_eager/trace.json.gz"},
    {"diff_a100", "diff_pair/a100/rank3.json.gz"},
    {"diff_v100", "diff_pair/v100/rank1.json.gz"},
    {"h100_qwen", "h100_qwen1.5_0.5b/trace.json.gz"},
    {"h100_vit", "h100_vit/trace.json.gz"},
    {"mi250", "mi250_toy/rank0.json.gz"},
    {"mi300_resnet", "mi300_resnet_checkpointing/trace.json.gz"},
    {"resnet50_nw0_a", "tb_samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz"},
    {"resnet50_nw4_a", "tb_samples/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz"},
    {"two_ranks_0", "two_ranks/rank-0.json.gz"},
    {"two_ranks_1", "two_ranks/rank-1.json.gz"},
    {"v100_memory_events", "v100_memory_events/rank1.json.gz"},
    {"v100_ns_resolution", "v100_ns_resolution/rank-0.1102.pt.trace.json.gz"},
};

// Only old dialects: the released plugin leaves out the category cuda_runtime of later ones.
constexpr Golden kShippedGoldens[] = {
    {"2021_workers", "test/data/generated_2021_workers.json.gz"},
    {"straggler_0", "test/data/generated_straggler/rank0.pt.trace.json.gz"},
    {"straggler_2", "test/data/generated_straggler/rank2.pt.trace.json.gz"},
};

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.name; }

double number(const element& value) {
  double real = 0;
  EXPECT_EQ(value.get_double().get(real), simdjson::SUCCESS);
  return real;
}

const report::Column& column(const Table& table, std::string_view name) {
  const report::Column* found = table.column(name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}
std::int64_t int_at(const Table& table, std::string_view name, std::size_t row) {
  return std::get<report::Ints>(column(table, name).values)[row];
}
double real_at(const Table& table, std::string_view name, std::size_t row) {
  return std::get<report::Reals>(column(table, name).values)[row];
}
const std::string& text_at(const Table& table, std::string_view name, std::size_t row) {
  return std::get<report::Texts>(column(table, name).values)[row];
}

/// The first row with that text, or the number of rows.
std::size_t row_of(const Table& table, std::string_view name, std::string_view text) {
  std::size_t row = 0;
  while (row < table.rows() && text_at(table, name, row) != text) ++row;
  return row;
}

void expect_time(std::int64_t ns, double us, const std::string& what) {
  EXPECT_NEAR(static_cast<double>(ns) / 1000.0, us, std::max(1.0, std::abs(us) * 0.001)) << what;
}
void expect_ratio(double ours, double theirs, const std::string& what) {
  EXPECT_NEAR(ours, theirs, std::max(1e-6, std::abs(theirs) * 0.001)) << what;
}

class TbGolden : public testing::TestWithParam<Golden> {
 protected:
  void SetUp() override {
    const std::string file = std::string(GetParam().name) + ".json";
    std::string golden = STEPSCOPE_ROOT "/test/data/tb/" + file;
    std::string path = std::string(STEPSCOPE_ROOT "/") + GetParam().trace;
    if (!std::filesystem::exists(golden)) {
      golden = kShared + "/golden/tb/" + file;
      path = kShared + "/traces/" + GetParam().trace;
    }
    if (!std::filesystem::exists(golden)) GTEST_SKIP() << "no golden file " << golden;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no trace " << path;
    ASSERT_EQ(parser_.load(golden).get(golden_), simdjson::SUCCESS);
    const std::vector<std::string> paths = {path};
    auto opened = read::open(paths);
    ASSERT_TRUE(opened.ok());
    trace_.emplace(std::move(*opened));
  }
  element golden(std::string_view key) const { return golden_[key]; }

  simdjson::dom::parser parser_;
  element golden_;
  std::optional<trace::Trace> trace_;
};

constexpr const char* kRoles[] = {"kernel",      "memcpy",   "memset", "communication", "runtime",
                                  "data_loader", "cpu_exec", "other",  "total"};

TEST_P(TbGolden, steps) {
  const Report report = analyze::tb::steps(analyze::Derived(*trace_, Params()), Params());
  const Table& table = report.tables.at(0);
  const object steps = golden("steps");
  // The golden file is keyed by the step's name: it holds the last of several steps with one name.
  std::map<std::string, std::size_t> last_row;
  for (std::size_t row = 0; row < table.rows(); ++row) last_row[text_at(table, "step", row)] = row;
  EXPECT_EQ(last_row.size(), steps.size());
  for (const auto [step, costs] : steps) {
    const auto found = last_row.find(std::string(step));
    ASSERT_NE(found, last_row.end()) << step;
    const std::size_t row = found->second;
    for (std::size_t r = 0; r < 9; ++r)
      expect_time(int_at(table, kRoles[r], row), number(costs.at(r)), std::string(step) + " " + kRoles[r]);
  }
  const Table& average = report.tables.at(1);
  double total = 0;
  for (std::size_t r = 0; r < 8; ++r)
    expect_time(int_at(average, "time", r), number(golden("average").at(r)),
                std::string("average ") + kRoles[r]);
  for (std::size_t row = 0; row < table.rows(); ++row)
    total += static_cast<double>(int_at(table, "total", row)) / 1000.0;
  EXPECT_NEAR(total / static_cast<double>(table.rows()), number(golden("average").at(8)), 1.0);
}

/// Compares a metric of the golden file, by device, with a column. Values that the file leaves out must be
/// empty, or 0 if `zero_left_out`: it lists only tensor-core ratios above 0.
void expect_metric(const Table& table, const char* name, const object& metric, double scale,
                   bool zero_left_out) {
  std::size_t met = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string device = std::to_string(int_at(table, "device", row));
    const double ours = real_at(table, name, row) * scale;
    element theirs;
    if (metric[device].get(theirs) == simdjson::SUCCESS) {
      expect_ratio(ours, number(theirs), name);
      ++met;
    } else {
      EXPECT_TRUE(std::isnan(ours) || (zero_left_out && ours == 0))
          << name << " of " << device << ": " << ours;
    }
  }
  EXPECT_EQ(met, metric.size()) << name;
}

TEST_P(TbGolden, devices) {
  const Report report = analyze::tb::devices(analyze::Derived(*trace_, Params()), Params());
  const Table& table = report.tables.at(0);
  std::vector<std::int64_t> ids;
  for (const element id : golden("gpu_ids")) ids.push_back(id.get_int64());
  EXPECT_EQ(std::get<report::Ints>(column(table, "device").values), ids);
  expect_metric(table, "utilization", golden("gpu_utilization"), 1, false);
  expect_metric(table, "sm_efficiency", golden("sm_efficiency"), 1, false);
  expect_metric(table, "occupancy", golden("occupancy"), 100, false);
  expect_metric(table, "tensor_core_share", golden("tensor_core_ratio"), 1, true);
}

TEST_P(TbGolden, operators) {
  const Report report = analyze::tb::operators(analyze::Derived(*trace_, Params()), Params());
  const Table& table = report.tables.at(0);
  const element theirs = golden("operators");
  EXPECT_EQ(static_cast<std::int64_t>(table.rows()), std::int64_t(theirs["rows"]));
  constexpr std::pair<const char*, const char*> kTimes[] = {{"host_total", "host"},
                                                            {"host_self", "host_self"},
                                                            {"device_total", "device"},
                                                            {"device_self", "device_self"}};
  std::int64_t calls = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) calls += int_at(table, "calls", row);
  EXPECT_EQ(calls, std::int64_t(theirs["sums"]["calls"]));
  for (const auto& [ours, key] : kTimes) {
    std::int64_t sum = 0;
    for (std::size_t row = 0; row < table.rows(); ++row) sum += int_at(table, ours, row);
    expect_time(sum, number(theirs["sums"][key]), std::string("sum of ") + ours);
  }
  for (const element op : theirs["top"]) {
    const std::string_view name = op["name"];
    const std::size_t row = row_of(table, "name", name);
    ASSERT_LT(row, table.rows()) << name;
    EXPECT_EQ(int_at(table, "calls", row), std::int64_t(op["calls"])) << name;
    EXPECT_EQ(text_at(table, "tc_eligible", row) == "yes", bool(op["tc_eligible"])) << name;
    for (const auto& [ours, key] : kTimes)
      expect_time(int_at(table, ours, row), number(op[key]), std::string(name) + " " + ours);
    expect_ratio(real_at(table, "tc_self_ratio", row), number(op["tc_self_ratio"]), std::string(name));
    expect_ratio(real_at(table, "tc_total_ratio", row), number(op["tc_total_ratio"]), std::string(name));
  }
}

TEST_P(TbGolden, kernels) {
  const Report report = analyze::tb::kernels(analyze::Derived(*trace_, Params()), Params());
  const Table& table = report.tables.at(0);
  const element theirs = golden("kernels");
  EXPECT_EQ(static_cast<std::int64_t>(table.rows()), std::int64_t(theirs["rows"]));
  for (const element kernel : theirs["top"]) {
    const std::string_view name = kernel["name"];
    const std::size_t row = row_of(table, "name", name);
    ASSERT_LT(row, table.rows()) << name;
    EXPECT_EQ(int_at(table, "count", row), std::int64_t(kernel["count"])) << name;
    EXPECT_EQ(text_at(table, "tensor_cores", row) == "yes", bool(kernel["tc_used"])) << name;
    expect_time(int_at(table, "total", row), number(kernel["sum"]), std::string(name) + " sum");
    for (const char* key : {"mean", "min", "max"})
      expect_time(int_at(table, key, row), number(kernel[key]), std::string(name) + " " + key);
    // The plugin's table has 0 if nothing was recorded; here the cell is empty.
    const double blocks = real_at(table, "blocks_per_sm", row), occupancy = real_at(table, "occupancy", row);
    expect_ratio(std::isnan(blocks) ? 0 : blocks, number(kernel["blocks_per_sm"]),
                 std::string(name) + " blocks");
    expect_ratio(std::isnan(occupancy) ? 0 : occupancy * 100, number(kernel["occupancy"]),
                 std::string(name) + " occupancy");
  }
}

TEST_P(TbGolden, inputsOfTheRecommendations) {
  const analyze::tb::Events events(*trace_, trace_->ranks.at(0));
  const analyze::tb::Forest forest(events);
  const analyze::tb::TensorCoreRatios ratios = analyze::tb::tensor_core_ratios(forest);
  expect_ratio(ratios.eligible, number(golden("tensor_core_eligible_kernel_ratio")), "eligible");
  expect_ratio(ratios.used, number(golden("tensor_core_used_ratio")), "used");
  EXPECT_EQ(forest.distributed_data_parallel, bool(golden("use_ddp")));
  EXPECT_EQ(forest.data_parallel, bool(golden("use_dp")));
}

TEST_P(TbGolden, recommendations) {
  const Report report = analyze::tb::recommendations(analyze::Derived(*trace_, Params()), Params());
  EXPECT_EQ(static_cast<std::int64_t>(report.tables.at(0).rows()), std::int64_t(golden("recommendations")));
}

std::string golden_name(const testing::TestParamInfo<Golden>& golden) { return golden.param.name; }
INSTANTIATE_TEST_SUITE_P(Shipped, TbGolden, testing::ValuesIn(kShippedGoldens), golden_name);
INSTANTIATE_TEST_SUITE_P(Traces, TbGolden, testing::ValuesIn(kGoldens), golden_name);

}  // namespace
}  // namespace stepscope
