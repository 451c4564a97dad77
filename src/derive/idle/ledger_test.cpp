#include "derive/idle/ledger.h"

#include <fmt/format.h>

#include <random>

#include "analyze/question.h"
#include "make_rank.h"
#include "support/traces.h"

namespace stepscope::derive {
namespace {

using timeline::Interval;

Interval window_of(const trace::Rank& rank) { return analyze::window_of(rank, analyze::StepChoice({})); }

std::vector<Column<Atom>> ledger_of(const trace::Trace& trace, const trace::Rank& rank, Interval window) {
  const auto devices = busy_devices(rank);
  std::vector<Column<Atom>> atoms(devices.size());
  for_each_atom(devices, idle_pieces(trace, rank, devices, window), window,
                [&](std::size_t device, const Atom& atom) { atoms[device].push_back(atom); });
  return atoms;
}

std::string as_text(const Column<Atom>& atoms) {
  std::string text;
  for (const Atom& atom : atoms)
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", name_of(atom.owner), atom.span.length() / 1000,
                        atom.owner == Owner::idle ? fmt::format(" {}", name_of(atom.cause)) : "");
  return text;
}

// One step of 200 µs:
//   host      loader [0,50)  launch k [60,64)  launch n [70,74)  stream sync [80,170)  op [170,200)
//   stream 7  k [66,100)                       stream 8  n [90,130), copy [140,150) launched at [76,78)
TEST(Ledger, EveryNanosecondHasOneOwner) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 200},
    {"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "pid": 5, "tid": 5, "ts": 0, "dur": 50},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 60, "dur": 4, "args": {"correlation": 1}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 70, "dur": 4, "args": {"correlation": 2}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 5, "tid": 5, "ts": 76, "dur": 2, "args": {"correlation": 3}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 5, "tid": 5, "ts": 80, "dur": 90, "args": {"correlation": 4}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 5, "tid": 5, "ts": 170, "dur": 30},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 66, "dur": 34, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 8, "ts": 90, "dur": 40, "args": {"correlation": 2}},
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pinned)", "pid": 0, "tid": 8, "ts": 140, "dur": 10, "args": {"correlation": 3}})J");
  ASSERT_EQ(trace.ranks.size(), 1u);
  const trace::Rank& rank = trace.ranks[0];
  const auto atoms = ledger_of(trace, rank, window_of(rank));
  ASSERT_EQ(atoms.size(), 1u);
  // No event ends the last gap: it is sync until 170 and refill from there.
  EXPECT_EQ(as_text(atoms[0]),
            "idle 50 input, idle 10 untraced, idle 6 pending, compute 34, communication 30, idle 10 pending, "
            "copy 10, idle 20 sync, idle 30 refill");
}

void expect_exact(const trace::Trace& trace, const std::string& where) {
  for (const trace::Rank& rank : trace.ranks) {
    const Interval window = window_of(rank);
    for (const Column<Atom>& atoms : ledger_of(trace, rank, window)) {
      timeline::Time at = window.begin;
      for (const Atom& atom : atoms) {
        ASSERT_EQ(atom.span.begin, at) << where;
        ASSERT_GT(atom.span.end, at) << where;
        at = atom.span.end;
      }
      EXPECT_EQ(at, window.end) << where;
    }
  }
}

// Random events on three host threads and four streams of two devices, some launched and some not.
std::string random_events(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  constexpr const char* kHost[] = {"cudaLaunchKernel", "cudaStreamSynchronize", "cudaMalloc", "cudaMemcpy",
                                   "cudaEventRecord"};
  constexpr const char* kOps[] = {"aten::add", "enumerate(DataLoader)#x.__next__", "ProfilerStep#1"};
  constexpr const char* kDevice[] = {"gemm", "ncclKernel"};
  std::string text;
  for (int i = 0; i < 60; ++i) {
    const int sort = below(4), id = 1 + below(30);
    text += fmt::format(
        R"({}{{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{"correlation": {}}}}})",
        i == 0 ? "" : ",",
        sort == 0   ? "cuda_runtime"
        : sort == 1 ? "cpu_op"
        : sort == 2 ? "kernel"
                    : "gpu_memcpy",
        sort == 0   ? kHost[below(5)]
        : sort == 1 ? kOps[below(3)]
                    : kDevice[below(2)],
        sort < 2 ? 5 : below(2), sort < 2 ? 5 + below(3) : 7 + below(2), below(1000), below(100), id);
  }
  return text;
}

TEST(Ledger, AddsUpOnRandomTraces) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    expect_exact(test::open_events(random_events(random)), "seed " + std::to_string(seed));
  }
}

void expect_exact_files(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const std::string one[] = {path};
    const Result<trace::Trace> trace = read::open(one);
    ASSERT_TRUE(trace.ok()) << path;
    expect_exact(*trace, path);
  }
}

TEST(Ledger, AddsUpOnShippedTraces) { expect_exact_files(test::shipped_traces()); }

TEST(Ledger, AddsUpOnRecordedTraces) {
  if (test::recorded_traces().empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  expect_exact_files(test::recorded_traces());
}

}  // namespace
}  // namespace stepscope::derive
