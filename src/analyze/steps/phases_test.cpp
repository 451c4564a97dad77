#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

constexpr std::string_view kOneStep =
    R"J({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 1000},)J";

report::Report phases_in(std::string_view events) {
  return test::answer("phases", test::open_events(std::string(kOneStep).append(events)));
}

Cells times_in(std::string_view events) { return cells(phases_in(events).tables[0], "time"); }

// Data [0,100). Forward from the first operator with a backward pass, [200,400). Backward [400,600), with
// 10 µs between its nodes. The optimizer's two ranges, [700,800). The rest is the program's own: 400 µs.
TEST(Phases, OfATrainingStep) {
  const report::Report report = phases_in(R"J(
    {"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#X.__next__", "pid": 5, "tid": 5, "ts": 0, "dur": 100},
    {"ph": "X", "cat": "cpu_op", "name": "aten::to", "pid": 5, "tid": 5, "ts": 100, "dur": 50},
    {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 5, "tid": 5, "ts": 200, "dur": 100},
    {"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 5, "tid": 5, "ts": 210, "dur": 80, "args": {"Sequence number": 1}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 220, "dur": 5, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 390, "dur": 30, "args": {"device": 0, "stream": 7, "correlation": 1}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 5, "tid": 5, "ts": 320, "dur": 40, "args": {"Sequence number": 2}},
    {"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: MulBackward0", "pid": 5, "tid": 5, "ts": 400, "dur": 50, "args": {"Sequence number": 2}},
    {"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: AddmmBackward0", "pid": 5, "tid": 5, "ts": 460, "dur": 140, "args": {"Sequence number": 1}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 470, "dur": 120},
    {"ph": "X", "cat": "cpu_op", "name": "aten::item", "pid": 5, "tid": 5, "ts": 610, "dur": 40},
    {"ph": "X", "cat": "user_annotation", "name": "Optimizer.zero_grad#SGD.zero_grad", "pid": 5, "tid": 5, "ts": 700, "dur": 20},
    {"ph": "X", "cat": "user_annotation", "name": "Optimizer.step#SGD.step", "pid": 5, "tid": 5, "ts": 720, "dur": 80},
    {"ph": "X", "cat": "cpu_op", "name": "aten::add_", "pid": 5, "tid": 5, "ts": 730, "dur": 30})J");
  const report::Table& phases = report.tables[0];
  EXPECT_EQ(cells(phases, "phase"), (Cells{"data", "forward", "backward", "optimizer", "other"}));
  EXPECT_EQ(cells(phases, "time"), (Cells{"100000", "200000", "200000", "100000", "400000"}));
  EXPECT_EQ(cells(phases, "per_step"), cells(phases, "time"));
  EXPECT_EQ(cells(phases, "share"), (Cells{"0.1", "0.2", "0.2", "0.1", "0.4"}));
  EXPECT_EQ(cells(phases, "ops"), (Cells{"0", "3", "3", "1", "2"}));
  // Launched in the forward pass; it still runs in the backward pass.
  EXPECT_EQ(cells(phases, "kernels"), (Cells{"0", "1", "0", "0", "0"}));
  EXPECT_EQ(cells(phases, "device"), (Cells{"0", "30000", "0", "0", "0"}));
  const report::Table& ops = report.tables[1];
  EXPECT_EQ(cells(ops, "op")[0], "aten::mm");
  EXPECT_EQ(cells(ops, "phase")[0], "backward");
  EXPECT_EQ(cells(ops, "self")[0], "120000");
  EXPECT_EQ(cells(ops, "share")[0], "0.6");
  EXPECT_EQ(cells(report.tables[2], "other"), (Cells{"400000"}));
}

// The pass runs on its own thread. In its first gap the main thread begins nothing, in its second an
// operator.
TEST(Phases, APassEndsWhereTheProgramGoesOn) {
  EXPECT_EQ(times_in(R"J(
    {"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: A", "pid": 5, "tid": 6, "ts": 100, "dur": 100},
    {"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: B", "pid": 5, "tid": 6, "ts": 300, "dur": 100},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 5, "tid": 5, "ts": 420, "dur": 10},
    {"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: A", "pid": 5, "tid": 6, "ts": 500, "dur": 100})J"),
            (Cells{"0", "0", "400000", "0", "600000"}));
}

