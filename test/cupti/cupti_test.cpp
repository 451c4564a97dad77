// Recordings of a fake GPU, from the launch to the engine's rows.
#include <thread>

#include "cupti/recorded_step.h"
#include "record/events/function_events.h"
#include "record/recording_file.h"

namespace stepscope::test {
namespace {

TEST_F(Cupti, FunctionEventsHaveTheWork) {
  start();
  run_a_step();
  stop();
  const auto file = record::RecordingFile::open(path_);
  ASSERT_TRUE(file.ok()) << file.error().text();
  const record::Recording* const all[] = {&file->recording()};
  const record::FunctionEvents e = record::function_events(all);
  const auto own_and_all = [&](std::string_view name, bool on_device) {
    std::pair<std::int64_t, std::int64_t> sum;
    for (std::size_t i = 0; i < e.size(); ++i)
      if (e.texts[static_cast<std::size_t>(e.name[i])] == name && (e.device[i] >= 0) == on_device) {
        sum.first += e.self_device_ns[i];
        sum.second += e.device_ns[i];
      }
    return sum;
  };
  using Sums = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(own_and_all("aten::mm", false), Sums(13'000, 13'000));
  EXPECT_EQ(own_and_all("aten::copy_", false), Sums(3072, 3072));
  EXPECT_EQ(own_and_all("step", false), Sums(0, 16'072));
  EXPECT_EQ(own_and_all("cudaLaunchKernel", false), Sums(0, 0));
  EXPECT_EQ(own_and_all("kern(float*, int)", true), Sums(10'000, 10'000));  // one call is outside of ops
  EXPECT_EQ(own_and_all("Memset (Device)", true), Sums(1024, 1024));
}

TEST_F(Cupti, AStepFromLaunchToRows) {
  start();
  run_a_step();
  stop();
  expect_the_step();
  EXPECT_EQ(fake().forced_flushes(), 1U);
  EXPECT_EQ(whole_metadata(read(), "cupti_version"), "28");
}

TEST_F(Cupti, EveryVersionOfTheLibrary) {
  for (const std::uint32_t version : {18U, 28U, 130202U, 130500U}) {
    SCOPED_TRACE(version);
    FakeOptions options;
    options.version = version;
    start(options);
    EXPECT_EQ(fake().runtime_call_is_on("cudaGetDevice"), version < 23);
    run_a_step();
    stop();
    expect_the_step();
  }
}

TEST_F(Cupti, RecordsInNoOrderAndBuffersOfAFewRecords) {
  FakeOptions options;
  options.shuffled = true;
  options.work_first = true;
  start(options);
  run_a_step();
  stop();
  expect_the_step();
  options.buffer_bytes = 512;
  start(options);
  run_a_step();
  stop();
  expect_the_step();
}

TEST_F(Cupti, ALibraryThatKeepsItsOwnClock) { expect_the_step_by_the_librarys_clock({}); }

TEST_F(Cupti, NumbersOfCallsThatComeRound) {
  FakeOptions options;
  options.first_correlation = 0xFFFF'FFFE;
  start(options);
  run_a_step();
  stop();
  expect_the_step();
  // Seven of eight ids are used: the 21 calls have each id three times.
  options.first_correlation = 1;
  options.correlation_mask = 7;
  start(options);
  for (int i = 0; i < 21; ++i) op(("op " + std::to_string(i)).c_str(), [] { launch(); });
  stop();
  const trace::Trace trace = read();
  const auto kernels = rows(trace, Kind::kernel);
  ASSERT_EQ(kernels.size(), 21U);
  for (std::size_t i = 0; i < 21; ++i)
    EXPECT_EQ(name(trace, trace.ranks[0].events.op[kernels[i]]), "op " + std::to_string(i));
}

TEST_F(Cupti, CallsOfManyThreads) {
  FakeOptions options;
  options.buffer_bytes = 16384;
  start(options);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 250; ++i)
        op(("op of " + std::to_string(t)).c_str(), [&] {
          FakeCall call;
          call.stream = static_cast<std::uint32_t>(10 + t);
          call.call_duration = 100;
          launch(call);
        });
    });
  for (std::thread& thread : threads) thread.join();
  stop();
  const trace::Trace trace = read();
  const auto kernels = rows(trace, Kind::kernel);
  EXPECT_EQ(kernels.size(), 1000U);
  for (const Row row : kernels) {
    const std::int64_t stream = trace.ranks[0].tracks[trace.ranks[0].events.track[row]].stream;
    EXPECT_EQ(name(trace, trace.ranks[0].events.op[row]), "op of " + std::to_string(stream - 10));
  }
}

TEST_F(Cupti, TwoRecordingsOfOneAttachment) {
  start();
  run_a_step();
  EXPECT_EQ(stepscope_cupti_flush(), 0);
  EXPECT_EQ(stepscope_stop(), 0);
  stepscope_close();
  expect_the_step();
  std::filesystem::remove(path_);
  launch();  // belongs to no recording
  EXPECT_EQ(stepscope_cupti_flush(), 0);
  ASSERT_EQ(stepscope_open(path_.c_str(), 64, 0), 0);
  ASSERT_EQ(stepscope_start(), 0);
  run_a_step();
  stop();
  expect_the_step();
}

}  // namespace
}  // namespace stepscope::test
