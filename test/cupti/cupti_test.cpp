// Recordings of a fake GPU, from the launch to the engine's rows. The fake says what ran, so every number is
// known before.
#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "cupti/fake_recording.h"
#include "read/open.h"
#include "record/events/function_events.h"
#include "record/recording_file.h"

namespace stepscope::test {
namespace {

using trace::Kind;
using trace::Row;

/// Before and behind what an op calls: two clocks may differ by some of it.
std::chrono::microseconds margin{0};

void spend(std::chrono::microseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
  }
}

template <class Inside>
void op(const char* name, Inside inside) {
  collect::Recorder* recorder = collect::stepscope_recorder.load();
  const std::uint64_t begin = collect::ticks(recorder->clock);
  spend(margin);
  inside();
  spend(margin);
  collect::write_op(*collect::thread_of(*recorder), {nullptr, begin, -1, 0, nullptr, nullptr, 0, 0}, name,
                    collect::ticks(recorder->clock));
}

std::uint32_t launch(const FakeCall& call = {}) { return fake().call(call); }

class Cupti : public FakeRecording {
 protected:
  /// A step of two ops that start four pieces of work, and a launch outside of ops.
  static void run_a_step() {
    range("step", [] {
      op("aten::mm", [] {
        launch();
        FakeCall wide;
        wide.kernel_name = "gemm";
        wide.stream = 20;
        wide.duration = 8000;
        wide.grid = 216;
        launch(wide);
      });
      op("aten::copy_", [] {
        FakeCall copy;
        copy.name = "cudaMemcpyAsync";
        copy.work = FakeCall::copy;
        copy.bytes = 4096;
        copy.duration = 2048;
        launch(copy);
        FakeCall fill;
        fill.name = "cudaMemsetAsync";
        fill.work = FakeCall::fill;
        fill.bytes = 512;
        fill.duration = 1024;
        launch(fill);
        FakeCall question;
        question.name = "cudaGetDevice";
        question.work = FakeCall::none;
        launch(question);
      });
    });
    spend(margin);
    launch();
  }

  trace::Trace read() const {
    auto trace = read::open(std::vector<std::string>{path_});
    EXPECT_TRUE(trace.ok()) << trace.error().text();
    return std::move(*trace);
  }

  static std::vector<Row> rows(const trace::Trace& trace, Kind kind) {
    std::vector<Row> out;
    for (Row row = 0; row < trace.ranks[0].events.size(); ++row)
      if (trace.ranks[0].events.kind[row] == kind) out.push_back(row);
    return out;
  }
  static std::string name(const trace::Trace& trace, Row row) {
    return row == trace::kNoRow ? "" : std::string(trace.name(trace.ranks[0], row));
  }
  static std::int64_t arg(const trace::Trace& trace, Row row, const char* key) {
    return trace::ArgReader(trace, trace.ranks[0], key).integer_or(row, -99);
  }
  static std::string whole_metadata(const trace::Trace& trace, const std::string& key) {
    for (const auto& [known, value] : trace.ranks[0].metadata)
      if (known == key) return value;
    return "";
  }
  static std::string losses(const trace::Trace& trace) {
    std::string out;
    for (const trace::Loss& loss : trace.ranks[0].reading.first_losses) out += loss.reason + "\n";
    return out;
  }

