// Replay and bound on recorded traces, and on generated ones whose truth is known.
#include <fstream>
#include <map>
#include <sstream>

#include "analyze/idle/bound_numbers.h"
#include "make_rank.h"
#include "support/traces.h"

namespace stepscope {
namespace {

/// The first readable trace in folder `part` of the recorded traces; nothing if there is none.
std::optional<trace::Trace> recorded(std::string_view part) {
  for (const std::string& path : test::recorded_traces()) {
    if (path.find("/traces/" + std::string(part) + "/") == std::string::npos) continue;
    const std::string one[] = {path};
    Result<trace::Trace> trace = read::open(one);
    if (trace.ok()) return std::move(trace).value();
  }
  return std::nullopt;
}

double number(const report::Table& table, const char* column, std::size_t row) {
  const report::Column* c = table.column(column);
  if (c == nullptr || row >= c->size()) {
    ADD_FAILURE() << column << " " << row;
    return 0;
  }
  const auto* reals = std::get_if<report::Reals>(&c->values);
  return reals != nullptr ? (*reals)[row] : static_cast<double>(std::get<report::Ints>(c->values)[row]);
}

/// ms per step that each change of `scale` saves; the last is that of all together.
std::vector<double> savings(const trace::Trace& trace, const std::string& scale) {
  const report::Report report = test::answer("whatif", trace, test::params({{"scale", scale}}));
  std::vector<double> out;
  for (std::size_t row = 0; row < report.tables[1].rows(); ++row)
    out.push_back(number(report.tables[1], "saving", row) / 1e6);
  return out;
}

TEST(RecordedReplay, ReproducesTheRecordedLength) {
  if (test::recorded_traces().empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  const std::map<std::string, double> most = {{"tb_samples/resnet50_num_workers_0", 0.002},
                                              {"tb_samples/resnet50_num_workers_4", 0.002},
                                              {"v100_ns_resolution", 0.002},
                                              {"v100_memory_events", 0.002},
                                              {"a100_nccl", 0.002},
                                              {"h100_vit", 0.002},
                                              {"h100_qwen1.5_0.5b", 0.002},
                                              {"b200_eager", 0.002},
                                              {"mi300_resnet_checkpointing", 0.05},
                                              {"diff_pair/v100", 0.05},
                                              {"diff_pair/a100", 0.05}};
  for (const auto& [part, error] : most) {
    const auto trace = recorded(part);
    ASSERT_TRUE(trace) << part;
    const report::Report report = test::answer("whatif", *trace);
    EXPECT_LE(number(report.tables[0], "error", 0), error) << part;
    EXPECT_TRUE(report.notes.empty()) << part;
  }
  const auto without = recorded("mi300_sglang_decode");  // 463 ms of device records are missing
  ASSERT_TRUE(without);
  const std::vector<std::string> notes = test::answer("whatif", *without).notes;
  ASSERT_EQ(notes.size(), 2u);  // the refusal, and what the recording lacks
  EXPECT_NE(notes[1].find("device records are missing"), std::string::npos) << notes[1];
}

TEST(RecordedReplay, LoaderFirstThenConvolutions) {
  const auto trace = recorded("tb_samples/resnet50_num_workers_0");
  if (!trace) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  const auto saved = savings(*trace, "data_loading=0; device:/onv/=0.5; host:/Optimizer.zero_grad/=0");
  ASSERT_EQ(saved.size(), 4u);
  EXPECT_NEAR(saved[0], 59.0, 0.1);  // 177.6 → 118.6 ms
  EXPECT_NEAR(saved[1], 2.55, 0.25);
  EXPECT_NEAR(saved[2], 6.0, 0.1);
  const auto both = savings(*trace, "data_loading=0; device:/onv/=0.5");
  EXPECT_NEAR(both[2] - both[0], 12.4, 0.75);  // without the loader the convolutions count
}

TEST(RecordedReplay, AHostThatNeverWaitsGainsNothingFromAFasterDevice) {
  const auto trace = recorded("v100_memory_events");
  if (!trace) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  for (const double saved : savings(*trace, "comm=0; kernel:/gemm/=0.5; compute=0.5"))
    EXPECT_NEAR(saved, 0.0, 0.05);
}

TEST(RecordedLedger, Bounds) {
  if (test::recorded_traces().empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  struct KnownBounds {
    const char* part;
    const char* bound;
    double step;  // ms
  };
  const KnownBounds known[] = {{"tb_samples/resnet50_num_workers_0", "host-bound", 175.2},
                               {"tb_samples/resnet50_num_workers_4", "mixed", 126.2},
                               {"v100_ns_resolution", "device-bound", 95.7},
                               {"v100_memory_events", "host-bound", 345.5},
                               {"a100_nccl", "host-bound", 221.9},
                               {"diff_pair/a100", "communication-bound", 76.7},
                               {"diff_pair/v100", "device-bound", 116.7},
                               {"h100_vit", "host-bound", 7.8},
                               {"mi300_resnet_checkpointing", "communication-bound", 19.0}};
  for (const KnownBounds& k : known) {
    const auto trace = recorded(k.part);
    ASSERT_TRUE(trace) << k.part;
    const report::Report report = test::answer("ledger", *trace);
    EXPECT_EQ(test::cells(report.tables[0], "bound"), test::Cells{k.bound}) << k.part;
    EXPECT_NEAR(number(report.tables[2], "per_step", 0) / 1e6, k.step, 0.1) << k.part;
  }
}

std::string sample_path(const std::string& name) {
  return std::string(STEPSCOPE_ROOT) + "/examples/samples/generated_" + name;
}

std::optional<trace::Trace> shipped(const std::string& path) {
  const std::string one[] = {std::string(STEPSCOPE_ROOT "/") + path};
  Result<trace::Trace> trace = read::open(one);
  EXPECT_TRUE(trace.ok()) << path;
  return trace.ok() ? std::optional(std::move(trace).value()) : std::nullopt;
}

// Without device events there is nothing to replay; where nine of ten are lost, the step is 0.3 % off.
TEST(GeneratedReplay, ReproducesTheRecordedLength) {
  for (const std::string& path : test::shipped_traces()) {
    if (path.find("/generated_") == std::string::npos) continue;
    const std::string one[] = {path};
    const Result<trace::Trace> trace = read::open(one);
    ASSERT_TRUE(trace.ok()) << path;
    const bool lost = path.find("lost_records") != std::string::npos;
    const bool cold = path.find("cold_start") != std::string::npos;
    const report::Report report = test::answer("whatif", *trace);
    EXPECT_LE(number(report.tables[0], "error", 0), lost ? 0.003 : 1e-9) << path;
    EXPECT_EQ(report.notes.size(), lost || cold ? 1u : 0u) << path;
  }
}

TEST(GeneratedReplay, AHostThatNeverWaitsGainsNothingFromAFasterDevice) {
  const auto trace = shipped("test/data/generated_xpu_optimizer.json.gz");
  ASSERT_TRUE(trace);
  for (const double saved : savings(*trace, "comm=0; kernel:/gemm/=0.5; compute=0.5"))
    EXPECT_NEAR(saved, 0.0, 1e-3);
}

TEST(GeneratedLedger, Bounds) {
  struct Known {
    const char *path, *bound;
    double step;  // ms, the median
  };
  const Known known[] = {
      {"examples/samples/generated_slow_input.json.gz", "host-bound", 21.97},
      {"examples/samples/generated_item_sync.json.gz", "mixed", 9.37},
      {"examples/samples/generated_tiny_kernels.json.gz", "host-bound", 8.12},
      {"examples/samples/generated_healthy.json.gz", "device-bound", 7.79},
      {"examples/samples/generated_exposed_comm/rank0.pt.trace.json.gz", "communication-bound", 4.20},
      {"test/data/generated_fp32.json.gz", "device-bound", 6.72},
      {"test/data/generated_rocm_checkpointing.json.gz", "device-bound", 3.08},
      {"test/data/generated_xpu_optimizer.json.gz", "host-bound", 2.26},
      {"test/data/generated_tensor_parallel/rank0.pt.trace.json.gz", "communication-bound", 0.71},
      {"test/data/generated_straggler/rank0.pt.trace.json.gz", "communication-bound", 3.49},
      {"test/data/generated_straggler/rank2.pt.trace.json.gz", "device-bound", 3.50}};
  for (const Known& k : known) {
    const auto trace = shipped(k.path);
    ASSERT_TRUE(trace) << k.path;
    const report::Report report = test::answer("ledger", *trace);
    EXPECT_EQ(test::cells(report.tables[0], "bound"), test::Cells{k.bound}) << k.path;
    EXPECT_NEAR(number(report.tables[2], "per_step", 0) / 1e6, k.step, 0.01) << k.path;
  }
}

/// Step length without a planted problem, as measured by the generator, which ran without the problem.
double true_step(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(sample_path(name) + ".truth.json").rdbuf();
  const std::size_t at = text.str().rfind("\"step_ns\":");
  return at == std::string::npos ? 0 : std::stod(text.str().substr(at + 10));
}

TEST(GeneratedReplay, FindsTheStepWithoutTheProblem) {
  const std::map<std::string, std::string> repairs = {{"slow_input", "data_loading=0"},
                                                      {"item_sync", "sync=0"}};
  for (const auto& [name, scale] : repairs) {
    const std::string one[] = {sample_path(name) + ".json.gz"};
    const Result<trace::Trace> trace = read::open(one);
    ASSERT_TRUE(trace.ok()) << name;
    const report::Report report = test::answer("whatif", *trace, test::params({{"scale", scale}}));
    EXPECT_EQ(number(report.tables[0], "error", 0), 0) << name;
    EXPECT_NEAR(number(report.tables[1], "step", 0) / true_step(name), 1, 0.03) << name;
  }
}

// No step is shorter than the work of its busiest stream, whatever host work is removed.
TEST(GeneratedReplay, NeverBelowWhatTheDeviceMustDo) {
  for (const char* name : {"slow_input", "item_sync", "tiny_kernels", "healthy"}) {
    const std::string one[] = {sample_path(name) + ".json.gz"};
    const Result<trace::Trace> trace = read::open(one);
    ASSERT_TRUE(trace.ok()) << name;
    const trace::Rank& rank = trace->ranks[0];
    const timeline::Interval window = analyze::window_of(rank, analyze::StepChoice({}));
    std::int64_t busiest = 0;
    for (const trace::Track& track : rank.tracks) {
      if (track.side != trace::Track::Side::device) continue;
      Column<timeline::Interval> work;
      for (trace::Row row = track.begin; row < track.end; ++row)
        if (is_device_work(rank.events.kind[row]))
          work.push_back({rank.events.start[row], rank.events.end[row]});
      busiest = std::max(busiest, timeline::IntervalSet::of(std::move(work)).length_in(window));
    }
    const report::Report report = test::answer(
        "whatif", *trace, test::params({{"scale", "data_loading=0;sync=0;launch=0;host:/ProfilerStep/=0"}}));
    for (std::size_t row = 0; row < report.tables[1].rows(); ++row)
      EXPECT_GE(number(report.tables[1], "step", row) * number(report.tables[0], "steps", 0) + 4,
                static_cast<double>(busiest))
          << name << " " << row;
  }
}

}  // namespace
}  // namespace stepscope
