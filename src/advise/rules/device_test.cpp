// Rules of device work: a step whose device is busy throughout with what a test plants.
#include "advise/device_step_for_test.h"

namespace stepscope::advise {
namespace {

// 30 of 100 kernels of 100 µs are element-wise: 3 ms, of which fusing saves 0.9 to 2.1 ms.
TEST(DeviceRules, PointwiseChain) {
  const Step chain{{{70, kGemm}, {20, kMul}, {10, kCast}}};
  EXPECT_EQ(cell(chain, "K01", "title"),
            "30.0 % of kernel time (3.00 ms per step) goes into element-wise kernels that each read and "
            "write memory");
  EXPECT_EQ(cell(chain, "K01", "saving_low"), "900000");
  EXPECT_EQ(cell(chain, "K01", "saving_high"), "2100000");
  EXPECT_FALSE(has({{{76, kGemm}, {24, kMul}}}, "K01"));
  EXPECT_FALSE(has({{{70, kGemm}, {30, "triton_poi_fused_mul_0"}}}, "K01"));
  EXPECT_FALSE(has(chain, "C08"));  // the casts belong to the chains
}

// 30 neighbours of one grid fuse into one kernel: 29 of 30 × 100 µs are saved.
TEST(DeviceRules, AChainIsWorthAllButOneOfItsKernels) {
  const std::string grid = R"(, "grid": [1024, 1, 1])";
  const Step chain{{{70, kGemm}, {30, kMul, 100, "kernel", grid}}};
  EXPECT_NEAR(std::stod(cell(chain, "K01", "saving_high")), 2'900'000, 100);
}

TEST(DeviceRules, Casts) {
  EXPECT_TRUE(has({{{95, kGemm}, {5, kCast}}}, "C08"));
  EXPECT_FALSE(has({{{96, kGemm}, {4, kCast}}}, "C08"));
}

TEST(DeviceRules, LayoutChanges) {
  EXPECT_TRUE(has({{{96, kGemm}, {4, "void cudnn::ops::nchwToNhwcKernel<float>"}}}, "C07"));
  EXPECT_FALSE(has({{{97, kGemm}, {3, "void cudnn::ops::nchwToNhwcKernel<float>"}}}, "C07"));
}

// 8 copies of 100 µs beside 92 kernels: 8.7 % of compute time; shortened to a tenth they save 0.72 ms.
TEST(DeviceRules, DeviceCopies) {
  Step clones{{{92, kGemm}, {8, "Memcpy DtoD (Device -> Device)", 100, "gpu_memcpy", kSized + "1000000"}},
              "aten::clone"};
  EXPECT_EQ(cell(clones, "C05", "title"),
            "800 µs per step go into copies inside the device: 8 copies of 7.63 MiB in total, most for "
            "aten::clone");
  EXPECT_EQ(cell(clones, "C05", "saving_high"), "720000");
  clones.op = "torch.distributed.ddp.reducer::copy_bucket_to_grad";
  EXPECT_FALSE(has(clones, "C05"));
  EXPECT_FALSE(has({{{98, kGemm}, {2, "Memcpy DtoD (Device -> Device)", 100, "gpu_memcpy"}}}, "C05"));
}

TEST(DeviceRules, ExposedCopy) {
  const Work copy{4, "Memcpy HtoD (Pinned -> Device)", 100, "gpu_memcpy", kSized + "4000000"};
  EXPECT_TRUE(has({{copy, {96, kGemm}}}, "C02"));
  Work beside = copy;
  beside.stream = 8;
  EXPECT_FALSE(has({{beside, {96, kGemm}}}, "C02"));
}

// 10 MB in 2 ms are 5 GB/s. At the link's 50 GB/s it would be 0.2 ms.
TEST(DeviceRules, SlowLink) {
  Work copy{1, "Memcpy HtoD (Pinned -> Device)", 2000, "gpu_memcpy", kSized + "10000000"};
  EXPECT_EQ(cell({{copy, {80, kGemm}}}, "C03", "saving_high"), "1800000");
  copy.length = 400;  // 25 GB/s
  EXPECT_FALSE(has({{copy, {80, kGemm}}}, "C03"));
}

TEST(DeviceRules, SmallCopies) {
  Work copies{30, "Memcpy HtoD (Pageable -> Device)", 10, "gpu_memcpy", kSized + "8"};
  EXPECT_TRUE(has({{copies, {97, kGemm}}}, "C04"));
  copies.count = 29;
  EXPECT_FALSE(has({{copies, {97, kGemm}}}, "C04"));
}

// aten::zeros runs right before every second operator, which moves what it made.
TEST(DeviceRules, CreatedOnHost) {
  Step made{{{5, "Memcpy HtoD (Pageable -> Device)", 50, "gpu_memcpy", kSized + "80000"}, {95, kGemm}},
            "aten::to"};
  EXPECT_FALSE(has(made, "C06"));
  for (int i = 1; i <= 5; ++i)
    made.more += fmt::format(
        R"J({{"ph": "X", "cat": "cpu_op", "name": "aten::zeros", "pid": 5, "tid": 5, "ts": {}.5, "dur": 0.4}},)J",
        2 * i - 1);
  EXPECT_TRUE(has(made, "C06"));
}

TEST(DeviceRules, SmallGrid) {
  const std::string one = R"(, "blocks per SM": 0.5)", two = R"(, "blocks per SM": 2)";
  EXPECT_TRUE(has({{{50, kGemm, 100, "kernel", one}, {50, kGemm, 100, "kernel", two}}}, "K02"));
  EXPECT_FALSE(has({{{49, kGemm, 100, "kernel", one}, {51, kGemm, 100, "kernel", two}}}, "K02"));
  EXPECT_FALSE(has({{{49, kGemm, 100, "kernel", one}}}, "K02"));  // too few to judge
}

TEST(DeviceRules, DoublePrecision) {
  EXPECT_TRUE(has({{{98, kGemm}, {2, "void vectorized_elementwise_kernel<4, FillFunctor<double>>"}}}, "P03"));
  EXPECT_FALSE(
      has({{{98, kGemm}, {2, "void FusedAdamMathFunctor<float, 4>(float*, double, double)"}}}, "P03"));
  const Step product{{{70, kGemm}, {30, "Cijk_Alik_Bljk_DB_MT64x64x16_SE_K1_VAW1"}}};
  EXPECT_TRUE(has(product, "P03"));
  EXPECT_FALSE(has(product, "P01"));  // autocast leaves it as it is
}

/// `count` products of these sizes in that type, each launched by aten::mm.
Step products(int count, const char* kernel, const char* dtype, int m, int n, int k, int length) {
  Step step{{{count, kernel, length}}, "aten::mm"};
  step.args =
      fmt::format(R"(, "args": {{"Input Dims": [[{0}, {2}], [{2}, {1}]], "Input type": ["{3}", "{3}"]}})", m,
                  n, k, dtype);
  return step;
}

// 2 × 8192 × 50257 × 1024 FLOPs in 10 ms are 84 TFLOP/s; the rate of aligned products is not in the
// recording.
TEST(DeviceRules, MisalignedProducts) {
  EXPECT_EQ(
      cell(products(30, "nvjet_x", "c10::BFloat16", 8192, 50257, 1024, 10000), "K04", "title"),
      "30 products with sizes that are not multiples of 8 take 100 % of kernel time, most of it aten::mm "
      "8192×50257×1024 in bf16");
  EXPECT_FALSE(has(products(30, "nvjet_x", "c10::BFloat16", 8192, 50304, 1024, 10000), "K04"));
  EXPECT_FALSE(has(products(30, "nvjet_x", "c10::BFloat16", 8191, 50304, 1024, 10000), "K04"));  // only M
  EXPECT_FALSE(has(products(30, "volta_sgemm", "float", 8192, 50257, 1024, 10000), "K04"));
}

// 2 × 4096³ FLOPs at the 989 TFLOP/s of this device take 139 µs.
TEST(DeviceRules, FarFromRoof) {
  EXPECT_TRUE(has(products(30, "nvjet_x", "c10::BFloat16", 4096, 4096, 4096, 400), "K06"));
  EXPECT_FALSE(has(products(30, "nvjet_x", "c10::BFloat16", 4096, 4096, 4096, 300), "K06"));
}

TEST(DeviceRules, HalfOnPlainCores) {
  EXPECT_TRUE(has(products(30, "ampere_sgemm_128x64_nn", "c10::Half", 1023, 1023, 1023, 100), "P02"));
  EXPECT_FALSE(has(products(30, "ampere_sgemm_128x64_nn", "float", 1023, 1023, 1023, 100), "P02"));
  EXPECT_FALSE(has(products(30, "ampere_sgemm_128x64_nn", "c10::Half", 4, 1023, 1023, 100), "P02"));
}

/// 30 products, then four times a product, `middle` with scores of `scores` × `scores`, and a product.
Step attention(int scores, const char* middle) {
  Step step{{{30, kGemm}}};
  for (int i = 0; i < 4; ++i)
    for (const char* op : {"aten::matmul", middle, "aten::matmul"}) {
      step.work.push_back({1, op == middle ? "softmax_warp_forward" : kGemm});
      step.work.back().op = op;
      step.work.back().op_args = fmt::format(R"(, "args": {{"Input Dims": [[8, {0}, {0}]]}})", scores);
    }
  return step;
}

// Of 42 kernels 12 are attention, 4 of them the softmax: 0.7 × 0.4 ms to 0.4 + 0.3 × 0.8.
TEST(DeviceRules, PartedAttention) {
  EXPECT_EQ(cell(attention(512, "aten::softmax"), "K07", "saving_low"), "280000");
  EXPECT_EQ(cell(attention(512, "aten::softmax"), "K07", "saving_high"), "640000");
  EXPECT_FALSE(has(attention(255, "aten::softmax"), "K07"));
  EXPECT_FALSE(has(attention(512, "aten::relu"), "K07"));
}

std::string collective(const char* name, long elements, int ranks) {
  return fmt::format(
      R"(, "Collective name": "{}", "dtype": "Float", "In msg nelems": {}, "Out msg nelems": {}, "Group size": {})",
      name, elements, elements, ranks);
}

TEST(DeviceRules, ManyCollectives) {
  const auto reduces = [](int count, long elements) {
    return Step{{{count, "ncclDevKernel_AllReduce", 20, "kernel", collective("allreduce", elements, 8)},
                 {50, kGemm}}};
  };
  EXPECT_TRUE(has(reduces(50, 1000), "N02"));
  EXPECT_FALSE(has(reduces(49, 1000), "N02"));
  EXPECT_FALSE(has(reduces(50, 250'000), "N02"));  // 1 MB each
  Step gradients{
      {{60, kGemm}, {50, "ncclDevKernel_AllReduce", 20, "kernel", collective("allreduce", 250'000, 8)}}};
  gradients.op = "autograd::engine::evaluate_function: MmBackward0";
  EXPECT_TRUE(has(gradients, "N02"));  // gradients: brief, and they could be merged
  EXPECT_FALSE(has(gradients, "N06"));
}

// 40 MB among 2 ranks in 4 ms: 40 MB × 2 × 1/2 / 4 ms = 10 GB/s of 100. Nine tenths of the 4 ms are excess,
// as in a replay with 0.1 of its length. The low end is 0.3 of that: a replay with 0.73 of its length. The
// other rank is not open, so it may be late.
TEST(DeviceRules, SlowLinks) {
  const auto reduce = [](int length) {
    return Step{{{1, "ncclDevKernel_AllReduce", length, "kernel", collective("allreduce", 10'000'000, 2)},
                 {60, kGemm}}};
  };
  EXPECT_EQ(cell(reduce(4000), "N03", "saving_high"), "3600000");
  EXPECT_EQ(
      cell(reduce(4000), "N03", "title"),
      "All-reduce of 38.1 MiB among 2 ranks reaches a bus rate of 10.0 GB/s at best, 100 GB/s expected: slow "
      "links, or a rank that is late in every step");
  EXPECT_EQ(cell(reduce(4000), "N03", "saving_low"), "1080000");
  EXPECT_EQ(cell(reduce(4000), "N03", "confidence"), "low");
  EXPECT_TRUE(cell(reduce(4000), "N03", "because")
                  .starts_with("only 1 of the 2 ranks is open: if a rank is late in every step, the others "
                               "wait for it even in their fastest collective"));
  EXPECT_TRUE(cell(reduce(4000), "N03", "remedy").starts_with("Add the other ranks' files"));
  EXPECT_FALSE(has(reduce(4000), "N01"));  // N03 explains it
  EXPECT_FALSE(has(reduce(1600), "N03"));  // 25 GB/s
  EXPECT_TRUE(has(reduce(1600), "N01"));
}

TEST(DeviceRules, WaitedGathers) {
  const Work gathers{5, "ncclDevKernel_AllGather", 200, "kernel",
                     collective("_allgather_base", 1'000'000, 8)};
  EXPECT_TRUE(has({{gathers, {60, kGemm}}}, "N07"));
  Work hidden = gathers;
  hidden.stream = 8;
  EXPECT_FALSE(has({{hidden, {60, kGemm}}}, "N07"));
}

/// A backward pass of 60 kernels of 100 µs; 2 ms of reductions begin after `before` of them.
Step backward(int before) {
  Step step{{{before, kGemm}, {2, "ncclDevKernel_AllReduce_Sum_float", 1000}, {60 - before, kGemm}}};
  step.op = "autograd::engine::evaluate_function: MmBackward0";
  return step;
}

TEST(DeviceRules, LateReduction) {
  EXPECT_EQ(cell(backward(60), "N06", "saving_high"), "2000000");
  EXPECT_TRUE(has(backward(43), "N06"));
  EXPECT_FALSE(has(backward(42), "N06"));  // 70 % exactly
}

TEST(DeviceRules, ReducedInEveryMicroStep) {
  Step step{
      {{2, "ncclDevKernel_AllReduce", 500, "kernel", collective("allreduce", 1'000'000, 2)}, {60, kGemm}}};
  const auto range = [](const char* name, int at) {
    return fmt::format(
        R"J({{"ph": "X", "cat": "user_annotation", "name": "{}", "pid": 5, "tid": 5, "ts": {}, "dur": 5}},)J",
        name, at);
  };
  step.more = range("Optimizer.step#SGD.step", 1900) + range("DistributedDataParallel.forward", 1700);
  EXPECT_FALSE(has(step, "N11"));
  step.more += range("DistributedDataParallel.forward", 1800);
  EXPECT_TRUE(has(step, "N11"));
  step.work[0].count = 1;  // no_sync
  EXPECT_FALSE(has(step, "N11"));
}

// `levels`: the lowest memory level of each step.
bool grows(const std::vector<long>& levels) {
  std::string events;
  for (std::size_t i = 0; i < levels.size(); ++i)
    events += fmt::format(
        R"J({{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{0}", "pid": 5, "tid": 5, "ts": {1}, "dur": 1000}},
{{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 5, "tid": 5, "ts": {2}, "s": "t", "args": {{"Total Allocated": {3}, "Total Reserved": 1000000000, "Bytes": 512, "Addr": {2}, "Device Type": 1, "Device Id": 0}}}},
{{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": {2}, "dur": 900}},
)J",
        i, i * 1000, i * 1000 + 10, levels[i]);
  const trace::Trace trace = test::open_events(events.substr(0, events.rfind(',')));
  const analyze::Derived derived(trace, {});
  const Cells ids = test::cells(as_report(verdict(derived, gather(derived, 1), 1)).tables[1], "id");
  return std::find(ids.begin(), ids.end(), "A05") != ids.end();
}

TEST(DeviceRules, Growth) {
  constexpr long kMb = 1'000'000;
  EXPECT_TRUE(grows({100 * kMb, 102 * kMb, 104 * kMb, 106 * kMb, 108 * kMb}));
  EXPECT_FALSE(grows({100 * kMb, 102 * kMb, 104 * kMb, 106 * kMb}));
  EXPECT_FALSE(grows({100 * kMb, 102 * kMb, 104 * kMb, 104 * kMb, 108 * kMb}));
  EXPECT_FALSE(grows({100 * kMb, 101 * kMb, 102 * kMb, 103 * kMb, 104 * kMb}));
}

TEST(DeviceRules, Fragmentation) {
  const auto memory = [](long allocated, long reserved) {
    return fmt::format(
        R"J({{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 5, "tid": 5, "ts": 3, "s": "t", "args": {{"Total Allocated": {}, "Total Reserved": {}, "Bytes": 512, "Addr": 4096, "Device Type": 1, "Device Id": 0}}}},)J",
        allocated, reserved);
  };
  Step step{{{60, kGemm}}};
  step.more = memory(6'000'000'000, 9'000'000'000);
  EXPECT_TRUE(has(step, "A04"));
  step.more = memory(6'400'000'000, 9'000'000'000);
  EXPECT_FALSE(has(step, "A04"));
}

const std::string kMax = R"(, "bytes": 9223372036854775807)";

// Copies of 8 EiB in several rows; one takes 1 µs, so its rate is beyond 64 bits as well. Sums and rates stay
// numbers.
TEST(DeviceRules, AbsurdBytes) {
  Step step{{{1, "Memcpy DtoD (Device -> Device)", 1, "gpu_memcpy", kMax},
             {29, "Memcpy DtoD (Device -> Device)", 100, "gpu_memcpy", kMax},
             {60, kGemm}}};
  step.work[0].op = "aten::clone";
  EXPECT_NE(cell(step, "C05", "title").find("30 copies of 8192 PiB in total"), std::string::npos)
      << cell(step, "C05", "title");
}

std::string host_range(const std::string& name, int from, int length) {
  return fmt::format(
      R"J({{"ph": "X", "cat": "user_annotation", "name": "{}", "pid": 5, "tid": 5, "ts": {}, "dur": {}}},)J",
      name, from, length);
}

// The training process loads for 1.5 of 10 ms; meanwhile the device works off its queue.
TEST(DeviceRules, LoadingUnderABusyDeviceCostsNothing) {
  Step step{{{100, kGemm}}};
  step.more = host_range("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 300, 1500);
  EXPECT_EQ(test::cells(findings(step), "id"), Cells{});
}

/// 60 products of 40 µs, then 100 kernels of half a microsecond that an optimizer launches 15 µs apart.
Step loop_behind(const char* product) {
  Step step{{{60, product, 40}}};
  step.more = host_range("Optimizer.step#SGD.step", 200, 1500);
  for (int i = 0; i < 100; ++i)
    step.more += fmt::format(
        R"J({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": {}, "dur": 1, "args": {{"correlation": {}}}}},
{{"ph": "X", "cat": "kernel", "name": "add", "pid": 0, "tid": 7, "ts": {}, "dur": 0.5, "args": {{"device": 0, "stream": 7, "correlation": {}}}}},)J",
        200 + 15 * i, 1000 + i, 2410 + 0.5 * i, 1000 + i);
  return step;
}

// Products on plain cores limit the step of 2.46 ms. On matrix units the host's 1.99 ms would limit: only
// then does the optimizer's loop save 0.85 × 1.5 ms.
TEST(DeviceRules, WhatTheDeviceHidesComesNext) {
  const Step step = loop_behind("volta_sgemm_128x64_nn");
  EXPECT_EQ(test::cells(findings(step), "id"), (Cells{"P01", "H03"}));
  EXPECT_EQ(test::cells(findings(step), "when"), (Cells{"now", "next"}));
  EXPECT_LT(std::stod(cell(step, "H03", "saving_high")), 50'000);
  EXPECT_NEAR(std::stod(cell(step, "H03", "after_high")), 1'275'000, 1'000);
  EXPECT_NE(cell(step, "H03", "because").find("it limits only once the findings above are done"),
            std::string::npos);
  EXPECT_FALSE(
      has(loop_behind("sm90_xmma_gemm_bf16bf16"), "H03"));  // nothing else would shorten the step first
}

}  // namespace
}  // namespace stepscope::advise
