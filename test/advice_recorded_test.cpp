// The advice for recorded traces: what bounds the step, what to change first, and which rules stay silent.
#include "advice_checks.h"
#include "report/formats/json.h"

namespace stepscope {
namespace {

using test::advice;
using test::Cells;
using test::ms;
using test::saving;

std::string path_of(std::string_view part) {
  for (const std::string& path : test::recorded_traces())
    if (path.find("/traces/" + std::string(part)) != std::string::npos) return path;
  return "";
}

const test::KnownAdvice kKnown[] = {
    {"tb_samples/resnet50_num_workers_0/", "host-bound", "I01", {"H03", "H04", "P01"}, {"H01", "S01", "I02"}},
    // C01 was once ranked first, at 2.8 to 7.8 ms per step: a replay without these copies saves 36.5 ms in
    // the first recorded step and 0.17 to 0.34 ms in each of the other five.
    {"tb_samples/resnet50_num_workers_4/",
     "mixed",
     "H04",
     {"H03", "C01", "P01"},
     {"I01", "I02", "S01", "H01"}},
    {"v100_ns_resolution/", "device-bound", "P01", {}, {"H01", "H09", "N10", "K01", "C07"}},
    {"v100_memory_events/",
     "host-bound",
     "H01",
     {"N02", "H04", "H03", "A04"},
     {"N01", "N06", "N09", "C05", "K01"}},
    {"a100_nccl/", "host-bound", "H01", {"N10", "N09"}, {"N01", "N03", "S01", "C07", "K01"}},
    {"diff_pair/a100/", "communication-bound", "N01", {}, {"S01", "N02", "N06", "K01", "C01", "C04"}},
    {"diff_pair/v100/", "device-bound", "P01", {"C05", "N01"}, {"S01", "N09", "H01", "H09", "N06", "K01"}},
    {"h100_qwen1.5_0.5b/", "device-bound", "K01", {}, {"H01", "P01", "S01", "C05", "C08", "K07"}},
    {"h100_vit/", "host-bound", "H01", {}, {"P01", "K01", "K02", "K04", "K07", "C07"}},
    {"b200_eager/", "host-bound", "H01", {}, {"N02", "C04", "C05", "P01", "K02"}},
    {"mi300_resnet_checkpointing/",
     "communication-bound",
     "N03",
     {"C07", "K09", "N09"},
     {"N01", "P01", "K01", "H01", "H02"}},
    {"mi300_sglang_decode/", "unknown", "", {}, {"H01", "S01"}},
    {"two_ranks/", "unknown", "", {}, {"H01", "N01", "N03"}},
    {"mtia_inference/", "mixed", "", {}, {"S01", "H01"}},
    {"mi300_torch_compile/", "too little to judge", "", {}, {}},
    {"critical_path/simple_add", "unknown", "", {}, {"H01", "A01", "S01", "P01"}},
    {"a100_cupti_ranges/", "host times only", "", {}, {}},
    {"cpu_only/", "host times only", "H16", {}, {}},
    {"no_rank/", "host times only", "", {}, {}},
    {"triton/", "too little to judge", "", {}, {}},
    {"critical_path/cuda_event_sync.", "too little to judge", "", {}, {}},
    {"critical_path/cuda_event_sync_multi", "too little to judge", "", {}, {}},
    {"mi250_toy/", "too little to judge", "", {}, {}},
};

TEST(RecordedAdvice, WordFindingsAndSilence) {
  if (test::recorded_traces().empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  for (const test::KnownAdvice& k : kKnown) test::expect_advice(path_of(k.part), k);
}

// For every recording: the findings of the families input, host, waits and graphs, and the outcome of the
// advice.
TEST(RecordedAdvice, InputHostWaitsAndGraphs) {
  if (test::recorded_traces().empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  struct Outcome {
    const char *part, *outcome;
    Cells ids;
  };
  const Outcome outcomes[] = {
      {"tb_samples/resnet50_num_workers_0/", "findings", {"H03", "H04", "I01"}},
      {"tb_samples/resnet50_num_workers_4/", "findings", {"H03", "H04", "I06"}},
      {"v100_ns_resolution/", "findings", {}},
      {"v100_memory_events/", "findings", {"H01", "H03", "H04"}},
      {"a100_nccl/", "findings", {"H01"}},
      {"diff_pair/a100/", "findings", {"H15"}},
      {"diff_pair/v100/", "findings", {}},
      {"h100_qwen1.5_0.5b/", "", {}},
      {"h100_vit/", "findings", {"H01"}},
      {"b200_eager/", "findings", {"H01"}},
      {"mi300_resnet_checkpointing/", "findings", {}},
      {"mi300_sglang_decode/", "cannot tell", {}},
      {"two_ranks/", "cannot tell", {}},
      {"mi300_torch_compile/", "not a step", {}},
      {"mtia_inference/", "no known fix", {}},
      {"critical_path/simple_add", "cannot tell", {}},
      {"a100_cupti_ranges/", "cannot tell", {}},
      {"cpu_only/", "cannot tell", {"H16"}},
      {"no_rank/", "cannot tell", {}},
      {"triton/", "not a step", {}},
      {"critical_path/cuda_event_sync.", "not a step", {}},
      {"critical_path/cuda_event_sync_multi", "not a step", {}},
      {"mi250_toy/", "not a step", {}},
  };
  for (const Outcome& k : outcomes) {
    const report::Report report = advice(path_of(k.part));
    ASSERT_EQ(report.tables.size(), 3u) << k.part;
    if (*k.outcome != '\0') {
      EXPECT_EQ(test::cells(report.tables[0], "outcome"), Cells{k.outcome}) << k.part;
    }
    EXPECT_EQ(test::ids_of(report, "IHSG"), k.ids) << k.part;
  }
}

// One step of one recording lost its CPU (H09, within I06); no other recorded step is such an outlier.
TEST(RecordedAdvice, OneStepSharesItsCpu) {
  if (test::recorded_traces().empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  for (const std::string& path : test::recorded_traces()) {
    const report::Table findings = advice(path).tables[1];
    const Cells ids = test::cells(findings, "id");
    const auto shared = std::find(ids.begin(), ids.end(), "I06");
    EXPECT_EQ(shared != ids.end(), path.find("resnet50_num_workers_4") != std::string::npos) << path;
    EXPECT_EQ(std::count(ids.begin(), ids.end(), "H09"), 0) << path;
    if (shared == ids.end()) continue;
    const std::string evidence =
        test::cells(findings, "evidence")[static_cast<std::size_t>(shared - ids.begin())];
    EXPECT_NE(evidence.find("H09: Step 9 took 164 ms against a median of 126 ms"), std::string::npos)
        << evidence;
  }
}

// Measured with workers, the same program took 36.5 ms less by its mean step, 49.0 ms by its median.
TEST(RecordedAdvice, TheLoaderIsWorthWhatItsRepairGave) {
  const std::string path = path_of("tb_samples/resnet50_num_workers_0/");
  if (path.empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  const report::Report report = advice(path);
  const report::Table& findings = report.tables[1];
  EXPECT_NEAR(ms(report.tables[0], "together_high")[0], 65.0, 0.5);  // the optimizer's loop is then hidden
  EXPECT_LE(ms(findings, "saving_low")[0], 36.5);
  EXPECT_GE(ms(findings, "saving_high")[0], 49.0);
  // Lower precision saves little while the loader limits the step, and four times as much afterwards.
  const Cells ids = test::cells(findings, "id");
  // The loader hides the optimizer's loop (H03): it is listed after findings that add more, and counts again
  // once they are done.
  EXPECT_EQ(ids, (Cells{"I01", "H04", "P01", "H03"}));
  EXPECT_EQ(test::cells(findings, "when"), (Cells{"now", "now", "next", "next"}));
  EXPECT_NEAR(ms(findings, "saving_high")[2], 2.65, 0.2);
  EXPECT_GE(ms(findings, "after_high")[2], 12.4);
  EXPECT_GE(ms(findings, "after_high")[3], 6);
}

TEST(RecordedAdvice, SavingsAreOfTheSizeThatTheStepAllows) {
  if (test::recorded_traces().empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  struct Range {
    const char *part, *id;
    double low, high;
  };
  const Range ranges[] = {
      {"tb_samples/resnet50_num_workers_4/", "C01", 0, 1.78},  // of the steps after the first
      {"v100_ns_resolution/", "P01", 19.6, 39.1},  // 58.7 ms of such kernels; the host needs 37 of 97 ms
      {"v100_memory_events/", "N02", 18.8, 31.6},
      {"diff_pair/v100/", "C05", 5.5, 16.5},   // 15.6 as recorded; recording took 5 % of the host's time
      {"diff_pair/v100/", "P01", 10.2, 21.2},  // 20.3, likewise
      // Next two rows: the host takes 33.0 of 35.2 and 16.2 of 18.8 ms, recording 16.1 and 38.8 % of that.
      {"h100_qwen1.5_0.5b/", "K01", 2.23, 7.2},
      {"mi300_resnet_checkpointing/", "N03", 2.6, 8.8},
      {"h100_vit/", "H01", 1.08, 3.24},                    // of 6.50 ms late, 2.9 ms are due to recording
      {"mi300_resnet_checkpointing/", "C07", 0.31, 0.64},  // 1.66 ms, partly overlapped by collectives
      {"a100_nccl/", "N09", 0, 5.95},                      // 161 ranges of 55 µs, 37 µs of it the copy
      {"mi300_resnet_checkpointing/", "N09", 0, 0.28},
      {"mi300_resnet_checkpointing/", "K09", 0, 0.36},  // 16 % of 6.4 ms of kernels, likewise
  };
  for (const Range& range : ranges) {
    const auto [low, high] = saving(advice(path_of(range.part)), range.id);
    EXPECT_NEAR(low, range.low, 0.03 * range.high) << range.part << " " << range.id;
    EXPECT_NEAR(high, range.high, 0.03 * range.high) << range.part << " " << range.id;
  }
}

TEST(RecordedAdvice, WhatLimitsNextAndWhatTheProfilerHides) {
  if (test::recorded_traces().empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  EXPECT_EQ(test::cells(advice(path_of("mi300_resnet_checkpointing/")).tables[1], "aside")[0],
            "Then the host keeps the step at 16.2 ms; up to 8.8 ms if no profiler slows the host");
  const report::Report qwen = advice(path_of("h100_qwen1.5_0.5b/"));
  EXPECT_NE(test::cells(qwen.tables[0], "headline")[0].find("nearly balanced"), std::string::npos);
  EXPECT_EQ(test::cells(qwen.tables[1], "aside")[0].substr(0, 41),
            "Then the host keeps the step at 33.0 ms; ");
}

// The device's matrix work could take a third of its time, but the host keeps the step as long: P01 saves
// about 1.5 ms together with the others, and about 14.8 ms once they are done.
TEST(RecordedAdvice, WhatSavesMostOnceOthersAreDoneComesNext) {
  const std::string path = path_of("tb_samples/resnet50_num_workers_4/");
  if (path.empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  const report::Report report = advice(path);
  const report::Table& findings = report.tables[1];
  const Cells ids = test::cells(findings, "id");
  const auto at = static_cast<std::size_t>(std::ranges::find(ids, "P01") - ids.begin());
  ASSERT_LT(at, ids.size());
  EXPECT_EQ(test::cells(findings, "when")[at], "next");
  EXPECT_NEAR(ms(findings, "saving_high")[at], 1.5, 0.1);
  EXPECT_NEAR(ms(findings, "after_high")[at], 14.8, 0.7);
}

// mi300: Q03 counts 968 of 3,653 device events, all of which ended before the first step began.
TEST(RecordedAdvice, WorkFromBeforeTheStepsIsNoDefect) {
  if (test::recorded_traces().empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  const report::Report report = advice(path_of("mi300_resnet_checkpointing/"));
  const Cells ids = test::cells(report.tables[2], "id");
  const auto at = static_cast<std::size_t>(std::ranges::find(ids, "Q03") - ids.begin());
  ASSERT_LT(at, ids.size());
  EXPECT_EQ(test::cells(report.tables[2], "class")[at], "C");
}

// 404 collectives per step; 95 % of their time is in collectives of 100 µs and more.
TEST(RecordedAdvice, NoLatencyIsClaimedOfLongCollectives) {
  const std::string path = path_of("v100_memory_events/");
  if (path.empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  const report::Table findings = advice(path).tables[1];
  const Cells ids = test::cells(findings, "id");
  const auto at = static_cast<std::size_t>(std::find(ids.begin(), ids.end(), "N02") - ids.begin());
  ASSERT_LT(at, ids.size());
  EXPECT_EQ(test::cells(findings, "title")[at],
            "404 collectives per step: issuing them one by one takes 37.7 ms on the host");
  EXPECT_EQ(test::cells(findings, "confidence")[at], "medium");
}

TEST(RecordedAdvice, SmallGridsAndFreeMemoryAreSaidWithLaunches) {
  const std::string path = path_of("h100_vit/");
  if (path.empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  const std::string evidence = test::cells(advice(path).tables[1], "evidence")[0];
  EXPECT_NE(
      evidence.find("78.4 % of kernel time runs on fewer blocks than the device has multiprocessors (K02)"),
      std::string::npos)
      << evidence;
  EXPECT_NE(evidence.find("of device memory are used at the peak, so a batch twice as large fits"),
            std::string::npos)
      << evidence;
}

// One recording recomputes activations (K09). Another trains convolutions with cuDNN's heuristic choice, but
// lower precision replaces the same kernels and hides what that costs. No custom kernel has few threads, no
// matrix product's last wave is nearly empty, no clock drops.
TEST(RecordedAdvice, KernelsThatCouldBeFasterAsTheyAre) {
  if (test::recorded_traces().empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  constexpr std::string_view kRules[] = {"K03", "K05", "K08", "K09", "K10"};
  for (const std::string& path : test::recorded_traces()) {
    Cells found;
    for (const std::string& id : test::cells(advice(path).tables[1], "id"))
      if (std::ranges::find(kRules, id) != std::end(kRules)) found.push_back(id);
    const bool checkpointing = path.find("mi300_resnet_checkpointing") != std::string::npos;
    EXPECT_EQ(found, checkpointing ? Cells{"K09"} : Cells{}) << path;
  }
}

constexpr std::string_view kShorterKernels[] = {"P01", "P03", "K01", "K02", "K03", "K05",
                                                "K08", "K09", "K10", "C05", "C07", "C08"};

// No saving that leaves kernel durations unchanged exceeds the step less its compute time; all together save
// at most their sum.
TEST(RecordedAdvice, SavingsHaveBounds) {
  for (const std::string& path : test::recorded_traces()) {
    const report::Report report = advice(path);
    if (report.tables[0].rows() != 1) continue;
    const Result<trace::Trace> trace = read::open(std::vector<std::string>{path});
    const report::Table times = test::answer("overview", *trace).tables[1];
    const Cells facts = test::cells(times, "fact");
    const auto fact = [&](const char* name) {
      return ms(
          times,
          "time")[static_cast<std::size_t>(std::find(facts.begin(), facts.end(), name) - facts.begin())];
    };
    const double steps = std::max(1.0, std::stod(test::cells(report.tables[0], "steps")[0]));
    const Cells ids = test::cells(report.tables[1], "id"), when = test::cells(report.tables[1], "when");
    const std::vector<double> low = ms(report.tables[1], "saving_low"),
                              high = ms(report.tables[1], "saving_high");
    double sum = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      EXPECT_LE(low[i], high[i]) << path << " " << ids[i];
      if (std::ranges::find(kShorterKernels, ids[i]) == std::end(kShorterKernels)) {
        EXPECT_LE(high[i] * steps, fact("window") - std::max(0.0, fact("compute")) + 1e-4) << path << ids[i];
      }
      if (when[i] == "now") sum += std::max(0.0, high[i]);
    }
    EXPECT_LE(ms(report.tables[0], "together_high")[0], sum + 1e-4) << path;
    const double together_low = ms(report.tables[0], "together_low")[0];
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (together_low >= 0 && when[i] == "now") {
        EXPECT_GE(together_low, low[i]) << path << " " << ids[i];
      }
    }
    EXPECT_LE(ms(report.tables[0], "together_low")[0], ms(report.tables[0], "together_high")[0]) << path;
  }
}

TEST(RecordedAdvice, ThreadsChangeNothing) {
  const std::string path = path_of("tb_samples/resnet50_num_workers_0/");
  if (path.empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  EXPECT_EQ(report::to_json(advice(path, 1)), report::to_json(advice(path, 3)));
}

}  // namespace
}  // namespace stepscope
