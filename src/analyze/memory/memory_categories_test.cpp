#include "analyze/memory/memory_categories.h"

#include <fmt/format.h>

#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

/// Events of one thread, in µs, and the allocator's records among them.
struct CategorizedProgram {
  std::string text;
  int type = 0, total = 0;  // of the memory; -1: no totals

  void range(std::string_view category, std::string_view name, int at, int length,
             std::string_view args = "") {
    text += fmt::format(
        R"J({}{{"ph": "X", "cat": "{}", "name": "{}", "pid": 5, "tid": 5, "ts": {}, "dur": {}, "args": {{{}}}}})J",
        text.empty() ? "" : ",\n", category, name, at, length, args);
  }
  void op(std::string_view name, int at, int length, std::string_view dims = "[]",
          std::string_view types = "[]", std::string_view more = "") {
    range("cpu_op", name, at, length,
          fmt::format(R"J("Input Dims": {}, "Input type": {}{})J", dims, types, more));
  }
  void memory(int at, int address, int bytes) {
    total += bytes;
    text += fmt::format(
        R"J(,
{{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": {}, "args": {{"Device Type": {}, "Device Id": {}, "Addr": {}, "Bytes": {}, "Total Allocated": {}}}}})J",
        at, type, type == 0 ? -1 : 0, address, bytes, total);
  }
};

constexpr std::string_view kNode = "autograd::engine::evaluate_function: ";

/// A linear layer of 10 inputs and 4 outputs without bias, batches of 5, from before its weight is made: the
/// parameter 160, the batch 200, the activation 80, a temporary 24, autograd's own 80, the gradient 160, the
/// optimizer's state 160 and its temporary 160, and 12 outside of operators.
CategorizedProgram whole_step(int type, int held) {
  CategorizedProgram of{"", type, held};
  of.op("aten::empty", 0, 10, "[[], []]", R"(["ScalarList", ""])", R"(, "Concrete Inputs": ["[4, 10]", ""])");
  of.memory(5, 64, 160);
  of.memory(15, 640, 12);
  of.op("aten::randn", 20, 10, "[[], []]", R"(["ScalarList", ""])",
        R"(, "Concrete Inputs": ["[5, 10]", ""])");
  of.memory(25, 128, 200);
  of.op("aten::linear", 30, 20, "[[5, 10], [4, 10], []]", R"(["float", "float", ""])",
        R"(, "External id": 1, "Sequence number": 7, "Fwd thread id": 0)");
  of.memory(35, 192, 24);
  of.memory(40, 256, 80);
  of.memory(45, 192, -24);
  of.range("cpu_op", fmt::format("{}MmBackward0", kNode), 60, 20,
           R"("External id": 2, "Sequence number": 7, "Fwd thread id": 1)");
  of.memory(65, 320, 80);
  of.op("aten::mm", 68, 5, "[[4, 5], [5, 10]]", R"(["float", "float"])");
  of.memory(70, 384, 160);
  of.range("cpu_op", fmt::format("{}torch::autograd::AccumulateGrad", kNode), 80, 20,
           R"("External id": 3, "Sequence number": 8, "Fwd thread id": 1)");
  of.op("torch::autograd::AccumulateGrad", 82, 10, "[[4, 10]]", R"(["float"])",
        R"(, "Sequence number": 8, "Fwd thread id": 1)");
  of.memory(90, 320, -80);
  of.range("user_annotation", "Optimizer.step#Adagrad.step", 110, 30);
  of.op("aten::zeros_like", 112, 5, "[[4, 10]]", R"(["float"])");
  of.memory(114, 448, 160);
  of.op("aten::sqrt", 120, 5, "[[4, 10]]", R"(["float"])");
  of.memory(122, 512, 160);
  of.memory(130, 512, -160);
  of.memory(150, 256, -80);
  of.memory(152, 128, -200);
  return of;
}

TEST(MemoryCategories, EveryCategory) {
  const report::Report report = test::answer("memory_categories", test::open_events(whole_step(0, 0).text));
  const report::Table& table = report.tables[0];
  // The peak is the optimizer's temporary at 122.
  EXPECT_EQ(cells(table, "category"), (Cells{"inputs", "parameters", "optimizer state", "temporaries",
                                             "gradients", "activations", "unknown", "autograd's own"}));
  EXPECT_EQ(cells(table, "bytes"), (Cells{"200", "160", "160", "160", "160", "80", "12", "0"}));
  EXPECT_EQ(cells(table, "count"), (Cells{"1", "1", "1", "1", "1", "1", "1", "0"}));
  EXPECT_EQ(cells(table, "highest"), (Cells{"200", "160", "160", "160", "160", "80", "12", "80"}));
  EXPECT_EQ(cells(table, "highest_time"),
            (Cells{"25000", "5000", "114000", "122000", "70000", "40000", "15000", "65000"}));
  EXPECT_EQ(cells(table, "inferred"), (Cells{"0", "0", "0", "0", "0", "0", "0", "0"}));
  EXPECT_EQ(cells(table, "share")[1], "0.171674");  // of 932
  EXPECT_TRUE(report.notes.empty());
}

TEST(MemoryCategories, CurveSumsToTheLevelAtEachInstant) {
  for (const int held : {0, 5000}) {
    const trace::Trace trace = test::open_events(whole_step(held == 0 ? 0 : 1, held).text);
    const report::Table curve = test::answer("memory_categories", trace).tables[1];
    const Cells levels = cells(test::answer("memory_events", trace).tables[4], "allocated");
    ASSERT_EQ(curve.rows(), levels.size());
    EXPECT_EQ(cells(curve, "all"), levels);
    EXPECT_EQ(cells(curve, "before"), Cells(levels.size(), std::to_string(held)));
    for (std::size_t i = 0; i < levels.size(); ++i) {
      std::int64_t sum = 0;
      for (const char* column : {"parameters", "gradients", "optimizer_state", "activations", "inputs",
                                 "temporaries", "autograd", "unknown", "before"})
        sum += std::stoll(cells(curve, column)[i]);
      EXPECT_EQ(std::to_string(sum), levels[i]) << "record " << i;
    }
  }
}

// The step alone: on the host parameters and state from before are inferred, the gradient is recorded.
TEST(MemoryCategories, HeldBeforeTheRecording) {
  CategorizedProgram of{"", 0, 0};
  of.op("aten::linear", 30, 20, "[[5, 10], [4, 10], []]", R"(["float", "float", ""])",
        R"(, "Sequence number": 7, "Fwd thread id": 0)");
  of.memory(40, 256, 80);
  of.range("cpu_op", fmt::format("{}torch::autograd::AccumulateGrad", kNode), 80, 20,
           R"("Sequence number": 7, "Fwd thread id": 1)");
  of.op("torch::autograd::AccumulateGrad", 82, 10, "[[4, 10]]", R"(["float"])",
        R"(, "Sequence number": 7, "Fwd thread id": 1)");
  of.memory(85, 384, 160);
  of.range("user_annotation", "Optimizer.step#Adam.step", 110, 30);
  of.memory(150, 256, -80);
  of.memory(151, 999, -7);  // allocated before
  const report::Report report = test::answer("memory_categories", test::open_events(of.text));
  const report::Table& table = report.tables[0];
  EXPECT_EQ(cells(table, "category"), (Cells{"optimizer state", "parameters", "gradients", "activations",
                                             "allocated before the recording"}));
  EXPECT_EQ(cells(table, "bytes"), (Cells{"320", "160", "160", "80", "7"}));
  EXPECT_EQ(cells(table, "inferred"), (Cells{"320", "160", "0", "0", "0"}));
  EXPECT_EQ(cells(table, "count"), (Cells{"0", "0", "1", "1", "-"}));
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_TRUE(report.notes[0].starts_with("Made before the recording, so inferred")) << report.notes[0];
}

TEST(MemoryCategories, NothingRecorded) {
  const report::Report report = test::answer(
      "memory_categories",
      test::open_events(
          R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 5, "dur": 2})"));
  EXPECT_EQ(report.tables[0].rows(), 0u);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("profile_memory"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
