#include <gtest/gtest.h>

#include "make_program.h"

namespace stepscope::advise {
namespace {

using test::Advice;
using test::Program;

/// 20 rounds of 105 µs with 50 µs of kernel each: the device idles 49 µs of each while the host is in one
/// line.
Program python_loop() {
  Program program;
  program.work = {"python_function", "train.py(9): features", 100};
  return program;
}

TEST(HostRules, PythonInOneLine) {
  const Advice advice(python_loop());
  EXPECT_EQ(advice.verdict("bound"), "host-bound");
  EXPECT_NE(advice.cell("H02", "title").find("for Python code in train.py:9 (features)"), std::string::npos);
  EXPECT_FALSE(advice.has("H01"));  // the line claims nearly all of it
}

TEST(HostRules, PythonInManyLinesIsLaunching) {
  Program program = python_loop();
  program.work.name = "train.py({}): features";  // a twentieth of the time each
  const Advice advice(program);
  EXPECT_FALSE(advice.has("H02"));
  EXPECT_TRUE(advice.has("H01"));
}

TEST(HostRules, AFrameThatWaitsIsSaid) {
  Program program = python_loop();
  program.work.name = "<built-in method acquire of _thread.lock object at 0x1>";
  EXPECT_NE(Advice(program).cell("H02", "title").find("while Python itself waits in"), std::string::npos);
}

/// 20 rounds of one operator of 55 µs that launches a kernel of 5 µs; 30 steps.
Program small_operators() {
  Program program;
  program.steps = 30;
  program.work.name = "aten::mul";
  program.launch_inside = true;
  program.kernel_length = 5;
  return program;
}

TEST(HostRules, ALoopOfSmallOperators) {
  const Advice advice(small_operators());
  EXPECT_EQ(advice.cell("H05", "title"),
            "A loop of 20 × aten::mul launches 20 device events per step where a few would do");
  Program layers = small_operators();
  layers.work.name = "layer{}";
  EXPECT_FALSE(Advice(layers).has("H05"));
  EXPECT_TRUE(Advice(layers).has("H01"));
  Program nine = small_operators();
  nine.rounds = 9;
  nine.steps = 60;
  EXPECT_FALSE(Advice(nine).has("H05"));
  Program large = small_operators();
  large.kernel_length = 20;
  EXPECT_FALSE(Advice(large).has("H05"));
}

/// While a kernel of 3 ms runs, 60 rounds of an operator are launched. Their kernels take `length` µs, each 3
/// µs after the previous one.
std::string launched_ahead(int length) {
  test::EventText events;
  int at = 3010;
  for (int i = 0; i <= 60; ++i) {
    const std::string link = fmt::format(R"("correlation": {})", i + 1);
    events.add("cpu_op", i == 0 ? "aten::mm" : "aten::mul", 5, 5, 4 * i, 3);
    events.add("cuda_runtime", "cudaLaunchKernel", 5, 5, 4 * i + 1, 1, link);
    events.add("kernel", "k", 0, 7, i == 0 ? 10 : at + 3, i == 0 ? 3000 : length,
               R"("device": 0, "stream": 7, )" + link);
    if (i > 0) at += 3 + length;
  }
  events.add("user_annotation", "ProfilerStep#1", 5, 5, 0, 250);
  return events.text();
}

// 60 pauses of 3 µs are 180 of 3,310 µs, and kernels of 2 µs work for only 120 between them: early launches
// do not avoid the pauses. Kernels of 8 µs work for 480 µs.
TEST(HostRules, PausesBetweenTinyKernels) {
  const Advice tiny(launched_ahead(2));
  EXPECT_EQ(tiny.cell("H05", "title"),
            "A loop of 60 × aten::mul launches 60 device events per step where a few would do");
  EXPECT_EQ(tiny.cell("H05", "evidence"),
            "launches: loops of operators; 239 µs per step, the device idles for 180 µs of it");
  EXPECT_FALSE(Advice(launched_ahead(8)).has("H05"));
}

TEST(HostRules, QueriesOfTheRuntime) {
  Program program;
  program.work = {"cuda_runtime", "cudaPointerGetAttributes", 60};
  EXPECT_EQ(Advice(program).cell("H06", "title"),
            "20 calls of cudaPointerGetAttributes per step take 1.20 ms of host time");
  program.work.length = 20;  // hidden: kernels of 50 µs come every 25
  EXPECT_FALSE(Advice(program).has("H06"));
  program.work = {"cuda_runtime", "cudaEventRecord", 60};
  EXPECT_FALSE(Advice(program).has("H06"));
}

TEST(HostRules, CompiledAndNotCaptured) {
  Program program;
  program.work.length = 100;
  program.kernel = "triton_poi_fused_add_0";
  EXPECT_TRUE(Advice(program).has("G03"));
  EXPECT_FALSE(Advice(program).has("H01"));
  program.kernel = "vectorized_elementwise_kernel";
  EXPECT_FALSE(Advice(program).has("G03"));
  EXPECT_TRUE(Advice(program).has("H01"));
}

TEST(HostRules, GradientsInInference) {
  Program program;
  program.work.length = 100;
  program.op_args = R"("Sequence number": {})";
  EXPECT_TRUE(Advice(program).has("G04"));
  program.op_args = R"("Sequence number": 7)";  // gradients are on, but no operator builds a node
  EXPECT_FALSE(Advice(program).has("G04"));
  program.op_args = "";
  EXPECT_FALSE(Advice(program).has("G04"));
  program.op_args = R"("Sequence number": {})";
  program.pause = {"user_annotation", "Optimizer.step#SGD.step", 10};
  EXPECT_FALSE(Advice(program).has("G04"));
}

TEST(HostRules, CompilationInTheSteps) {
  Program program;
  program.prepare = {"python_function", "torch/_dynamo/convert_frame.py(9): _compile", 500};
  EXPECT_EQ(Advice(program).cell("G01", "title"),
            "1.00 ms of compilation after the second step, 2 times: the program is compiled again and again");
  program.steps = 2;
  EXPECT_EQ(Advice(program).cell("G01", "title"),
            "1.00 ms of compilation in the recorded steps: they are not warmed up");
  EXPECT_EQ(Advice(program).cell("G01", "saving_high"), "-");
  program.prepare.length = 5;
  EXPECT_FALSE(Advice(program).has("G01"));
}

TEST(HostRules, ACompiledProgramInPieces) {
  Program program;
  program.work = {"cpu_op", "Torch-Compiled Region: {}/0", 100};
  EXPECT_TRUE(Advice(program).has("G02"));
  program.launch_inside = true;  // nothing is launched between the pieces
  EXPECT_FALSE(Advice(program).has("G02"));
  program.launch_inside = false;
  program.rounds = 2;  // forward and backward
  program.steps = 20;
  EXPECT_FALSE(Advice(program).has("G02"));
}

TEST(HostRules, AnOperatorOfACpuProgram) {
  const auto program = [](int length, const char* call) {
    test::EventText events;
    events.add("cpu_op", "aten::mm", 5, 5, 0, length);
    events.add("cuda_runtime", call, 5, 5, 900, 100);
    return Advice(events.text());
  };
  EXPECT_EQ(program(200, "cudaDeviceSynchronize").cell("H10", "title"),
            "200 µs of 1.00 ms are 1 × aten::mm; aten::mm takes 200 µs");
  EXPECT_FALSE(program(199, "cudaDeviceSynchronize").has("H10"));
  EXPECT_FALSE(program(200, "cudaLaunchKernel").has("H10"));  // its kernel is not recorded
}

// The recorder watched a device that nothing was launched on.
TEST(HostRules, AnUnusedAccelerator) {
  const auto program = [](const char* call, int accelerators) {
    test::EventText events;
    events.add("cpu_op", "aten::mm", 5, 5, 0, 900);
    events.add("cuda_runtime", call, 5, 5, 900, 100);
    return Advice(test::open_json(fmt::format(
        R"J({{"schemaVersion": 1, "machineInfo": {{"accelerators": {}}}, "deviceProperties": [{{"id": 0, "name": "H100"}}], "traceEvents": [{}]}})J",
        accelerators, events.text())));
  };
  EXPECT_EQ(program("cudaDeviceSynchronize", 1).cell("H19", "title"),
            "The CPU does all the work: the program gives this machine's H100 none");
  EXPECT_FALSE(program("cudaLaunchKernel", 1).has("H19"));
  EXPECT_FALSE(program("cudaDeviceSynchronize", -1).has("H19"));
}

}  // namespace
}  // namespace stepscope::advise
