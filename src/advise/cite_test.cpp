#include "advise/cite.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace stepscope::advise {
namespace {

using report::Shape;
using report::Table;
using report::Unit;

Reports with_device(const char* name, int major, int minor) {
  analyze::DeviceUse device{0, 0, name};
  device.busy = 5;
  device.compute_major = major;
  device.compute_minor = minor;
  Reports reports;
  reports.devices.devices.push_back(device);
  return reports;
}

std::string precision(const char* name, int major, int minor) {
  const Reports reports = with_device(name, major, minor);
  return lower_precision(Evidence(reports, 0));
}

TEST(Cite, PrecisionFitsTheDevice) {
  EXPECT_NE(precision("Tesla V100-SXM2-16GB", 7, 0).find("float16) with torch.amp.GradScaler"),
            std::string::npos);
  EXPECT_NE(precision("Tesla T4", 7, 5).find("not bfloat16"), std::string::npos);
  EXPECT_NE(precision("NVIDIA A100-SXM4-80GB", 8, 0).find("dtype=torch.bfloat16"), std::string::npos);
  EXPECT_NE(precision("NVIDIA H100", 9, 0).find("dtype=torch.bfloat16"), std::string::npos);
  EXPECT_EQ(precision("AMD Instinct MI300X", 9, 4).find("GradScaler"), std::string::npos);
  EXPECT_NE(precision("something", 0, 0).find("if the device has no bfloat16"), std::string::npos);
}

TEST(Cite, GraphsAreNamedAsTheDeviceHasThem) {
  const auto graphs = [](const char* name, int major, int minor) {
    const Reports reports = with_device(name, major, minor);
    return device_graphs(Evidence(reports, 0));
  };
  EXPECT_EQ(graphs("Tesla V100-SXM2-16GB", 7, 0), "CUDA graphs");
  EXPECT_EQ(graphs("AMD Instinct MI300X", 9, 4), "HIP graphs");
  for (const char* name : {"ARTEMIS", "Intel(R) Data Center GPU Max 1550", ""}) {
    EXPECT_EQ(graphs(name, 0, 0).find("CUDA"), std::string::npos) << name;
    EXPECT_EQ(graphs(name, 0, 0).find("HIP"), std::string::npos) << name;
  }
}

TEST(Cite, WordsOfTheDevice) {
  const auto said = [](const char* name, int major, int minor) {
    const Reports reports = with_device(name, major, minor);
    return worded(Evidence(reports, 0), "a <<CUDA||ROCm||either>>, <<b||||c>>.");
  };
  EXPECT_EQ(said("NVIDIA H100", 9, 0), "a CUDA, b.");
  EXPECT_EQ(said("AMD Instinct MI300X", 9, 4), "a ROCm, .");
  EXPECT_EQ(said("something", 0, 0), "a either, c.");
}

Reports with_waits() {
  Reports reports;
  const auto call = [&](const char* name, const char* op, const char* source, std::int64_t count,
                        std::int64_t cost) {
    reports.synchronizations.calls.push_back({0, name, op, "", source, {}, count, cost});
  };
  call("cudaStreamSynchronize", "aten::_local_scalar_dense", "train.py(36): train_step", 96, 4720000);
  call("cudaDeviceSynchronize", "", "", 1, 7000);
  return reports;
}

TEST(Cite, WaitsHaveTheirCallAndLine) {
  Reports reports = with_waits();
  auto waits = waits_of(Evidence(reports, 0));
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].kind, WaitKind::scalar);
  EXPECT_EQ(waits[0].what + waits[0].where, ".item() at train.py:36 (train_step)");
  EXPECT_EQ(
      waits[0].detail,
      "cudaStreamSynchronize in aten::_local_scalar_dense at train.py:36 (train_step), 96 calls, 4.72 ms");
  EXPECT_TRUE(waits[0].remedy.starts_with("Keep the value on the device: drop .item() at train.py:36"));
  EXPECT_EQ(waits[1].kind, WaitKind::asked);
  EXPECT_EQ(waits[1].what, "the device's synchronize()");
  reports.synchronizations.calls[1].source = "bench/profile.py(34): run_torch_profiler";
  EXPECT_TRUE(has(waits_of(Evidence(reports, 0))[1].remedy,
                  "profile.py:34 (run_torch_profiler) out of the step: it belongs"))
      << waits_of(Evidence(reports, 0))[1].remedy;
  reports.synchronizations.calls[0].cost = 0;
  reports.synchronizations.calls[1].cost = report::kNoInt;
  EXPECT_TRUE(waits_of(Evidence(reports, 0)).empty());
}

TEST(Cite, TheLongestIdleStretchOfACause) {
  Reports reports;
  const auto gap = [](std::int64_t length, IdleCause cause, const char* step, const char* op) {
    return analyze::IdleGap{0, 0, 0, length, cause, step, "", "", "", op};
  };
  reports.idle.gaps = {gap(9000, IdleCause::pending, "1", "aten::mm"),
                       gap(5000, IdleCause::op, "2", "aten::add"),
                       gap(4000, IdleCause::alloc, "", "aten::empty")};
  const Evidence evidence(reports, 0);
  EXPECT_EQ(longest_idle(evidence), "; the longest, 5.00 µs, ends at aten::add in step 2");
  EXPECT_EQ(longest_idle(evidence, IdleCause::alloc), "; the longest, 4.00 µs, ends at aten::empty");
  EXPECT_EQ(longest_idle(evidence, IdleCause::input), "");
  reports.idle.gaps[1].start = 70;
  EXPECT_EQ(longest_idle_moment(evidence).start, 70);
  EXPECT_EQ(longest_idle_moment(evidence).length, 5000);
  EXPECT_FALSE(longest_idle_moment(evidence, IdleCause::input).known());
}

TEST(Cite, TheStepOfMedianLengthIsTypical) {
  Reports reports;
  EXPECT_FALSE(typical_step_moment(Evidence(reports, 0)).known());
  const auto step = [&](std::int64_t rank, std::int64_t start, std::int64_t length) {
    analyze::StepTime time;
    time.rank = rank;
    time.number = std::ssize(reports.steps.steps);
    time.host_start = start;
    time.host_end = start + length;
    time.total = length;
    reports.steps.steps.push_back(time);
  };
  step(0, 0, 900);
  step(0, 1000, 100);
  step(0, 1200, 200);
  step(1, 0, 150);
  step(0, 1500, 5);
  reports.steps.steps.back().cut_off = true;
  const report::Moment typical = typical_step_moment(Evidence(reports, 0));
  EXPECT_EQ(typical.start, 1200);
  EXPECT_EQ(typical.length, 200);
}

}  // namespace
}  // namespace stepscope::advise