// A collective begins in the pass [100,200) and ends at 500; the next one begins 50 µs later and ends at 700.
// The main thread goes on at 620. The collective at 650 is its own.
TEST(Phases, APassWaitsForItsCollectives) {
  EXPECT_EQ(times_in(R"J(
    {"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: A", "pid": 5, "tid": 5, "ts": 100, "dur": 100},
    {"ph": "X", "cat": "cpu_op", "name": "gloo:all_reduce", "pid": 5, "tid": 6, "ts": 150, "dur": 350},
    {"ph": "X", "cat": "cpu_op", "name": "gloo:all_reduce", "pid": 5, "tid": 6, "ts": 550, "dur": 150},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 5, "tid": 5, "ts": 620, "dur": 10},
    {"ph": "X", "cat": "cpu_op", "name": "gloo:all_reduce", "pid": 5, "tid": 7, "ts": 650, "dur": 100})J"),
            (Cells{"0", "0", "520000", "0", "480000"}));
}

// A frozen layer runs inside the module's call, before the first operator with a backward pass.
TEST(Phases, FrozenLayersOfTheModuleAreForward) {
  EXPECT_EQ(times_in(R"J(
    {"ph": "X", "cat": "python_function", "name": "torch/nn/modules/module.py(1775): _call_impl", "pid": 5, "tid": 5, "ts": 10, "dur": 40},
    {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 5, "tid": 5, "ts": 20, "dur": 20},
    {"ph": "X", "cat": "python_function", "name": "torch/nn/modules/module.py(1775): _call_impl", "pid": 5, "tid": 5, "ts": 100, "dur": 150},
    {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 5, "tid": 5, "ts": 110, "dur": 80},
    {"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 5, "tid": 5, "ts": 200, "dur": 50, "args": {"Sequence number": 1}},
    {"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: AddmmBackward0", "pid": 5, "tid": 5, "ts": 300, "dur": 100, "args": {"Sequence number": 1}})J"),
            (Cells{"0", "200000", "100000", "0", "700000"}));
}

// backward() returns after the last node; Python recorded the call.
TEST(Phases, PythonsCallsCount) {
  EXPECT_EQ(times_in(R"J(
    {"ph": "X", "cat": "python_function", "name": "/lib/torch/_tensor.py(500): backward", "pid": 5, "tid": 5, "ts": 50, "dur": 200},
    {"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: A", "pid": 5, "tid": 6, "ts": 100, "dur": 100},
    {"ph": "X", "cat": "python_function", "name": "/home/me/optim/lion.py(20): step", "pid": 5, "tid": 5, "ts": 400, "dur": 60},
    {"ph": "X", "cat": "python_function", "name": "/home/me/game.py(20): step", "pid": 5, "tid": 5, "ts": 500, "dur": 60})J"),
            (Cells{"0", "0", "200000", "60000", "740000"}));
}

// Without a backward pass, modules and operators are the forward pass.
TEST(Phases, OfInference) {
  EXPECT_EQ(times_in(R"J(
    {"ph": "X", "cat": "python_function", "name": "nn.Module: Net_0", "pid": 5, "tid": 5, "ts": 100, "dur": 300},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 150, "dur": 100},
    {"ph": "X", "cat": "cpu_op", "name": "aten::argmax", "pid": 5, "tid": 5, "ts": 500, "dur": 50})J"),
            (Cells{"0", "350000", "0", "0", "650000"}));
}

TEST(Phases, NoHostRanges) {
  const report::Report report = test::answer(
      "phases", test::open_events(
                    R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 5})"));
  EXPECT_EQ(report.tables[0].rows(), 0u);
  EXPECT_EQ(report.notes.size(), 1u);
}

}  // namespace
}  // namespace stepscope
