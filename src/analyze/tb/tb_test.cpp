// Hand-made traces for the rules that no recording shows on its own. Times in the traces are µs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/tb/names.h"
#include "read/open.h"

namespace stepscope::analyze {
namespace {

using report::Params;
using report::Report;
using report::Table;

template <Report (*form)(const Derived&, const Params&)>
Report answer(const trace::Trace& trace, const Params& params) {
  return form(Derived(trace, params), params);
}
constexpr auto tb_steps = answer<tb::steps>;
constexpr auto tb_devices = answer<tb::devices>;
constexpr auto tb_operators = answer<tb::operators>;
constexpr auto tb_kernels = answer<tb::kernels>;
constexpr auto tb_recommendations = answer<tb::recommendations>;

std::string event(std::string_view category, std::string_view name, int tid, double start, double length,
                  std::string_view args = "") {
  return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                     category, name, tid, start, length, args);
}
std::string op(std::string_view name, double start, double length, int id) {
  return event("cpu_op", name, 1, start, length, fmt::format(R"("External id":{})", id));
}
std::string step(int number, double start, double length) {
  return event("user_annotation", fmt::format("ProfilerStep#{}", number), 1, start, length);
}
std::string call(double start, double length, int correlation, int id) {
  return event("cuda_runtime", "cudaLaunchKernel", 1, start, length,
               fmt::format(R"("correlation":{},"External id":{})", correlation, id));
}
std::string kernel(std::string_view name, double start, double length, int correlation,
                   std::string_view more = "") {
  return event("kernel", name, 7, start, length,
               fmt::format(R"("device":0,"correlation":{}{})", correlation, more));
}

trace::Trace open_text(const std::string& text, const std::string& name) {
  const std::string path = testing::TempDir() + "tb_" + name + ".json";
  std::ofstream(path) << text;
  const std::vector<std::string> paths = {path};
  auto opened = read::open(paths);
  EXPECT_TRUE(opened.ok());
  return std::move(*opened);
}

trace::Trace open_events(const std::vector<std::string>& events, const std::string& head = "") {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  return open_text(fmt::format(R"({{{}"traceEvents":[{}]}})", head, fmt::join(events, ",")), test->name());
}

std::int64_t value(const Report& report, std::string_view column, std::size_t row) {
  const report::Column* found = report.tables.at(0).column(column);
  return found == nullptr ? -1 : std::get<report::Ints>(found->values).at(row);
}
std::string text(const Report& report, std::string_view column, std::size_t row) {
  const report::Column* found = report.tables.at(0).column(column);
  return found == nullptr ? "no such column" : std::get<report::Texts>(found->values).at(row);
}
double share(const Report& report, std::string_view column, std::size_t row) {
  return std::get<report::Reals>(report.tables.at(0).column(column)->values).at(row);
}
/// The row of an operator or a kernel.
std::size_t row_of(const Report& report, std::string_view name) {
  const auto& names = std::get<report::Texts>(report.tables.at(0).column("name")->values);
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

TEST(TbSteps, partsAddUpToMoreThanTheStepWhenOneRoleFillsIt) {
  // Kernels fill the step, so the copy starts again from the whole step; the call and the op share the rest.
  const auto trace =
      open_events({step(1, 0, 100), kernel("k", 0, 100, 1),
                   event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 7, 10, 10, R"("correlation":2)"),
                   call(20, 40, 1, 1), op("a", 0, 100, 1)});
  const Report report = tb_steps(trace, Params());
  ASSERT_EQ(report.tables.at(0).rows(), 1u);
  EXPECT_EQ(value(report, "kernel", 0), 100'000);
  EXPECT_EQ(value(report, "memcpy", 0), 10'000);
  EXPECT_EQ(value(report, "runtime", 0), 40'000);
  EXPECT_EQ(value(report, "cpu_exec", 0), 50'000);
  EXPECT_EQ(value(report, "other", 0), 0);
  EXPECT_EQ(value(report, "total", 0), 100'000);
}

TEST(TbSteps, aStepEndsWithTheLastDeviceEventItLaunchedAndTheNextBeginsThere) {
  const auto trace = open_events({step(1, 0, 100), call(10, 5, 1, 1), kernel("k", 90, 60, 1),
                                  step(2, 100, 100), call(110, 5, 2, 2), kernel("k", 150, 20, 2)});
  const Report report = tb_steps(trace, Params());
  ASSERT_EQ(report.tables.at(0).rows(), 2u);
  EXPECT_EQ(value(report, "total", 0), 150'000);
  EXPECT_EQ(value(report, "total", 1), 50'000);
  EXPECT_EQ(value(report, "kernel", 0), 60'000);
}

TEST(TbSteps, workFromBeforeTheFirstStepMovesItsBegin) {
  const auto trace = open_events({call(0, 1, 1, 1), kernel("before", 5, 25, 1), step(1, 10, 90),
                                  call(20, 5, 2, 2), kernel("k", 40, 20, 2)});
  EXPECT_EQ(value(tb_steps(trace, Params()), "total", 0), 70'000);  // 30 … 100
}

TEST(TbSteps, aCallAcrossTheEndOfAStepLaunchesForNoStep) {
  const auto trace = open_events({step(1, 0, 100), call(10, 5, 1, 1), kernel("k", 20, 10, 1),
                                  call(95, 10, 2, 1), kernel("late", 200, 100, 2)});
  EXPECT_EQ(value(tb_steps(trace, Params()), "total", 0), 100'000);
}

TEST(TbSteps, lastStepsAreRemoved) {
  std::vector<std::string> events = {step(1, 0, 100), step(2, 100, 100), step(3, 200, 100)};
  for (int i = 0; i < 5; ++i) {
    events.push_back(call(10 + i, 1, i + 1, 1));
    events.push_back(kernel("k", 20 + i, 1, i + 1));
  }
  for (int i = 0; i < 3; ++i) {  // 3 of 5 are under 80 %
    events.push_back(call(110 + i, 1, i + 11, 1));
    events.push_back(kernel("k", 120 + i, 1, i + 11));
  }
  const Report report = tb_steps(open_events(events), Params());
  ASSERT_EQ(report.tables.at(0).rows(), 1u);
  EXPECT_EQ(text(report, "step", 0), "1");
  EXPECT_EQ(report.notes.size(), 1u);
}

TEST(TbSteps, annotationsOnADeviceAreStepsToo) {
  const auto trace =
      open_events({step(1, 0, 100), event("gpu_user_annotation", "ProfilerStep#1", 7, 300, 10)});
  EXPECT_EQ(tb_steps(trace, Params()).tables.at(0).rows(), 2u);
}

TEST(TbSteps, withoutMarksOneStepNamed0SpansOperators) {
  const auto trace =
      open_events({event("user_annotation", "loop", 1, 0, 500), op("a", 100, 50, 1), op("b", 200, 100, 2)});
  const Report report = tb_steps(trace, Params());
  ASSERT_EQ(report.tables.at(0).rows(), 1u);
  EXPECT_EQ(text(report, "step", 0), "0");
  EXPECT_EQ(value(report, "total", 0), 200'000);
}

TEST(TbSteps, theStepsAnalysisAnswersWithItWhenAsked) {
  const auto trace = open_events({step(1, 0, 100), step(2, 100, 100), op("a", 20, 30, 1)});
  Params params;
  params.set("tb-compat", "true");
  params.set("step", "2");
  const Report report = steps(Derived(trace, params), params);
  ASSERT_EQ(report.tables.at(0).rows(), 1u);
  EXPECT_EQ(text(report, "step", 0), "2");
}

TEST(TbOperators, aNodeThatEndsBehindTheOneItBeganInIsLostAndItsChildrenAreNot) {
  const auto trace = open_events({op("outer", 0, 100, 1), op("across", 50, 100, 2), op("inner", 60, 10, 3)});
  const Report report = tb_operators(trace, Params());
  ASSERT_EQ(report.tables.at(0).rows(), 2u);
  EXPECT_EQ(row_of(report, "across"), 2u);
  EXPECT_EQ(value(report, "host_self", row_of(report, "outer")), 90'000);
}

TEST(TbOperators, anOnlyChildOfTheSameNameIsMergedAndTheParentsCallsAreLost) {
  const auto trace = open_events({op("a", 0, 100, 1), op("a", 10, 50, 2), call(5, 1, 1, 1),
                                  kernel("lost", 200, 7, 1), call(20, 1, 2, 2), kernel("kept", 300, 5, 2)});
  const Report report = tb_operators(trace, Params());
  ASSERT_EQ(report.tables.at(0).rows(), 1u);
  EXPECT_EQ(value(report, "calls", 0), 1);
  EXPECT_EQ(value(report, "device_total", 0), 5'000);
  EXPECT_EQ(value(report, "host_self", 0), 99'000);
}

TEST(TbOperators, theFirstNodeOfAnExternalIdTakesItsCalls) {
  const auto trace =
      open_events({op("first", 0, 10, 5), op("second", 20, 10, 5), call(22, 2, 1, 5), kernel("k", 40, 8, 1)});
  const Report report = tb_operators(trace, Params());
  EXPECT_EQ(value(report, "device_self", row_of(report, "first")), 8'000);
  EXPECT_EQ(value(report, "device_self", row_of(report, "second")), 0);
}

TEST(TbOperators, overlappingKernelsCountTwice) {
  const auto trace = open_events({op("a", 0, 50, 1), call(5, 1, 1, 1), call(7, 1, 2, 1),
                                  kernel("k", 10, 20, 1), kernel("k", 10, 20, 2)});
  EXPECT_EQ(value(tb_operators(trace, Params()), "device_self", 0), 40'000);
}

TEST(TbOperators, groupsByShapeAndByStack) {
  const auto with = [](double start, std::string_view args) {
    return event("cpu_op", "a", 1, start, 5, args);
  };
  const auto trace = open_events({with(0, R"("Input Dims":[[1,2]])"),
                                  with(10, R"("Input Dims":[[1,2]],"Call stack":"f.py(1): g")"),
                                  with(20, R"("Input dims":[[3]])"), with(30, "")});
  Params params;
  params.set("group", "shape");
  const Report by_shape = tb_operators(trace, params);
  ASSERT_EQ(by_shape.tables.at(0).rows(), 3u);
  EXPECT_EQ(text(by_shape, "input_shape", 0), "[[1,2]]");
  EXPECT_EQ(value(by_shape, "calls", 0), 2);
  params.set("group", "stack");
  const Report by_stack = tb_operators(trace, params);
  ASSERT_EQ(by_stack.tables.at(0).rows(), 1u);
  EXPECT_EQ(text(by_stack, "call_stack", 0), "f.py(1): g");
}

TEST(TbOperators, driverCallsAreNotRuntimeCalls) {
  const auto trace =
      open_events({step(1, 0, 100), op("triton", 0, 50, 1),
                   event("cuda_driver", "cuLaunchKernel", 1, 5, 1, R"("correlation":1,"External id":1)"),
                   kernel("triton_k", 20, 9, 1)});
  EXPECT_EQ(value(tb_operators(trace, Params()), "device_total", 0), 0);
  Params params;
  params.set("group", "properties");
  const Report kernels = tb_kernels(trace, params);
  ASSERT_EQ(kernels.tables.at(0).rows(), 1u);
  EXPECT_EQ(text(kernels, "op", 0), "CallTreeRoot");
}

TEST(TbKernels, propertiesTellLaunchesApartAndCopiesAreNoKernels) {
  const auto grid = [](int x) {
    return fmt::format(R"(,"grid":[{},1,1],"registers per thread":32,"shared memory":0)", x);
  };
  const auto trace = open_events({op("aten::mm", 0, 50, 1), call(1, 1, 1, 1), call(3, 1, 2, 1),
                                  call(5, 1, 3, 1), kernel("k", 10, 4, 1, grid(1)),
                                  kernel("k", 20, 5, 2, grid(1)), kernel("k", 30, 1, 3, grid(2)),
                                  event("gpu_memcpy", "Memcpy", 7, 40, 50, R"("correlation":3)")});
  EXPECT_EQ(tb_kernels(trace, Params()).tables.at(0).rows(), 1u);
  Params params;
  params.set("group", "properties");
  const Report report = tb_kernels(trace, params);
  ASSERT_EQ(report.tables.at(0).rows(), 2u);
  EXPECT_EQ(value(report, "count", 0), 2);
  EXPECT_EQ(value(report, "mean", 0), 4'500);
  EXPECT_EQ(value(report, "registers", 0), 32);
  EXPECT_EQ(text(report, "op", 0), "aten::mm");
  EXPECT_EQ(text(report, "op_tc_eligible", 0), "yes");
  EXPECT_TRUE(report.tables.at(0).column("occupancy")->missing(0));
}

TEST(TbDevices, utilizationCountsKernelsOnlyAndEfficiencyCapsAtOneBlockPerSm) {
  const std::string half = R"(,"blocks per SM":0.5,"est. achieved occupancy %":20)";
  const std::string many = R"(,"blocks per SM":40,"est. achieved occupancy %":60)";
  const auto trace = open_events({step(1, 0, 100), call(1, 1, 1, 1), call(3, 1, 2, 1),
                                  kernel("h884", 10, 20, 1, half), kernel("other", 50, 20, 2, many),
                                  event("gpu_memcpy", "Memcpy", 7, 80, 10, R"("device":0,"correlation":9)"),
                                  op("a", 0, 9, 1)});
  const Report report = tb_devices(trace, Params());
  ASSERT_EQ(report.tables.at(0).rows(), 1u);
  EXPECT_DOUBLE_EQ(share(report, "utilization", 0), 0.4);
  EXPECT_DOUBLE_EQ(share(report, "sm_efficiency", 0), 0.3);
  EXPECT_DOUBLE_EQ(share(report, "occupancy", 0), 0.4);
  EXPECT_DOUBLE_EQ(share(report, "tensor_core_share", 0), 0.5);
}

TEST(TbRecommendations, aFullHostIsTakenForAFullLastDevice) {
  const std::string head =
      R"("deviceProperties":[{"id":0,"totalGlobalMem":1000,"computeMajor":6,"computeMinor":0}],)";
  const auto memory = [](int used) {
    return fmt::format(
        R"({{"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":5,"args":{{"Device Type":0,"Device Id":-1,"Addr":1,"Bytes":8,"Total Allocated":{}}}}})",
        used);
  };
  EXPECT_EQ(
      tb_recommendations(open_events({step(1, 0, 100), memory(900)}, head), Params()).tables.at(0).rows(),
      0u);
  const Report report = tb_recommendations(open_events({step(1, 0, 100), memory(901)}, head), Params());
  ASSERT_EQ(report.tables.at(0).rows(), 1u);
  EXPECT_EQ(text(report, "rule", 0), "memory");
}

TEST(TbRecommendations, dataLoadingAboveFivePercent) {
  const auto loading = [](double length) {
    return event("cpu_op", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 0, length);
  };
  EXPECT_EQ(tb_recommendations(open_events({step(1, 0, 100), loading(5)}), Params()).tables.at(0).rows(), 0u);
  const Report report = tb_recommendations(open_events({step(1, 0, 100), loading(6)}), Params());
  ASSERT_EQ(report.tables.at(0).rows(), 1u);
  EXPECT_EQ(text(report, "rule", 0), "data_loading");
}

std::vector<std::string> rules_of(const std::vector<std::string>& events, int major, int minor = 0) {
  const auto trace = open_events(
      events,
      fmt::format(
          R"("deviceProperties":[{{"id":0,"totalGlobalMem":1000,"computeMajor":{},"computeMinor":{}}}],)",
          major, minor));
  return std::get<report::Texts>(tb_recommendations(trace, Params()).tables.at(0).column("rule")->values);
}
using Rules = std::vector<std::string>;

TEST(TbRecommendations, dataParallelWithKernelsOfTwoDevices) {
  const auto on = [](int device) {
    return fmt::format(
        R"({{"ph":"X","cat":"kernel","name":"k","pid":{0},"tid":7,"ts":10,"dur":80,"args":{{"device":{0}}}}})",
        device);
  };
  const std::string forward = op("DataParallel.forward", 1, 5, 1);
  EXPECT_EQ(rules_of({step(1, 0, 100), forward, on(0)}, 6), Rules{});
  EXPECT_EQ(rules_of({step(1, 0, 100), on(0), on(2)}, 6), Rules{});
  EXPECT_EQ(rules_of({step(1, 0, 100), forward, on(0), on(2)}, 6), Rules{"data_parallel"});
}

TEST(TbRecommendations, ncclForDataParallelTrainingWhereTheDeviceCan) {
  const std::string forward = op("DistributedDataParallel.forward", 1, 5, 1);
  EXPECT_EQ(rules_of({step(1, 0, 100), forward}, 3, 5), Rules{"nccl"});
  EXPECT_EQ(rules_of({step(1, 0, 100), forward}, 3, 4), Rules{});
  EXPECT_EQ(rules_of({step(1, 0, 100), forward, op("nccl:all_reduce", 8, 1, 2)}, 6), Rules{});
}

TEST(TbRecommendations, communicationAboveTenPercent) {
  const auto reducing = [](double length) { return op("gloo:all_reduce", 1, length, 1); };
  EXPECT_EQ(rules_of({step(1, 0, 100), reducing(10)}, 6), Rules{});
  EXPECT_EQ(rules_of({step(1, 0, 100), reducing(11)}, 6), Rules{"communication"});
}

TEST(TbRecommendations, devicesBusyUnderHalfOfTheTime) {
  const auto busy = [](double length) {
    return std::vector<std::string>{step(1, 0, 100), call(1, 1, 1, 1), op("a", 0, 9, 1),
                                    kernel("k", 10, length, 1)};
  };
  EXPECT_EQ(rules_of(busy(49), 6), Rules{"utilization"});
  EXPECT_EQ(rules_of(busy(50), 6), Rules{});
}

TEST(TbRecommendations, operatorsThatCouldUseTensorCoresAndDoNot) {
  const auto launched = [](std::string_view name) {
    return std::vector<std::string>{step(1, 0, 100), op("aten::mm", 0, 9, 1), call(1, 1, 1, 1),
                                    kernel(name, 10, 80, 1)};
  };
  EXPECT_EQ(rules_of(launched("sgemm"), 7), Rules{"tensor_cores"});
  EXPECT_EQ(rules_of(launched("sgemm"), 6), Rules{});
  EXPECT_EQ(rules_of(launched("volta_s884gemm"), 7), Rules{});
}

TEST(TbNames, tensorCoreListsAreThePluginsOwn) {
  const auto is = [](std::string_view name, int fact) { return (tb::facts_of(name) & fact) != 0; };
  EXPECT_TRUE(is("volta_fp16_s884gemm", tb::kTensorCoreKernel));
  EXPECT_TRUE(is("xmma_gemm_x", tb::kTensorCoreKernel));
  EXPECT_FALSE(is("nvjet_tst_64x64", tb::kTensorCoreKernel));
  EXPECT_FALSE(is("VOLTA_S884", tb::kTensorCoreKernel));
  EXPECT_TRUE(is("aten::prelu", tb::kTensorCoreOp));
  EXPECT_TRUE(is("BmmBackward0", tb::kTensorCoreOp));
  EXPECT_FALSE(is("AddmmBackward0", tb::kTensorCoreOp));
  EXPECT_FALSE(is("aten::addmm_out", tb::kTensorCoreOp));
}

TEST(TbCompat, deepNestsAndEmptyTracesAreAnswered) {
  std::vector<std::string> events;
  for (int i = 0; i < 60'000; ++i) events.push_back(op(i % 2 == 0 ? "a" : "b", i, 200'000 - 2 * i, i + 1));
  const auto deep = open_events(events);
  EXPECT_EQ(value(tb_operators(deep, Params()), "calls", 0), 30'000);
  EXPECT_EQ(tb_devices(deep, Params()).notes.size(), 1u);
  const auto empty = open_text(
      R"({"traceEvents":[{"ph":"i","name":"Record Window End","s":"g","pid":"","tid":"","ts":5}]})", "empty");
  for (const auto analysis : {tb_steps, tb_devices, tb_operators, tb_kernels, tb_recommendations})
    EXPECT_EQ(analysis(empty, Params()).tables.at(0).rows(), 0u);
}

TEST(TbCompat, aChoiceOfStepsThatIsNotAppliedIsSaid) {
  const auto trace = open_events({step(1, 0, 100), op("a", 0, 10, 1), kernel("k", 5, 5, 1)});
  Params params;
  params.set("step", "1");
  for (const auto analysis : {tb_devices, tb_operators, tb_kernels})
    EXPECT_EQ(analysis(trace, params).notes.size(), 1u);
}

}  // namespace
}  // namespace stepscope::analyze
