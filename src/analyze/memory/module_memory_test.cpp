#include <fmt/format.h>

#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

std::string memory(int at, int address, int bytes, int total) {
  return fmt::format(
      R"J(,{{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": {}, "args": {{"Device Type": 0, "Device Id": -1, "Addr": {}, "Bytes": {}, "Total Allocated": {}}}}})J",
      at, address, bytes, total);
}

// 50 bytes were there before. Net_0 [0,100) calls Block_0 [10,40) and Block_1 [50,80). Block_0 allocates 30,
// 5 (freed at once) and its output of 20; Block_1 allocates 40 and its output of 20; then Net_0 itself 8; the
// backward of Block_1's operator 16; outside modules 2. The last of these is the peak; then the 40 are freed.
const std::string kModuleAllocations =
    R"J({"ph": "X", "cat": "python_function", "name": "nn.Module: Net_0", "pid": 5, "tid": 5, "ts": 0, "dur": 100},
  {"ph": "X", "cat": "python_function", "name": "nn.Module: Block_0", "pid": 5, "tid": 5, "ts": 10, "dur": 30},
  {"ph": "X", "cat": "python_function", "name": "nn.Module: Block_1", "pid": 5, "tid": 5, "ts": 50, "dur": 30},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 55, "dur": 20, "args": {"External id": 1, "Sequence number": 7, "Fwd thread id": 0}},
  {"ph": "X", "cat": "cpu_op", "name": "MmBackward0", "pid": 5, "tid": 5, "ts": 110, "dur": 20, "args": {"External id": 3, "Sequence number": 7, "Fwd thread id": 1}})J" +
    memory(15, 64, 30, 80) + memory(20, 128, 5, 85) + memory(25, 128, -5, 80) + memory(30, 192, 20, 100) +
    memory(60, 256, 40, 140) + memory(70, 320, 20, 160) + memory(90, 384, 8, 168) +
    memory(115, 448, 16, 184) + memory(140, 512, 2, 186) + memory(150, 256, -40, 146);

TEST(ModuleMemory, PeakByModuleAndWhatCheckpointingFrees) {
  const report::Report report = test::answer("module_memory", test::open_events(kModuleAllocations));
  const report::Table& table = report.tables[0];
  EXPECT_EQ(cells(table, "module"), (Cells{"Net_0", "Block_1", "Block_0", "in the backward pass",
                                           "outside modules", "allocated before the recording"}));
  EXPECT_EQ(cells(table, "depth"), (Cells{"0", "1", "1", "0", "0", "0"}));
  EXPECT_EQ(cells(table, "count"), (Cells{"5", "2", "2", "1", "1", "-"}));
  EXPECT_EQ(cells(table, "bytes"), (Cells{"118", "60", "50", "16", "2", "50"}));
  EXPECT_EQ(cells(table, "self_bytes"), (Cells{"8", "60", "50", "16", "2", "50"}));
  EXPECT_EQ(cells(table, "checkpoint_frees"), (Cells{"110", "40", "30", "-", "-", "-"}));
  EXPECT_EQ(cells(table, "share"),
            (Cells{"0.634409", "0.322581", "0.268817", "0.0860215", "0.0107527", "0.268817"}));  // of 186
}

TEST(ModuleMemory, NothingRecorded) {
  const trace::Trace trace = test::open_events(
      R"J({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 55, "dur": 20})J");
  const report::Report report = test::answer("module_memory", trace);
  EXPECT_EQ(report.tables[0].rows(), 0u);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("profile_memory"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