  /// Checks what `run_a_step` must leave. `slack`: ns by which the two clocks may differ.
  void expect_the_step(std::int64_t slack = 0) const {
    const trace::Trace trace = read();
    const trace::Rank& rank = trace.ranks[0];
    const trace::EventTable& e = rank.events;
    EXPECT_EQ(rows(trace, Kind::runtime).size(), 5U);  // the question is not recorded
    const auto kernels = rows(trace, Kind::kernel);
    ASSERT_EQ(kernels.size(), 3U);
    int inside = 0;
    for (const Row row : kernels) {
      const bool wide = name(trace, row) == "gemm";
      EXPECT_EQ(name(trace, row), wide ? "gemm" : "kern(float*, int)");
      EXPECT_NEAR(static_cast<double>(e.duration(row)), wide ? 8000 : 5000, static_cast<double>(slack) / 10);
      EXPECT_EQ(rank.tracks[e.track[row]].stream, wide ? 20 : 7);
      ASSERT_NE(e.launch[row], trace::kNoRow);
      EXPECT_EQ(name(trace, e.launch[row]), "cudaLaunchKernel");
      EXPECT_NEAR(static_cast<double>(e.start[row] - e.end[e.launch[row]]), 1000, static_cast<double>(slack));
      EXPECT_EQ(arg(trace, row, "correlation"), arg(trace, e.launch[row], "correlation"));
      EXPECT_EQ(arg(trace, row, "registers per thread"), 32);
      EXPECT_EQ(arg(trace, row, "est. achieved occupancy %"), wide ? 13 : 6);  // 12.5 and 6.25
      EXPECT_EQ(name(trace, e.op[row]), e.op[row] == trace::kNoRow ? "" : "aten::mm");
      if (e.op[row] == trace::kNoRow) continue;
      ++inside;
      EXPECT_EQ(arg(trace, row, "External id"), arg(trace, e.op[row], "External id"));
    }
    EXPECT_EQ(inside, 2);
    const auto copies = rows(trace, Kind::memcpy), fills = rows(trace, Kind::memset);
    ASSERT_EQ(copies.size(), 1U);
    ASSERT_EQ(fills.size(), 1U);
    EXPECT_EQ(name(trace, copies[0]), "Memcpy HtoD (Pageable -> Device)");
    EXPECT_EQ(name(trace, fills[0]), "Memset (Device)");
    EXPECT_EQ(arg(trace, copies[0], "bytes"), 4096);
    EXPECT_EQ(arg(trace, fills[0], "bytes"), 512);
    if (slack == 0) {
      EXPECT_EQ(trace::ArgReader(trace, rank, "memory bandwidth (GB/s)").real(copies[0]), 2.0);
    }
    EXPECT_EQ(name(trace, e.op[copies[0]]), "aten::copy_");
    EXPECT_EQ(name(trace, e.op[fills[0]]), "aten::copy_");
    expect_annotations(trace, slack);
    EXPECT_EQ(std::count(rank.flows.phase.begin(), rank.flows.phase.end(), 's'), 5);
    EXPECT_EQ(std::count(rank.flows.phase.begin(), rank.flows.phase.end(), 'f'), 5);
    ASSERT_EQ(rank.devices.size(), 2U);
    EXPECT_EQ(rank.devices[1].name, "NVIDIA A100-PG509-200");
    EXPECT_EQ(rank.devices[1].sm_count, 108);
    EXPECT_EQ(rank.devices[1].max_threads_per_sm, 2048);
    EXPECT_EQ(losses(trace), "");
  }

