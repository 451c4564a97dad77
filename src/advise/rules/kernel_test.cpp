// Rules of single kernels, convolutions, recomputation and the clock (K03, K05, K08, K09, K10).
#include "advise/device_step_for_test.h"

namespace stepscope::advise {
namespace {

/// `count` kernels of that name, and products up to 100 kernels in all.
Step own_kernels(int count, const std::string& name, double occupancy, double blocks) {
  return {
      {{100 - count, kGemm},
       {count, name, 100, "kernel",
        fmt::format(
            R"(, "est. achieved occupancy %": {}, "blocks per SM": {}, "registers per thread": 255, "block": [256, 1, 1])",
            occupancy, blocks)}}};
}

// 2 ms of kernels, at 1.1 to 1.5 times the rate: 0.18 to 0.67 ms are saved.
TEST(KernelRules, LowOccupancy) {
  const Step low = own_kernels(20, "my_scan", 12, 4);
  EXPECT_EQ(
      cell(low, "K03", "title"),
      "my_scan (20.0 % of kernel time) holds 12.0 % of a multiprocessor's threads; limited by registers");
  EXPECT_NEAR(std::stod(cell(low, "K03", "saving_low")), 181'818, 50);
  EXPECT_NEAR(std::stod(cell(low, "K03", "saving_high")), 666'667, 50);
  EXPECT_TRUE(has(own_kernels(20, "triton_red_fused_sum_0", 12, 4), "K03"));
  EXPECT_FALSE(has(own_kernels(20, "my_scan", 25, 4), "K03"));
  EXPECT_FALSE(has(own_kernels(20, "my_scan", 0, 4), "K03"));  // the estimate failed
  EXPECT_FALSE(has(own_kernels(20, "my_scan", 12, 1.9), "K03"));
  EXPECT_FALSE(has(own_kernels(4, "my_scan", 12, 4), "K03"));
  for (const char* library :
       {"void at::native::my_scan", "volta_sgemm_128x64_nn", "flash_fwd_kernel", "nvjet_x"})
    EXPECT_FALSE(has(own_kernels(20, library, 12, 4), "K03")) << library;
}

// In 100 µs this device's memory moves 335 MB; 160 MB are 48 % of it.
TEST(KernelRules, KernelsThatFillTheMemoryBusMayHoldFewThreads) {
  Step busy = own_kernels(20, "my_scan", 12, 4);
  busy.work[1].op_args = R"(, "args": {"Input Dims": [[20000000]], "Input type": ["float"]})";
  EXPECT_TRUE(has(busy, "K03"));
  busy.work[1].op_args = R"(, "args": {"Input Dims": [[40000000]], "Input type": ["float"]})";
  EXPECT_FALSE(has(busy, "K03"));
}

/// 10 products m × 1536 × 4096 of 100 µs in tiles of 128 × 128, and as many of 4096³ at 494 TFLOP/s.
Step tiled_products(int m, int blocks, int length = 100) {
  const auto sizes = [](int rows, int columns) {
    return fmt::format(
        R"(, "args": {{"Input Dims": [[{}, 4096], [4096, {}]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}})",
        rows, columns);
  };
  Work slow{10, "sm90_gemm_128x128", length, "kernel",
            fmt::format(R"(, "grid": [{}, 1, 1], "block": [128, 1, 1])", blocks)},
      fast{10, "nvjet_x", 278};
  slow.op_args = sizes(m, 1536);
  fast.op_args = sizes(4096, 4096);
  return {{slow, fast}, "aten::mm"};
}

// 12 × 12 tiles are 1.09 rounds of 132; 120 of the 264 places in two rounds are empty, 45 % of 1 ms.
TEST(KernelRules, WaveQuantisation) {
  const Step step = tiled_products(1536, 144);
  EXPECT_EQ(cell(step, "K05", "title"),
            "aten::mm 1536×1536×4096 in bf16 fills 1.09 waves of the device's multiprocessors, the last one "
            "only to 9.09 %");
  EXPECT_EQ(cell(step, "K05", "saving_low"), "0");
  EXPECT_NEAR(std::stod(cell(step, "K05", "saving_high")), 454'545, 5);
  EXPECT_FALSE(has(step, "K06"));                           // K05 explains it
  EXPECT_FALSE(has(tiled_products(1408, 132), "K05"));      // one round exactly
  EXPECT_TRUE(has(tiled_products(1408, 132), "K06"));       // 18 % of the roof, and no cause known
  EXPECT_FALSE(has(tiled_products(1280, 120), "K05"));      // less than one round
  EXPECT_FALSE(has(tiled_products(1536, 132), "K05"));      // persistent
  EXPECT_FALSE(has(tiled_products(1536, 144, 60), "K05"));  // 322 of 494 TFLOP/s
}

const std::string kFallback = "void implicit_convolve_sgemm<float, 1024>";

// 1 ms in fallback kernels; at 1.3 times the rate 0.23 ms are saved.
TEST(KernelRules, FallbackConvolutions) {
  Step step{{{90, kGemm}, {10, kFallback}}};
  EXPECT_FALSE(has(step, "K08"));  // no convolution launched them
  step.work[1].op = "aten::cudnn_convolution";
  EXPECT_EQ(cell(step, "K08", "title"),
            "10.0 % of kernel time (1.00 ms per step) goes into fallback kernels of convolutions");
  EXPECT_EQ(cell(step, "K08", "saving_low"), "0");
  EXPECT_NEAR(std::stod(cell(step, "K08", "saving_high")), 230'769, 50);
  step.work = {{96, kGemm}, {4, kFallback}};
  step.work[1].op = "aten::cudnn_convolution";
  EXPECT_FALSE(has(step, "K08"));
}

std::string range(const char* category, const std::string& name, double from, double length,
                  const std::string& args = "") {
  return fmt::format(
      R"J({{"ph": "X", "cat": "{}", "name": "{}", "pid": 5, "tid": 5, "ts": {}, "dur": {}{}}},)J", category,
      name, from, length, args);
}

/// Two steps of 40 kernels of 100 µs, ten of them fallbacks of convolutions with these image heights.
bool speaks_of_fallbacks(int first_height, int second_height) {
  std::string events;
  int device = 5;
  for (int id = 0; id < 80; ++id) {
    const bool fallback = id % 4 == 0;
    const int at = (id / 40) * 4000 + (id % 40) * 20, height = id < 40 ? first_height : second_height;
    events += range("cpu_op", fallback ? "aten::cudnn_convolution" : "aten::op", at, 5,
                    fmt::format(R"(, "args": {{"Input Dims": [[8, 3, {}, 64]]}})", height));
    events += range("cuda_runtime", "cudaLaunchKernel", at + 1, 1,
                    fmt::format(R"(, "args": {{"correlation": {}}})", id + 1));
    device = std::max(device, at + 3);
    events += fmt::format(
        R"J({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7, "ts": {}, "dur": 100, "args": {{"device": 0, "stream": 7, "correlation": {}}}}},)J",
        fallback ? kFallback : kGemm, device, id + 1);
    device += 100;
  }
  for (int step = 0; step < 2; ++step)
    events += range("user_annotation", fmt::format("ProfilerStep#{}", step), step * 4000, 900);
  events.pop_back();
  const trace::Trace trace = test::open_json(
      R"({"deviceProperties": [{"id": 0, "name": "NVIDIA H100", "computeMajor": 9, "computeMinor": 0}], "traceEvents": [)" +
      events + "]}");
  const analyze::Derived derived(trace, {});
  const Cells ids = test::cells(as_report(verdict(derived, gather(derived, 1), 1)).tables[1], "id");
  return std::find(ids.begin(), ids.end(), "K08") != ids.end();
}

TEST(KernelRules, SizesThatVaryWouldBeMeasuredAnew) {
  EXPECT_TRUE(speaks_of_fallbacks(224, 224));
  EXPECT_FALSE(speaks_of_fallbacks(224, 256));
}

// The n-th operator of a step runs from 2 n to 2 n + 1.2 µs.
TEST(KernelRules, NeedlessBias) {
  Step step{{{10, kMul}, {90, kGemm}}};
  step.work[0].op = "aten::add_";
  for (int i = 1; i <= 10; ++i) step.more += range("cpu_op", "aten::conv2d", 2 * i - 0.1, 1.4);
  EXPECT_FALSE(has(step, "K08"));
  for (int i = 1; i <= 10; ++i) step.more += range("cpu_op", "aten::batch_norm", 2 * i + 1.4, 0.2);
  EXPECT_EQ(cell(step, "K08", "title"),
            "10 kernels per step add biases of convolutions that a batch norm subtracts again");
  EXPECT_EQ(cell(step, "K08", "saving_high"), "1000000");
}

/// 100 kernels, of which `again` are recomputed for the backward pass.
Step checkpointed(int again, const std::string& more = "") {
  Step step{{{100, kGemm}}};
  step.more = range("python_function", "torch/utils/checkpoint.py(9): recompute_fn", 1.5, 2 * again) + more;
  return step;
}

std::string memory(double at, long bytes, long total, int address) {
  return fmt::format(
      R"J({{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 5, "tid": 5, "ts": {}, "s": "t", "args": {{"Total Allocated": {}, "Total Reserved": 80000000000, "Bytes": {}, "Addr": {}, "Device Type": 1, "Device Id": 0}}}},)J",
      at, total, bytes, address);
}

constexpr long kGb = 1'000'000'000;

// 2 ms are computed again; 0.4 to 1.8 ms of them are saved.
TEST(KernelRules, Recompute) {
  EXPECT_EQ(cell(checkpointed(20), "K09", "title"),
            "20.0 % of kernel time (2.00 ms per step) recomputes activations");
  EXPECT_NEAR(std::stod(cell(checkpointed(20), "K09", "saving_low")), 400'000, 100);
  EXPECT_NEAR(std::stod(cell(checkpointed(20), "K09", "saving_high")), 1'800'000, 100);
  EXPECT_EQ(cell(checkpointed(20), "K09", "confidence"), "low");
  EXPECT_FALSE(has(checkpointed(9), "K09"));
}

// The node runs forward operators, and then nodes of its own.
TEST(KernelRules, RecomputationBelowTheCheckpointsNode) {
  const std::string node = "autograd::engine::evaluate_function: ";
  Step step{{{100, kGemm}}};
  step.more = range("cpu_op", node + "CheckpointFunctionBackward", 1.5, 80) +
              range("cpu_op", node + "MmBackward0", 41.5, 39);
  EXPECT_EQ(cell(step, "K09", "title"), "20.0 % of kernel time (2.00 ms per step) recomputes activations");
  EXPECT_EQ(cell(step, "K09", "evidence"), "kernels: recomputed work, known by the checkpoint's node");
}

// 30 GB are allocated again and kept, 20 GB only for a moment: 40 + 30 of 85 GB fit, 50 + 30 do not.
TEST(KernelRules, RecomputationThatMakesTheProgramFit) {
  const auto with_peak = [](long peak) {
    return checkpointed(20, memory(0.5, peak - 30 * kGb, peak - 30 * kGb, 1) + memory(3, 30 * kGb, peak, 2) +
                                memory(3.2, 20 * kGb, peak, 3) + memory(3.4, -20 * kGb, peak, 3));
  };
  EXPECT_NE(cell(with_peak(40 * kGb), "K09", "because").find("keeping the activations takes 27.9 GiB"),
            std::string::npos)
      << cell(with_peak(40 * kGb), "K09", "because");
  EXPECT_FALSE(has(with_peak(50 * kGb), "K09"));
}

/// Ten steps of 40 kernels of two lengths, back to back; from step `from` on they take `pace` times as long.
/// The first `brief` kernels of a step always take 5 µs.
report::Table ten_steps(int from, double pace, double host_pace = 1, const char* later_grid = "[64, 1, 1]",
                        int brief = 0) {
  std::string events;
  double device = 5, host = 0;
  for (int step = 0; step < 10; ++step) {
    const bool slow = step >= from;
    const double begin = host;
    for (int i = 0; i < 40; ++i) {
      const double each = (slow ? host_pace : 1) * 10;
      const double length = i < brief ? 5 : (i % 2 == 0 ? 90 : 60) * (slow ? pace : 1);
      const int id = step * 40 + i + 1;
      for (int name = 0; name < 5; ++name)  // enough operators to measure the host's pace
        events += range("cpu_op", fmt::format("aten::op{}", name), host + name * each / 5, each / 5 - 0.1);
      events += range("cuda_runtime", "cudaLaunchKernel", host, 0.5,
                      fmt::format(R"(, "args": {{"correlation": {}}})", id));
      device = std::max(device, host + 2);
      events += fmt::format(
          R"J({{"ph": "X", "cat": "kernel", "name": "{}{}", "pid": 0, "tid": 7, "ts": {}, "dur": {}, "args": {{"device": 0, "stream": 7, "correlation": {}, "grid": {}, "block": [64, 1, 1]}}}},)J",
          i < brief ? "brief" : "gemm", i < brief ? i : i % 2, device, length, id,
          slow ? later_grid : "[64, 1, 1]");
      device += length;
      host += each;
    }
    events += range("user_annotation", fmt::format("ProfilerStep#{}", step), begin, host - begin);
  }
  events.pop_back();
  const trace::Trace trace = test::open_events(events);
  const analyze::Derived derived(trace, {});
  return as_report(verdict(derived, gather(derived, 1), 1)).tables[1];
}

std::string cell_of(const report::Table& table, const char* column) {
  const Cells ids = test::cells(table, "id");
  const auto found = std::find(ids.begin(), ids.end(), "K10");
  return found == ids.end() ? "" : test::cells(table, column)[static_cast<std::size_t>(found - ids.begin())];
}

// Steps of 3 ms; five of ten take 0.3 ms more, so the mean step could be 0.15 ms shorter.
TEST(KernelRules, ClockDrift) {
  const report::Table drift = ten_steps(5, 1.1);
  EXPECT_EQ(cell_of(drift, "title"),
            "The same kernels run 10.0 % slower from step 5 on: clock or power limit");
  EXPECT_NEAR(std::stod(cell_of(drift, "saving_high")), 150'000, 7'000);
  EXPECT_EQ(cell_of(drift, "confidence"), "low");
  EXPECT_EQ(cell_of(ten_steps(5, 1.04), "title"), "");
  EXPECT_EQ(cell_of(ten_steps(1, 1.1), "title"), "");  // only the first step differs
  EXPECT_EQ(cell_of(ten_steps(10, 1.1), "title"), "");
  EXPECT_EQ(cell_of(ten_steps(5, 1.1, 1.2), "title"), "");              // the host slows down as well
  EXPECT_EQ(cell_of(ten_steps(5, 1.1, 1, "[80, 1, 1]"), "title"), "");  // inputs have grown
  // A file of whole µs has 5 for 5.5 µs: such kernels show nothing, unless other times have digits below.
  EXPECT_NE(cell_of(ten_steps(5, 1.1, 1, "[64, 1, 1]", 4), "title"), "");
  EXPECT_EQ(cell_of(ten_steps(5, 1.101, 1, "[64, 1, 1]", 4), "title"), "");
}

}  // namespace
}  // namespace stepscope::advise
