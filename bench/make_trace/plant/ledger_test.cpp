// Checks the truth by counting, and against what was planted.
#include "make_trace/plant/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "make_trace/model/training_step.h"
#include "make_trace/plant/planted.h"
#include "make_trace/plant/truth.h"
#include "make_trace/run/job.h"

namespace stepscope::make_trace {
namespace {

struct Checked {
  StepLedger ledger;
  StepRows rows;
};

std::vector<Checked> steps_of(const Options& options, const Programs& programs, int wanted_rank = 0) {
  std::vector<Ledger> ledgers;
  std::vector<std::int64_t> last_starts;
  std::int64_t first = 0;
  std::vector<Checked> checked;
  Observer observer;
  observer.begin = [&](int rank, std::int64_t at) { ledgers.emplace_back(programs.of(rank), at); };
  observer.meetings = [&](int, std::int64_t sequence, const std::vector<Meeting>& meetings) {
    first = sequence;
    last_starts.clear();
    for (const Meeting& m : meetings) last_starts.push_back(m.last_start);
  };
  observer.step = [&](int rank, const StepRows& rows) {
    const StepLedger l = ledgers[static_cast<std::size_t>(rank)].add(rows, last_starts, first);
    if (rank == wanted_rank) checked.push_back({l, rows});
  };
  Job(options, programs).run(observer);
  return checked;
}

Options host_bound() {
  Options o;
  o.ranks = 2;
  o.layers = 4;
  o.hidden = 512;
  o.host_cost = 2;
  o.item_sync = 6;
  o.slow_input_ms = 6;
  o.streams = 2;
  o.alloc_churn = 1;
  return o;
}

TEST(Ledger, PartsAddUpAndStepsTile) {
  const Options options = host_bound();
  std::int64_t reached = -1;
  for (const Checked& c : steps_of(options, programs_of(options))) {
    const StepLedger& l = c.ledger;
    EXPECT_EQ(l.length(), l.compute + l.exposed_comm + l.exposed_copy + l.idle_sum());
    EXPECT_EQ(l.device_start, reached >= 0 ? reached : l.device_start);
    reached = l.device_end;
    for (const std::int64_t ns : l.idle) EXPECT_GE(ns, 0);
  }
}

Options staged() {
  Options o;
  o.ranks = 6;
  o.layers = 6;
  o.stages = 3;
  o.micro_batches = 3;
  o.tokens = 12288;
  return o;
}

/// Between two neighbouring boundaries nothing changes, so looking at each piece is enough.
void look_at_every_piece(const Options& options) {
  const Programs programs = programs_of(options);
  for (const Checked& c : steps_of(options, programs, 1)) {
    std::set<std::int64_t> cuts = {c.ledger.device_start, c.ledger.device_end};
    for (const DeviceRow& row : c.rows.device) {
      cuts.insert(row.start);
      cuts.insert(row.end);
    }
    std::int64_t compute = 0, comm = 0, copy = 0, idle = 0, messages = 0;
    for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
      const std::int64_t length = *std::next(cut) - *cut;
      std::set<WorkKind> running;
      bool own = false;
      for (const DeviceRow& row : c.rows.device) {
        if (row.start > *cut || row.end <= *cut) continue;
        running.insert(programs.of(1).works[row.work].kind);
        own = own || !programs.of(1).works[row.work].members.message;
      }
      if (!running.empty() && !own) messages += length;
      (running.contains(WorkKind::kernel)       ? compute
       : running.contains(WorkKind::collective) ? comm
       : !running.empty()                       ? copy
                                                : idle) += length;
    }
    EXPECT_EQ(c.ledger.compute, compute);
    EXPECT_EQ(c.ledger.exposed_comm, comm);
    EXPECT_EQ(c.ledger.exposed_copy, copy);
    EXPECT_EQ(c.ledger.idle_sum(), idle);
    EXPECT_EQ(c.ledger.only_messages, messages);
    EXPECT_EQ(messages > 0, options.stages > 0);
  }
}

TEST(Ledger, AgreesWithLookingAtEveryPiece) {
  look_at_every_piece(host_bound());
  look_at_every_piece(staged());
}

StepLedger third_step(const Options& options, int rank = 0) {
  return steps_of(options, programs_of(options), rank)[2].ledger;
}

std::int64_t step_ns_of(const Options& options) { return step_lengths_of(options).median(); }

std::int64_t idle(const StepLedger& l, Idle cause) { return l.idle[static_cast<std::size_t>(cause)]; }

TEST(Ledger, AHealthyJobKeepsTheDeviceBusy) {
  for (const int ranks : {1, 2, 8}) {
    Options options;
    options.ranks = ranks;
    const StepLedger l = third_step(options);
    EXPECT_LT(l.idle_sum() * 20, l.length());
    EXPECT_LT(l.exposed_comm * 20, l.length());
  }
}

TEST(Ledger, PlantedProblemsShowWhereTheyBelong) {
  Options o;
  o.slow_input_ms = 25;
  EXPECT_GT(idle(third_step(o), Idle::input), 14'000'000);
  o = {};
  o.alloc_churn = 4;
  EXPECT_GT(idle(third_step(o), Idle::alloc), 5'000'000);
  o = {};
  o.copy_mb = 64;
  o.pageable = true;
  EXPECT_GT(third_step(o).exposed_copy, 9'000'000);
  o = {};
  o.ranks = 2;
  const std::int64_t hidden = third_step(o).exposed_comm;
  o.exposed_comm = true;
  EXPECT_GT(third_step(o).exposed_comm, 4 * hidden);
  o = {};
  o.item_sync = 16;
  o.host_cost = 3;
  const StepLedger l = third_step(o);
  EXPECT_GT(idle(l, Idle::refill) + idle(l, Idle::sync), 300'000);
}

TEST(Ledger, OthersWaitForAStraggler) {
  Options o;
  o.ranks = 3;
  o.stragglers = {{1, 5, Phase::compute}};
  EXPECT_GT(third_step(o, 0).comm_wait, 4'000'000);
  EXPECT_LT(third_step(o, 1).comm_wait, 1'000'000);
}

TEST(Truth, SavingOfAComputeStragglerIsItsSize) {
  Options o;
  o.ranks = 4;
  o.stragglers = {{2, 5, Phase::compute}};
  const std::int64_t saving = step_ns_of(o) - step_ns_of(repaired(o, "straggler"));
  EXPECT_NEAR(static_cast<double>(saving), 5e6, 3e5);
}

/// Each alone, as problems hide each other (a host that waits for its loader has time to reduce gradients).
TEST(Truth, EveryProblemAloneCostsSomething) {
  Options healthy;
  healthy.ranks = 2;
  healthy.hidden = 512;
  const std::int64_t without = step_ns_of(healthy);
  const std::vector<std::pair<const char*, void (*)(Options&)>> problems = {
      {"slow_input", [](Options& o) { o.slow_input_ms = 20; }},
      {"item_sync", [](Options& o) { o.item_sync = 8; }},
      {"tiny_kernels", [](Options& o) { o.tiny_kernels = 400; }},
      {"exposed_comm", [](Options& o) { o.exposed_comm = true; }},
      {"straggler", [](Options& o) { o.stragglers = {{1, 4, Phase::compute}}; }},
      {"pageable_copy", [](Options& o) { o.copy_mb = 32, o.pageable = true; }},
      {"alloc_churn", [](Options& o) { o.alloc_churn = 2; }},
      {"unfused_optimizer", [](Options& o) { o.unfused_optimizer = 200; }},
      {"zero_grad_fill", [](Options& o) { o.zero_grad_fill = true; }}};
  for (const auto& [name, plant] : problems) {
    Options faulty = healthy;
    plant(faulty);
    const auto planted = planted_problems(faulty);
    ASSERT_EQ(planted.size(), 1U) << name;
    EXPECT_EQ(planted[0].name, name);
    EXPECT_GT(step_ns_of(faulty), without + without / 50) << name;
    EXPECT_LT(step_ns_of(repaired(faulty, name)), step_ns_of(faulty)) << name;
    EXPECT_TRUE(planted_problems(repaired(faulty, name)).empty());
  }
}

TEST(Truth, RepairedJobIsTheHealthyJob) {
  Options faulty;
  faulty.slow_input_ms = 25;
  faulty.item_sync = 8;
  faulty.unfused_optimizer = 50;
  EXPECT_EQ(step_ns_of(repaired(faulty, "all")), step_ns_of(Options{}));
}

}  // namespace
}  // namespace stepscope::make_trace
