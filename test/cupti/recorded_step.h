// A step of work on the fake GPU, and what a recording of it must hold. The fake decides what runs, so every
// number is known in advance.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "cupti/fake_recording.h"
#include "read/open.h"

namespace stepscope::test {

using trace::Kind;
using trace::Row;

/// Time before and after an op's calls: two clocks may differ by part of it.
inline std::chrono::microseconds margin{0};

inline void spend(std::chrono::microseconds time) {
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

inline std::uint32_t launch(const FakeCall& call = {}) { return fake().call(call); }

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

  /// Records the step with a library that keeps its own clock, 5 s ahead. The two clocks are read one after
  /// the other, and other work of this machine may run in between: only the 5 s are corrected here.
  /// DeviceText tests the arithmetic to the nanosecond.
  void expect_the_step_by_the_librarys_clock(FakeOptions options) {
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

  /// Checks the recording of `run_a_step`. `slack`: ns by which the two clocks may differ.
  void expect_the_step(std::int64_t slack = 0) const {
    const trace::Trace trace = read();
    const trace::Rank& rank = trace.ranks[0];
    const trace::EventTable& e = rank.events;
    EXPECT_EQ(rows(trace, Kind::runtime).size(), 5U);  // without cudaGetDevice
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

  /// On stream 7 from the kernel to the fill, on stream 20 the wide kernel; each 1 ns longer at both ends.
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

}  // namespace stepscope::test
