// Each planted problem does what its option says, counted by hand; its repair removes it.
#include "make_trace/plant/planted.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "make_trace/file/event_writer.h"
#include "make_trace/model/training_step.h"
#include "make_trace/plant/ledger.h"
#include "make_trace/plant/truth.h"
#include "make_trace/run/job.h"

namespace stepscope::make_trace {
namespace {

struct Seen {
  std::vector<StepLedger> steps;
  std::vector<std::size_t> collectives;  ///< per step
  std::vector<std::string> kernels;      ///< kernels of the last step
  std::int64_t held = 0;                 ///< device memory held in the last step
  std::string text;
};

/// Rank 0 of a job without noise, with two blocks by default.
Seen look(const Options& options) {
  const Programs programs = programs_of(options);
  std::vector<Ledger> ledgers;
  std::vector<std::int64_t> last_starts;
  std::int64_t first = 0;
  Seen seen;
  Text text;
  EventWriter writer(options, programs.of(0), 0, text);
  Observer observer;
  observer.begin = [&](int rank, std::int64_t at) { ledgers.emplace_back(programs.of(rank), at); };
  observer.meetings = [&](int, std::int64_t sequence, const std::vector<Meeting>& meetings) {
    first = sequence;
    last_starts.clear();
    for (const Meeting& m : meetings) last_starts.push_back(m.last_start);
    seen.collectives.push_back(meetings.size());
  };
  observer.step = [&](int rank, const StepRows& rows) {
    const StepLedger ledger = ledgers[static_cast<std::size_t>(rank)].add(rows, last_starts, first);
    if (rank != 0) return;
    seen.steps.push_back(ledger);
    writer.rows(rows);
    seen.kernels.clear();
    for (const DeviceRow& row : rows.device) seen.kernels.push_back(programs.of(0).works[row.work].name);
    if (!rows.memory.empty()) seen.held = rows.memory.front().reserved;
  };
  Job(options, programs).run(observer);
  seen.text = text.view();
  return seen;
}

Options quiet() {
  Options o;
  o.layers = 2;
  o.steps = 10;
  o.noise_pct = 0;
  return o;
}

std::int64_t idle(const StepLedger& l, Idle cause) { return l.idle[static_cast<std::size_t>(cause)]; }

std::size_t count(const std::vector<std::string>& names, const std::string& part) {
  return static_cast<std::size_t>(
      std::ranges::count_if(names, [&](const std::string& n) { return n.find(part) != std::string::npos; }));
}

/// How much longer the host works in each step than without `problem`.
std::vector<double> more_host_work(const Options& faulty, const std::string& problem) {
  const Seen with = look(faulty), without = look(repaired(faulty, problem));
  std::vector<double> more;
  for (std::size_t i = 0; i < with.steps.size(); ++i)
    more.push_back(static_cast<double>(with.steps[i].host_work - without.steps[i].host_work));
  return more;
}

TEST(Planted, WorkersStartAgainInEachEpoch) {
  Options o = quiet();
  o.slow_input_ms = 1;
  o.loader_workers = 4;
  o.epoch = 5;
  o.worker_restart_ms = 100;
  const Seen seen = look(o);
  for (const StepLedger& l : seen.steps) {  // warm-up is step 0, so the first recorded one is 1
    const bool first_of_epoch = (l.step + 1) % 5 == 0;
    if (first_of_epoch) {
      EXPECT_GT(idle(l, Idle::input), 80'000'000);
    } else {
      EXPECT_LT(idle(l, Idle::input), 1'000'000);
    }
  }
}

TEST(Planted, EachEighthBatchIsLate) {
  Options o = quiet();
  o.steps = 24;
  o.slow_input_ms = 1;
  o.loader_workers = 1;
  o.prefetch = 1;
  o.burst_ms = 60;
  int late = 0;
  for (const StepLedger& l : look(o).steps) late += idle(l, Idle::input) > 30'000'000;
  EXPECT_EQ(late, 3);
  EXPECT_EQ(repaired(o, "bursts").slow_input_ms, 1 + 60.0 / 8);
}

TEST(Planted, HostWorkGrowsByWhatWasAskedFor) {
  Options o = quiet();
  o.preprocess_ms = 10;
  for (const double ns : more_host_work(o, "preprocess")) EXPECT_NEAR(ns, 10e6, 0.1e6);
  o = quiet();
  o.python_ms = 8;
  for (const double ns : more_host_work(o, "python")) EXPECT_NEAR(ns, 8e6, 0.1e6);
  o = quiet();
  o.compiled = true;
  o.recompile_ms = 50;
  for (const double ns : more_host_work(o, "recompile")) EXPECT_NEAR(ns, 50e6, 0.1e6);
  o = quiet();
  o.callback_ms = 7;
  o.callback_every = 5;
  const std::vector<double> callback = more_host_work(o, "callback");
  for (int i = 0; i < 10; ++i)
    EXPECT_NEAR(callback[static_cast<std::size_t>(i)], (i + 1) % 5 == 4 ? 7e6 : 0, 1e5);
  o = quiet();
  o.gc_pause_ms = 30;
  const std::vector<double> pause = more_host_work(o, "gc_pause");
  for (int i = 0; i < 10; ++i)
    EXPECT_NEAR(pause[static_cast<std::size_t>(i)], (i + 1) % kPauseEvery == kPauseEvery - 1 ? 30e6 : 0, 1e5);
}

TEST(Planted, ContentionSlowsTheHostInThreeSteps) {
  Options o = quiet();
  o.contention = 2;
  const Seen seen = look(o);
  for (const StepLedger& l : seen.steps) {
    const double factor = static_cast<double>(l.host_work) / static_cast<double>(seen.steps[0].host_work);
    EXPECT_NEAR(factor, l.step >= 4 && l.step <= 6 ? 2.0 : 1.0, 0.01) << l.step;
    EXPECT_EQ(l.compute, seen.steps[0].compute);
  }
}

TEST(Planted, ASlowClockSlowsTheDeviceFromTheSixthStepOn) {
  Options o = quiet();
  o.slow_clock = 1.1;
  const Seen seen = look(o);
  for (const StepLedger& l : seen.steps)
    EXPECT_NEAR(static_cast<double>(l.compute) / static_cast<double>(seen.steps[0].compute),
                l.step >= 5 ? 1.1 : 1.0, 0.001)
        << l.step;
}

TEST(Planted, LaunchesAreThoseOfTheProgram) {
  const auto launches = [](const Options& o) { return look(o).steps[3].launches; };
  const std::int64_t plain = launches(quiet());
  Options o = quiet();
  o.row_loop = 30;
  EXPECT_EQ(launches(o), plain + 2 * 30);
  o = quiet();
  o.nonzero = 6;  // compare, count, copy of the count, select, gather
  EXPECT_EQ(launches(o), plain + 5 * 6);
  o = quiet();
  o.chain_mb = 64;
  EXPECT_EQ(launches(o), plain + 1);
  o.chain_eager = true;
  EXPECT_EQ(launches(o), plain + kChainOps);
  o = quiet();
  o.features = 256;
  EXPECT_EQ(launches(o), plain + 2);
  o.fp64 = true;  // plus the cast
  EXPECT_EQ(launches(o), plain + 3);
  o = quiet();
  o.checkpointing = true;  // norm, two products, gelu, sum of each of two blocks
  EXPECT_EQ(launches(o), plain + 2 * 5);
  o = quiet();
  o.inference = true;  // plus the batch and the embedding
  EXPECT_EQ(launches(o), 2 * 5 + 2);
}

TEST(Planted, Fp32RunsOnPlainCores) {
  Options o = quiet();
  o.shapes = true;
  const Seen half = look(o);
  EXPECT_EQ(count(half.kernels, "sgemm"), 0U);
  o.fp32 = true;
  const Seen single = look(o);
  EXPECT_EQ(count(single.kernels, "ampere_sgemm"), 2U * 6);  // two linears, three products each
  EXPECT_EQ(single.text.find("BFloat16"), std::string::npos);
  EXPECT_GT(single.steps[3].compute, 4 * half.steps[3].compute);
}

TEST(Planted, CollectivesAreCountedPerStep) {
  Options o = quiet();
  o.ranks = 2;
  o.steps = 3;
  EXPECT_EQ(look(o).collectives, (std::vector<std::size_t>{2, 2, 2}));
  o.small_reduces = 40;
  EXPECT_EQ(look(o).collectives, (std::vector<std::size_t>{40, 40, 40}));
  o = repaired(o, "small_reduces");
  o.inference = o.tensor_parallel = true;  // after each linear of each block
  EXPECT_EQ(look(o).collectives, (std::vector<std::size_t>{4, 4, 4}));
}

TEST(Planted, ADeviceIsSetUpOnce) {
  Options o = quiet();
  o.cold_start_ms = 200;
  const Seen seen = look(o);
  EXPECT_GT(seen.steps[0].host_work, 200'000'000);
  for (std::size_t i = 1; i < seen.steps.size(); ++i) EXPECT_LT(seen.steps[i].host_work, 20'000'000);
}

TEST(Planted, MemoryIsHeldFromTheStart) {
  Options o = quiet();
  o.memory = true;
  o.held_gb = 70;
  EXPECT_GE(look(o).held, 70'000'000'000);
}

TEST(Planted, RecordsAreLeftOut) {
  const auto times = [](const std::string& text, const std::string& part) {
    double n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
  };
  Options o = quiet();
  const double kernels = times(look(o).text, "\"cat\": \"kernel\"");
  const double calls = times(look(o).text, "\"cat\": \"cuda_runtime\"");
  o.drop_device = 1;
  EXPECT_EQ(times(look(o).text, "\"cat\": \"kernel\""), 0);
  EXPECT_EQ(times(look(o).text, "\"cat\": \"cuda_runtime\""), calls);
  o = quiet();
  o.sample = 0.5;
  EXPECT_NEAR(times(look(o).text, "\"cat\": \"kernel\""), kernels / 2.0, kernels / 8.0);
  EXPECT_NEAR(times(look(o).text, "\"cat\": \"cuda_runtime\""), calls / 2.0, calls / 8.0);
}

/// A job that its device only just limits.
Options balanced() {
  Options o;
  o.ranks = 2;
  o.layers = 4;
  o.hidden = 768;
  o.steps = 10;
  return o;
}

TEST(Truth, EveryOtherProblemAloneCostsSomething) {
  const std::int64_t without = step_lengths_of(balanced()).mean();
  const std::vector<std::pair<const char*, void (*)(Options&)>> problems = {
      {"preprocess", [](Options& o) { o.preprocess_ms = 20; }},
      {"contention", [](Options& o) { o.contention = 6; }},
      {"slow_clock", [](Options& o) { o.slow_clock = 1.2; }},
      {"python", [](Options& o) { o.python_ms = 20; }},
      {"row_loop", [](Options& o) { o.row_loop = 400; }},
      {"callback", [](Options& o) { o.callback_ms = 20; }},
      {"gc_pause", [](Options& o) { o.gc_pause_ms = 40; }},
      {"nonzero", [](Options& o) { o.nonzero = 20; }},
      {"fp32", [](Options& o) { o.fp32 = true; }},
      {"fp64", [](Options& o) { o.features = 512, o.fp64 = true; }},
      {"pointwise_chain", [](Options& o) { o.chain_mb = 64, o.chain_eager = true; }},
      {"small_reduces", [](Options& o) { o.small_reduces = 100; }},
      {"recompile", [](Options& o) { o.compiled = true, o.recompile_ms = 100; }}};
  for (const auto& [name, plant] : problems) {
    Options faulty = balanced();
    plant(faulty);
    const auto planted = planted_problems(faulty);
    ASSERT_EQ(planted.size(), 1U) << name;
    EXPECT_EQ(planted[0].name, name);
    EXPECT_GT(step_lengths_of(faulty).mean(), without + without / 50) << name;
    EXPECT_LT(step_lengths_of(repaired(faulty, name)).mean(), step_lengths_of(faulty).mean()) << name;
    EXPECT_TRUE(planted_problems(repaired(faulty, name)).empty());
  }
}

}  // namespace
}  // namespace stepscope::make_trace