  /// On stream 7 from the kernel to the fill, on stream 20 the wide kernel; 1 ns longer at each end.
  static void expect_annotations(const trace::Trace& trace, std::int64_t slack) {
    const trace::EventTable& e = trace.ranks[0].events;
    const auto spans = rows(trace, Kind::device_annotation);
    ASSERT_EQ(spans.size(), 2U);
    for (const Row row : spans) {
      EXPECT_EQ(name(trace, row), "step");
      if (trace.ranks[0].tracks[e.track[row]].stream == 20) {
        EXPECT_NEAR(static_cast<double>(e.duration(row)), 8002, static_cast<double>(slack) / 10);
        continue;
      }
      EXPECT_EQ(e.end[row], e.end[rows(trace, Kind::memset)[0]] + 1);
    }
  }
};

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
  EXPECT_EQ(own_and_all("kern(float*, int)", true), Sums(10'000, 10'000));  // one of them outside of ops
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

/// Two clocks are read one behind the other, with this machine's other work between: what is put right is the
/// 5 s. DeviceText has the arithmetic to the nanosecond.
TEST_F(Cupti, ALibraryThatKeepsItsOwnClock) {
  FakeOptions options;
  options.has_clock = false;
  options.clock_ahead = 5'000'000'000;
  margin = std::chrono::microseconds(50);
  start(options);
  run_a_step();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  stop();
  margin = {};
  expect_the_step(20'000);
}

TEST_F(Cupti, NumbersOfCallsThatComeRound) {
  FakeOptions options;
  options.first_correlation = 0xFFFF'FFFE;
  start(options);
  run_a_step();
  stop();
  expect_the_step();
  // Of eight numbers, seven used: the 21 calls have each number three times.
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

TEST_F(Cupti, GraphsPeersWaitsAndOverhead) {
  start();
  FakeCall graph;
  graph.name = "cudaGraphLaunch";
  graph.graph = 3;
  graph.works = 4;
  launch(graph);
  FakeCall peer;
  peer.name = "cudaMemcpyPeerAsync";
  peer.work = FakeCall::peer_copy;
  peer.from = peer.to = 3;
  peer.bytes = 1 << 20;
  launch(peer);
  FakeCall mark;
  mark.name = "cudaEventRecord";
  mark.work = FakeCall::none;
  mark.records_event = true;
  mark.event = 9;
  const std::uint32_t recorded = launch(mark);
  FakeCall wait;
  wait.name = "cudaEventSynchronize";
  wait.work = FakeCall::none;
  wait.wait = 1;
  wait.stream = 0xFFFF'FFFF;
  wait.event = 9;
  launch(wait);
  wait.name = "cudaDeviceSynchronize";
  wait.wait = 4;
  wait.event = 0xFFFF'FFFF;
  launch(wait);
  launch(mark);  // behind the wait: not what was waited for
  FakeCall driver;
  driver.name = "cuLaunchKernel";
  launch(driver);
  fake().overhead(1U << 16, 700);
  stop();
  const trace::Trace trace = read();
  const trace::Rank& rank = trace.ranks[0];
  const auto kernels = rows(trace, Kind::kernel);
  ASSERT_EQ(kernels.size(), 5U);
  EXPECT_EQ(std::count_if(kernels.begin(), kernels.end(),
                          [&](Row row) {
                            return name(trace, rank.events.launch[row]) == "cudaGraphLaunch" &&
                                   arg(trace, row, "graph id") == 3 &&
                                   arg(trace, row, "graph node id") == ((std::int64_t{3} << 32) | 5);
                          }),
            4);
  const auto copies = rows(trace, Kind::memcpy);
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(name(trace, copies[0]), "Memcpy PtoP (Device -> Device)");
  EXPECT_EQ(arg(trace, copies[0], "fromDevice"), 0);
  EXPECT_EQ(arg(trace, copies[0], "toDevice"), 1);
  const auto waits = rows(trace, Kind::device_sync);
  ASSERT_EQ(waits.size(), 2U);
  for (const Row row : waits) {
    const bool of_event = name(trace, row) == "Event Sync";
    EXPECT_EQ(name(trace, row), of_event ? "Event Sync" : "Context Sync");
    EXPECT_EQ(arg(trace, row, "stream"), -1);
    EXPECT_EQ(arg(trace, row, "device"), 0);
    EXPECT_EQ(arg(trace, row, "wait_on_stream"), of_event ? 7 : -99);
    EXPECT_EQ(arg(trace, row, "wait_on_cuda_event_record_corr_id"), of_event ? std::int64_t{recorded} : -99);
  }
  const auto overheads = rows(trace, Kind::overhead);
  ASSERT_EQ(overheads.size(), 1U);
  EXPECT_EQ(name(trace, overheads[0]), "Buffer Flush");
  EXPECT_EQ(rank.events.duration(overheads[0]), 700);
}

TEST_F(Cupti, WorkWithoutTimesIsCounted) {
  FakeOptions options;
  options.untimed = true;
  start(options);
  run_a_step();
  stop();
  const trace::Trace trace = read();
  EXPECT_TRUE(rows(trace, Kind::kernel).empty());
  EXPECT_EQ(rows(trace, Kind::runtime).size(), 5U);
  EXPECT_NE(losses(trace).find("5 kernels or copies have no times"), std::string::npos) << losses(trace);
}

TEST_F(Cupti, WhatStillRunsAtTheEndIsCounted) {
  start();
  launch();
  EXPECT_EQ(stepscope_cupti_flush(), 0);
  FakeCall endless;
  endless.runs_on = true;
  launch(endless);
  EXPECT_EQ(stepscope_cupti_flush(), 0);
  EXPECT_EQ(fake().forced_flushes(), 0U);
  stop();
  const trace::Trace trace = read();
  EXPECT_EQ(rows(trace, Kind::kernel).size(), 1U);
  EXPECT_EQ(rows(trace, Kind::runtime).size(), 2U);
  EXPECT_NE(losses(trace).find("1 kernels or copies have no times"), std::string::npos) << losses(trace);
}

TEST_F(Cupti, WithoutABufferRecordsAreCounted) {
  for (const std::uint32_t version : {18U, 28U}) {
    FakeOptions options;
    options.version = version;
    start(options);
    stepscope_cupti_flush();  // the buffer with the devices comes back
    std::vector<std::uint8_t*> held;
    for (int i = 0; i < 31; ++i) held.push_back(fake().take_buffer());
    ASSERT_EQ(std::count(held.begin(), held.end(), nullptr), 0);
    launch();
    stepscope_cupti_flush();
    for (std::uint8_t* buffer : held) fake().complete_buffer(buffer);
    stepscope_cupti_flush();
    launch();
    stop();
    const trace::Trace trace = read();
    EXPECT_EQ(rows(trace, Kind::kernel).size(), 1U);
    const std::string expected =
        version == 18 ? "240 bytes of records of GPUs came faster" : "2 records of GPUs were dropped";
    EXPECT_NE(losses(trace).find(expected), std::string::npos) << losses(trace);
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
  launch();  // of no recording
  EXPECT_EQ(stepscope_cupti_flush(), 0);
  ASSERT_EQ(stepscope_open(path_.c_str(), 64, 0), 0);
  ASSERT_EQ(stepscope_start(), 0);
  run_a_step();
  stop();
  expect_the_step();
}

}  // namespace
}  // namespace stepscope::test
