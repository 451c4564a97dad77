// The advice for shipped traces: counterparts of the tests in advice_recorded_test.cpp, planted problems.
#include "advice_checks.h"

namespace stepscope {
namespace {

using test::advice;
using test::Cells;
using test::ms;

std::string at(std::string_view path) { return std::string(STEPSCOPE_ROOT "/").append(path); }
std::string sample(std::string_view name) { return at("examples/samples/generated_").append(name); }
std::string data(std::string_view name) { return at("test/data/generated_").append(name); }

struct Shipped {
  std::string path;
  test::KnownAdvice known;
  const char* outcome;
  Cells host;  ///< findings of input, host, waits and graphs
};

std::vector<Shipped> shipped() {
  const std::string ours = at("examples/samples/");
  return {
      {sample("slow_input.json.gz"), {"", "host-bound", "I01", {}, {"H01", "S01"}}, "findings", {"I01"}},
      {sample("item_sync.json.gz"), {"", "mixed", "S01", {}, {"H01", "I01"}}, "findings", {"S01"}},
      {sample("tiny_kernels.json.gz"),
       {"", "host-bound", "H05", {"H01"}, {"S01"}},
       "findings",
       {"H01", "H05"}},
      {sample("healthy.json.gz"), {"", "device-bound", "", {}, {"P01", "K01"}}, "nothing is wrong", {}},
      {sample("exposed_comm"), {"", "communication-bound", "N06", {}, {"N01", "N05"}}, "findings", {}},
      {data("2021_workers.json.gz"), {"", "host-bound", "I02", {}, {"I01", "H01"}}, "findings", {"I02"}},
      {data("rocm_checkpointing.json.gz"), {"", "device-bound", "K09", {"K01"}, {"H01"}}, "findings", {}},
      {data("xpu_optimizer.json.gz"), {"", "host-bound", "H03", {"K01"}, {"I01"}}, "findings", {"H03"}},
      {data("fp32.json.gz"), {"", "device-bound", "P01", {}, {"H01", "K01", "K09"}}, "findings", {}},
      {data("inference.json.gz"), {"", "mixed", "C01", {}, {"I01", "H01"}}, "findings", {}},
      {data("cold_start.json.gz"), {"", "unknown", "", {}, {"H01", "A01"}}, "cannot tell", {}},
      {data("lost_records.json.gz"), {"", "unknown", "I02", {}, {"H01", "S01"}}, "findings", {"I02"}},
      {data("tensor_parallel"), {"", "communication-bound", "N01", {}, {"N05", "N06"}}, "findings", {}},
      {data("straggler"), {"", "communication-bound", "N05", {}, {"N01", "H01"}}, "findings", {}},
      {ours + "cnn.pt.trace.json.gz",
       {"", "host times only", "H10", {}, {"H03", "I01"}},
       "cannot tell",
       {"H10"}},
      {ours + "mlp_loader_in_main.pt.trace.json.gz",
       {"", "host times only", "I01", {"H10"}, {"I02"}},
       "findings",
       {"H10", "I01"}},
      {ours + "mlp_two_workers.pt.trace.json.gz",
       {"", "host times only", "H10", {}, {"I01", "I02"}},
       "cannot tell",
       {"H10"}},
      {ours + "transformer_stacks_memory.pt.trace.json.gz",
       {"", "host times only", "H10", {"H03"}, {"I01"}},
       "findings",
       {"H03", "H10"}},
      {at("test/data/gloo_ranks"),
       {"", "host times only", "N05", {"H07"}, {"N01"}},
       "findings",
       {"H07", "H10"}},
  };
}

TEST(ShippedAdvice, WordFindingsAndSilence) {
  for (const Shipped& s : shipped()) {
    SCOPED_TRACE(s.path);
    test::expect_advice(s.path, s.known);
  }
}

TEST(ShippedAdvice, InputHostWaitsAndGraphs) {
  for (const Shipped& s : shipped()) {
    const report::Report report = advice(s.path);
    EXPECT_EQ(test::cells(report.tables[0], "outcome")[0], s.outcome) << s.path;
    EXPECT_EQ(test::ids_of(report, "IHSG"), s.host) << s.path;
  }
}

// No step of these traces lost its CPU, and only one trace recomputes activations.
TEST(ShippedAdvice, RulesThatStaySilent) {
  for (const Shipped& s : shipped()) {
    Cells found = test::cells(advice(s.path).tables[1], "id");
    std::erase_if(found, [](const std::string& id) {
      const Cells rare = {"I06", "H09", "K03", "K05", "K08", "K09", "K10"};
      return std::ranges::find(rare, id) == rare.end();
    });
    EXPECT_EQ(found, s.path.ends_with("checkpointing.json.gz") ? Cells{"K09"} : Cells{}) << s.path;
  }
}

// A saving's range contains what the simulation without the problem took less, in ms of a mean step (from
// `make_trace --truth`).
TEST(ShippedAdvice, SavingsHoldWhatWasMeasured) {
  struct Measured {
    std::string path;
    const char* id;
    double saved, within;
  };
  const Measured known[] = {
      {sample("slow_input.json.gz"), "I01", 15.696, 0.45}, {sample("item_sync.json.gz"), "S01", 1.576, 0.6},
      {sample("tiny_kernels.json.gz"), "H05", 4.557, 0.6}, {sample("exposed_comm"), "N06", 0.698, 0.65},
      {data("2021_workers.json.gz"), "I02", 4.862, 0.4},   {data("fp32.json.gz"), "P01", 5.826, 0.7},
      {data("inference.json.gz"), "C01", 0.954, 0.5},      {data("straggler"), "N05", 2.99, 0.55}};
  for (const Measured& m : known) {
    const auto [low, high] = test::saving(advice(m.path), m.id);
    EXPECT_LE(low, m.saved) << m.path;
    EXPECT_GE(high, m.saved) << m.path;
    EXPECT_LE(high - low, m.within * high) << m.path;
  }
}

// Both programs were recorded: with two workers a step took 14.1 ms, without 30.6 ms.
TEST(ShippedAdvice, TheLoaderIsWorthWhatItsRepairGave) {
  const auto [low, high] =
      test::saving(advice(at("examples/samples/mlp_loader_in_main.pt.trace.json.gz")), "I01");
  EXPECT_LE(low, 16.5);
  EXPECT_GE(high, 16.5);
}

// The host limits until the optimizer launches fewer kernels (H03); only then does K01 save time.
TEST(ShippedAdvice, WhatSavesMostOnceOthersAreDoneComesNext) {
  const report::Table findings = advice(data("xpu_optimizer.json.gz")).tables[1];
  EXPECT_EQ(test::cells(findings, "id"), (Cells{"H03", "K01"}));
  EXPECT_EQ(test::cells(findings, "when"), (Cells{"now", "next"}));
  EXPECT_EQ(ms(findings, "saving_high")[1], 0);
  EXPECT_NEAR(ms(findings, "after_high")[1], 0.41, 0.02);
}

TEST(ShippedAdvice, WhatARecordingLacksIsSaid) {
  const auto health = [](const std::string& path) { return test::cells(advice(path).tables[2], "id"); };
  EXPECT_EQ(health(data("cold_start.json.gz"))[0], "Q01");
  EXPECT_EQ(health(data("lost_records.json.gz"))[0], "Q02");
  EXPECT_EQ(health(at("examples/samples/cnn.pt.trace.json.gz"))[0], "Q10");
}

TEST(GeneratedAdvice, NamesWhatWasPlanted) {
  EXPECT_EQ(test::cells(advice(sample("item_sync.json.gz")).tables[1], "id"), Cells{"S01"});
  // H05 covers the tiny kernels of one loop; H01 covers the other single launches.
  const report::Table tiny = advice(sample("tiny_kernels.json.gz")).tables[1];
  EXPECT_EQ(test::cells(tiny, "id"), (Cells{"H05", "H01"}));
  EXPECT_NE(test::cells(tiny, "title")[0].find("300 × aten::mul at train.py:36"), std::string::npos);
  EXPECT_EQ(advice(sample("healthy.json.gz")).tables[1].rows(), 0u);
}

}  // namespace
}  // namespace stepscope
