// Properties of every simulated job, whatever is planted.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "make_trace/model/training_step.h"
#include "make_trace/plant/ledger.h"
#include "make_trace/plant/planted.h"
#include "make_trace/run/job.h"

namespace stepscope::make_trace {
namespace {

struct Recorded {
  Programs programs;
  std::vector<std::vector<StepRows>> ranks;  ///< [rank][step]
  std::vector<std::vector<Meeting>> meetings;
};

Recorded record(const Options& options) {
  Recorded r{
      programs_of(options), std::vector<std::vector<StepRows>>(static_cast<std::size_t>(options.ranks)), {}};
  Observer observer;
  observer.step = [&](int rank, const StepRows& rows) {
    r.ranks[static_cast<std::size_t>(rank)].push_back(rows);
  };
  observer.meetings = [&](int, std::int64_t, const std::vector<Meeting>& m) { r.meetings.push_back(m); };
  Job(options, r.programs).run(observer);
  return r;
}

Options small(int ranks = 1) {
  Options o;
  o.ranks = ranks;
  o.layers = 4;
  o.steps = 4;
  return o;
}

/// Jobs of every kind: one problem or several, few ranks and many.
std::vector<Options> jobs() {
  std::vector<Options> all = {small(), small(3)};
  Options o = small(2);
  o.slow_input_ms = 9;
  o.item_sync = 5;
  all.push_back(o);
  o = small(4);
  o.exposed_comm = true;
  o.item_sync = 2;
  o.stragglers = {{1, 4, Phase::compute}, {2, 15, Phase::input}, {3, 2, Phase::host}, {0, 1, Phase::network}};
  all.push_back(o);
  o = small();
  o.tiny_kernels = 3000;
  o.hidden = 256;
  all.push_back(o);
  o = small(2);
  o.streams = 3;
  o.zero_grad_fill = true;
  o.alloc_churn = 2;
  o.copy_mb = 20;
  o.pageable = true;
  all.push_back(o);
  o = small(2);
  o.vendor = VendorKind::rocm;
  o.unfused_optimizer = 300;
  o.noise_pct = 15;
  o.slow_input_ms = 30;
  o.loader_workers = 2;
  all.push_back(o);
  o = small(4);  // two pipelines of two stages
  o.stages = 2;
  o.micro_batches = 6;
  o.tokens = 24576;
  o.last_stage_layers = 1;
  o.memory = true;
  all.push_back(o);
  return all;
}

TEST(Simulation, NothingStartsBeforeItsLaunch) {
  for (const Options& options : jobs()) {
    for (const auto& steps : record(options).ranks) {
      for (const StepRows& rows : steps) {
        ASSERT_FALSE(rows.device.empty());
        for (const DeviceRow& row : rows.device) {
          EXPECT_GT(row.start, row.launch_start);
          EXPECT_GT(row.end, row.start);
        }
      }
    }
  }
}

TEST(Simulation, WorkOnAStreamNeverOverlaps) {
  for (const Options& options : jobs()) {
    for (const auto& steps : record(options).ranks) {
      std::map<int, std::int64_t> reached;
      for (const StepRows& rows : steps) {
        for (const DeviceRow& row : rows.device) {  // launch order is stream order
          EXPECT_GE(row.start, reached[row.stream]);
          reached[row.stream] = row.end;
        }
      }
    }
  }
}

TEST(Simulation, CollectivesEndTogetherAfterTheLastRankStarts) {
  for (const Options& options : jobs()) {
    const Recorded r = record(options);
    std::map<std::int64_t, std::set<std::int64_t>> ends;
    std::map<std::int64_t, std::int64_t> last_start;
    std::map<std::int64_t, int> members, wanted;
    for (int rank = 0; rank < options.ranks; ++rank) {
      for (const StepRows& rows : r.ranks[static_cast<std::size_t>(rank)]) {
        for (const DeviceRow& row : rows.device) {
          if (row.collective < 0) continue;
          wanted[row.collective] = r.programs.of(rank).works[row.work].members.count;
          ends[row.collective].insert(row.end);
          last_start[row.collective] = std::max(last_start[row.collective], row.start);
          ++members[row.collective];
        }
      }
    }
    EXPECT_EQ(ends.empty(), options.ranks == 1);
    for (const auto& [number, set] : ends) {
      EXPECT_EQ(set.size(), 1U);
      EXPECT_GT(*set.begin(), last_start[number]);
      EXPECT_EQ(members[number], wanted[number]);
    }
  }
}

/// 4 micro-batches through 3 stages, counted: what each stage sends and receives, and how far it is ahead.
TEST(Simulation, StagesWorkOneForwardOneBackward) {
  Options options = small(3);
  options.layers = 3;
  options.stages = 3;
  options.micro_batches = 4;
  options.tokens = 16384;
  const Recorded r = record(options);
  const std::vector<std::string> wanted = {"FFFBFBBB", "FFBFBFBB", "FBFBFBFB"};
  for (int rank = 0; rank < 3; ++rank) {
    const Program& program = r.programs.of(rank);
    std::string passes;
    int sent = 0, received = 0;
    for (const DeviceRow& row : r.ranks[static_cast<std::size_t>(rank)][2].device) {
      const WorkInfo& work = program.works[row.work];
      if (work.members.message) ++(work.members.first == rank ? sent : received);
      if (work.name.find("vectorized_layer_norm") != std::string::npos) passes += 'F';
      if (work.name.find("layer_norm_grad_input") != std::string::npos) passes += 'B';
    }
    EXPECT_EQ(passes, wanted[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(sent, rank == 1 ? 8 : 4);
    EXPECT_EQ(received, rank == 1 ? 8 : 4);
  }
}

TEST(Simulation, HostSpansNestOnEachThread) {
  for (const Options& options : jobs()) {
    for (const auto& steps : record(options).ranks) {
      for (const StepRows& rows : steps) {
        std::map<int, std::vector<std::int64_t>> open;
        for (const HostRow& row : rows.host) {
          auto& ends = open[row.thread];
          while (!ends.empty() && ends.back() <= row.start) ends.pop_back();
          EXPECT_GE(row.end, row.start);
          EXPECT_TRUE(ends.empty() || row.end <= ends.back());
          ends.push_back(row.end);
        }
      }
    }
  }
}

TEST(Simulation, TheHostIsNeverMoreThanTheQueueAhead) {
  Options options = small();
  options.tiny_kernels = 4000;
  options.hidden = 4096;
  options.host_cost = 0.2;
  const Recorded r = record(options);
  std::vector<const DeviceRow*> launches;
  std::map<std::uint32_t, std::int64_t> call_end;
  for (const StepRows& rows : r.ranks[0]) {
    for (const DeviceRow& row : rows.device) launches.push_back(&row);
    for (const HostRow& row : rows.host) {
      if (row.kind == HostKind::call) call_end[row.correlation] = row.end;
    }
  }
  const auto limit = static_cast<std::size_t>(hardware_of(options.vendor).queue_limit);
  bool reached = false;
  for (std::size_t i = limit; i < launches.size(); ++i) {
    const std::int64_t returned = call_end.at(launches[i]->correlation);
    EXPECT_GE(returned, launches[i - limit]->start);
    reached = reached || launches[i - limit + 8]->start > returned;
  }
  EXPECT_TRUE(reached);
}

TEST(Simulation, DependsOnTheSeedAlone) {
  Options options = small(2);
  options.item_sync = 3;
  const Recorded a = record(options);
  const Recorded b = record(options);
  options.seed = 2;
  const Recorded c = record(options);
  ASSERT_EQ(a.ranks[1][2].device.size(), b.ranks[1][2].device.size());
  bool same_as_c = true;
  for (std::size_t i = 0; i < a.ranks[1][2].device.size(); ++i) {
    EXPECT_EQ(a.ranks[1][2].device[i].start, b.ranks[1][2].device[i].start);
    EXPECT_EQ(a.ranks[1][2].device[i].end, b.ranks[1][2].device[i].end);
    same_as_c = same_as_c && a.ranks[1][2].device[i].end == c.ranks[1][2].device[i].end;
  }
  EXPECT_FALSE(same_as_c);
}

TEST(Simulation, RepairingLeavesTheNoiseOfTheRest) {
  Options faulty = small(2);
  faulty.item_sync = 4;
  faulty.tiny_kernels = 100;
  const Recorded a = record(repaired(faulty, "all"));
  const Recorded b = record(small(2));
  const Recorded c = record(faulty);
  for (std::size_t i = 0; i < a.ranks[0][1].device.size(); ++i) {
    EXPECT_EQ(a.ranks[0][1].device[i].end, b.ranks[0][1].device[i].end);
  }
  const auto matmuls = [](const Recorded& r) {
    std::vector<std::int64_t> lengths;
    for (const DeviceRow& row : r.ranks[0][1].device) {
      if (r.programs.of(0).works[row.work].name.find("gemm") != std::string::npos)
        lengths.push_back(row.end - row.start);
    }
    return lengths;
  };
  EXPECT_FALSE(matmuls(a).empty());
  EXPECT_EQ(matmuls(a), matmuls(c));
}

}  // namespace
}  // namespace stepscope::make_trace
