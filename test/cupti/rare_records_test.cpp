// Records of a fake GPU that are rare, or that are lost.
#include "cupti/recorded_step.h"

namespace stepscope::test {
namespace {

TEST_F(Cupti, GraphsPeersWaitsAndOverhead) {
  start();
  FakeCall graph;
  graph.name = "cudaGraphLaunch";
  graph.graph = 3;
  graph.node = (std::uint64_t{3} << 32) | 5;
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
  launch(mark);  // after the wait: not what was waited for
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
    stepscope_cupti_flush();  // returns the buffer with the devices
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
        version == 18 ? "240 bytes of GPU records were lost" : "2 GPU records were dropped";
    EXPECT_NE(losses(trace).find(expected), std::string::npos) << losses(trace);
  }
}

}  // namespace
}  // namespace stepscope::test
