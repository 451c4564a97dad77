// Ranks wait for each other: a collective begins when its last rank arrives. Exceptions: the median's pace,
// and a circle of waits, which is given up.
#include "derive/replay/joint_replay.h"

#include <fmt/format.h>

#include <random>

#include "make_rank.h"

namespace stepscope::derive {
namespace {

using timeline::Time;

/// Device work on one stream, µs. For a collective, `members` lists its group.
struct Work {
  const char* name;
  int start, end;
  const char* members = "";
};

/// A rank that launches all work by 30 µs, in this order.
std::string rank_of(const std::vector<Work>& works) {
  std::string text;
  for (std::size_t i = 0; i < works.size(); ++i) {
    const Work& w = works[i];
    text += fmt::format(
        R"({}{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": {}, "dur": 2, "args": {{"correlation": {}}}}},)",
        i == 0 ? "" : ",", 15 + 3 * i, i + 1);
    const std::string_view members = w.members;
    const std::string group =
        members.empty()
            ? ""
            : fmt::format(
                  R"(, "Collective name": "allreduce", "In msg nelems": 8, "dtype": "Float", "Group size": {}, "Process Group Name": "{}", "Process Group Ranks": "[{}]", "Seq": 1)",
                  std::count(members.begin(), members.end(), ',') + 1, members, members);
    text += fmt::format(
        R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7, "ts": {}, "dur": {}, "args": {{"stream": 7, "correlation": {}{}}}}})",
        members.empty() ? w.name : "ncclDevKernel_AllReduce_Sum_f32_RING_LL", w.start, w.end - w.start, i + 1,
        group);
  }
  return text;
}

class Job {
 public:
  explicit Job(const std::vector<std::vector<Work>>& ranks) {
    std::vector<std::string> files;
    for (const auto& works : ranks) files.push_back(rank_of(works));
    trace = test::open_ranks(files);
    for (const trace::Rank& rank : trace.ranks)
      plans.push_back(replay_plan(trace, rank, waiting_calls(trace, rank, launch_queue(trace, rank)), {}));
    for (const ReplayPlan& plan : plans) of_ranks.push_back(&plan);
    meetings = meetings_of(trace, collectives_of(trace), of_ranks);
    changes.ranks.resize(plans.size());
  }
  void scale(std::size_t rank, std::size_t event, double factor) {
    changes.ranks[rank].device.resize(plans[rank].events.size(), 1);
    changes.ranks[rank].device[event] = factor;
  }
  /// Ends of each rank's events, µs.
  std::vector<std::vector<Time>> ends() const {
    std::vector<std::vector<Time>> out;
    const JointReplayed replayed = joint_replay(trace, of_ranks, meetings, changes);
    given_up = replayed.given_up;
    for (const Replayed& rank : replayed.ranks) {
      out.emplace_back();
      for (const Time end : rank.end) out.back().push_back(end / 1000);
    }
    return out;
  }

  trace::Trace trace;
  std::vector<ReplayPlan> plans;
  std::vector<const ReplayPlan*> of_ranks;
  Meetings meetings;
  JointChanges changes;
  mutable Time given_up = 0;
};
using Ends = std::vector<std::vector<Time>>;

// The all-reduce takes 60 µs once rank 1 has arrived; rank 0 waits 100 µs for it.
const std::vector<std::vector<Work>> kOneLate = {{{"x", 30, 50}, {"A", 50, 210, "0, 1"}},
                                                 {{"x", 30, 150}, {"A", 150, 210, "0, 1"}}};

TEST(JointReplay, TheLastRankDecides) {
  Job job(kOneLate);
  ASSERT_EQ(job.meetings.meetings.size(), 1u);
  EXPECT_EQ(job.meetings.meetings[0].transfer, 60'000);
  EXPECT_EQ(job.meetings.members[0].wait, 100'000);
  EXPECT_EQ(job.meetings.unmatched, 0);
  EXPECT_EQ(job.ends(), (Ends{{50, 210}, {150, 210}}));
  job.scale(0, 0, 0.5);  // it only waits longer
  EXPECT_EQ(job.ends(), (Ends{{40, 210}, {150, 210}}));
  job.scale(0, 0, 7);  // 140: it arrives 20 after the other
  EXPECT_EQ(job.ends(), (Ends{{170, 230}, {150, 230}}));
  job.scale(0, 0, 1);
  job.scale(1, 0, 0.25);  // 30: both have arrived at 60
  EXPECT_EQ(job.ends(), (Ends{{50, 120}, {60, 120}}));
}

// A factor scales the transfer; the largest factor of the ranks applies. Waits follow from the arrivals.
TEST(JointReplay, AFactorOnACollectiveIsOneOnItsTransfer) {
  Job job(kOneLate);
  job.scale(0, 1, 0.5);
  EXPECT_EQ(job.ends(), (Ends{{50, 210}, {150, 210}}));
  job.scale(1, 1, 0.5);
  EXPECT_EQ(job.ends(), (Ends{{50, 180}, {150, 180}}));
  job.scale(0, 1, 0);
  job.scale(1, 1, 0);
  EXPECT_EQ(job.ends(), (Ends{{50, 150}, {150, 150}}));
}

TEST(JointReplay, WithoutTheLateRankNobodyWaits) {
  Job job(kOneLate);
  job.changes.absent = {false, true};
  EXPECT_EQ(job.ends(), (Ends{{50, 110}, {}}));
}

// Rank 1 is in both groups. A takes 20 and rank 0 waits 40 in it; B takes 10 and rank 1 waits 50 in it.
const std::vector<std::vector<Work>> kTwoGroups = {
    {{"x", 30, 50}, {"A", 50, 110, "0, 1"}},
    {{"x", 30, 90}, {"A", 90, 110, "0, 1"}, {"y", 110, 130}, {"B", 130, 190, "1, 2"}},
    {{"x", 30, 180}, {"B", 180, 190, "1, 2"}}};

TEST(JointReplay, LatenessIsInheritedThroughGroups) {
  Job job(kTwoGroups);
  EXPECT_EQ(job.meetings.meetings.size(), 2u);
  EXPECT_EQ(job.ends(), (Ends{{50, 110}, {90, 110, 130, 190}, {180, 190}}));
  job.scale(0, 0, 5);  // 100: A begins 40 later, and rank 1 still waits for rank 2
  EXPECT_EQ(job.ends(), (Ends{{130, 150}, {90, 150, 170, 190}, {180, 190}}));
  job.scale(0, 0, 6);  // 120: A begins 60 later, and rank 2 waits for rank 1
  EXPECT_EQ(job.ends(), (Ends{{150, 170}, {90, 170, 190, 200}, {180, 200}}));
}

// Three ranks arrive 0, 30 and 100 µs after the first. At the median's pace the collective begins with the
// second rank; the third arrives later and takes only its own transfer.
TEST(JointReplay, AtTheMediansPace) {
  Job job({{{"x", 30, 50}, {"A", 50, 160, "0, 1, 2"}},
           {{"x", 30, 80}, {"A", 80, 160, "0, 1, 2"}},
           {{"x", 30, 150}, {"A", 150, 160, "0, 1, 2"}}});
  job.changes.pace = Gathering::Pace::median;
  EXPECT_EQ(job.ends(), (Ends{{50, 90}, {80, 90}, {150, 160}}));
}

// Rank 0 runs A before B, rank 1 runs B before A.
TEST(JointReplay, ACircleIsGivenUp) {
  Job job({{{"A", 30, 50, "0, 1"}, {"B", 50, 70, "1, 0"}}, {{"B", 30, 50, "1, 0"}, {"A", 50, 70, "0, 1"}}});
  ASSERT_EQ(job.meetings.meetings.size(), 2u);
  EXPECT_EQ(job.ends(), (Ends{{50, 70}, {50, 70}}));
  EXPECT_EQ(job.given_up, 1);
}

// Rank 0 runs x until 50 and y until 120. Beside y, collective A waits for rank 1 and ends at 200; then B
// sends what y made. Without rank 1, A ends at 70, and B begins when y has ended.
TEST(JointReplay, ACollectiveFollowsTheKernelThatMadeItsInput) {
  const auto file = [](int late) {
    std::string text;
    const char* names[] = {"x", "A", "y", "B"};
    const int starts[] = {30, 50 + late, 50, 200}, ends[] = {50, 200, 120, 220};
    for (int i = 0; i < 4; ++i)
      text += fmt::format(
          R"({}{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": {}, "dur": 2, "args": {{"correlation": {}}}}},{{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": {}, "ts": {}, "dur": {}, "args": {{"stream": {}, "correlation": {}{}}}}})",
          i == 0 ? "" : ",", 15 + 3 * i, i + 1,
          i % 2 == 0 ? names[i] : "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 7 + i % 2, starts[i],
          ends[i] - starts[i], 7 + i % 2, i + 1,
          i % 2 == 0
              ? ""
              : fmt::format(
                    R"(, "Collective name": "allreduce", "In msg nelems": 8, "dtype": "Float", "Group size": 2, "Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Seq": {})",
                    i));
    return text;
  };
  const trace::Trace trace = test::open_ranks({file(0), file(130)});
  std::vector<ReplayPlan> plans;
  for (const trace::Rank& rank : trace.ranks)
    plans.push_back(replay_plan(trace, rank, waiting_calls(trace, rank, launch_queue(trace, rank)), {}));
  const std::vector<const ReplayPlan*> of_ranks = {&plans[0], &plans[1]};
  const Meetings meetings = meetings_of(trace, collectives_of(trace), of_ranks);
  ASSERT_EQ(meetings.meetings.size(), 2u);
  JointChanges changes;
  changes.absent = {false, true};
  const JointReplayed alone = joint_replay(trace, of_ranks, meetings, changes);
  EXPECT_EQ(alone.ranks[0].start, (Column<Time>{30'000, 50'000, 50'000, 120'000}));  // x, y, A, B
  EXPECT_EQ(alone.ranks[0].end, (Column<Time>{50'000, 120'000, 70'000, 140'000}));
}

// Rank 0 computes x until 50 and sends it, which takes 40 once rank 1 has arrived at 150; rank 1 then works
// on it. Both ends wait for each other, at any pace.
TEST(JointReplay, AMessageJoinsItsTwoEnds) {
  const auto file = [](bool sends, int start) {
    std::string text;
    const char* names[] = {"x", "M", "y"};
    const int starts[] = {30, start, 190}, ends[] = {start, 190, 200};
    for (int i = 0; i < 3; ++i)
      text += fmt::format(
          R"({}{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": {}, "dur": 1, "args": {{"correlation": {}}}}},{{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7, "ts": {}, "dur": {}, "args": {{"stream": 7, "correlation": {}{}}}}})",
          i == 0 ? "" : ",", 15 + 3 * i, i + 1, i == 1 ? "ncclDevKernel_SendRecv" : names[i], starts[i],
          ends[i] - starts[i], i + 1,
          i != 1
              ? ""
              : fmt::format(
                    R"(, "Collective name": "{}", "In msg nelems": 1000000, "dtype": "Float", "Group size": 2, "Process Group Name": "1", "Process Group Ranks": "[0, 1]", "{} Rank": {})",
                    sends ? "send" : "recv", sends ? "Dst" : "Src", sends ? 1 : 0));
    return text +
           R"(,{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 28})";
  };
  const trace::Trace trace = test::open_ranks({file(true, 50), file(false, 150)});
  std::vector<ReplayPlan> plans;
  for (const trace::Rank& rank : trace.ranks)
    plans.push_back(replay_plan(trace, rank, waiting_calls(trace, rank, launch_queue(trace, rank)), {}));
  const std::vector<const ReplayPlan*> of_ranks = {&plans[0], &plans[1]};
  const Meetings meetings = meetings_of(trace, collectives_of(trace), of_ranks);
  ASSERT_EQ(meetings.meetings.size(), 1u);
  EXPECT_TRUE(meetings.meetings[0].message);
  EXPECT_EQ(meetings.meetings[0].transfer, 40'000);
  JointChanges changes;
  changes.ranks.resize(2);
  changes.ranks[1].device = {0.5, 1, 1};  // rank 1 arrives at 90
  const auto ends = [&](std::size_t rank) {
    return joint_replay(trace, of_ranks, meetings, changes).ranks[rank].end;
  };
  EXPECT_EQ(ends(0), (Column<Time>{50'000, 130'000, 140'000}));
  EXPECT_EQ(ends(1), (Column<Time>{90'000, 130'000, 140'000}));
  changes.pace = Gathering::Pace::median;
  EXPECT_EQ(ends(0), (Column<Time>{50'000, 130'000, 140'000}));
}

// Shortening anything on any rank makes no rank later.
TEST(JointReplay, FasterIsNeverLater) {
  Job job(kTwoGroups);
  const Ends before = job.ends();
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    for (std::size_t r = 0; r < job.plans.size(); ++r)
      for (std::size_t i = 0; i < job.plans[r].events.size(); ++i)
        job.scale(r, i, std::uniform_real_distribution<double>(0, 1)(random));
    const Ends after = job.ends();
    for (std::size_t r = 0; r < before.size(); ++r)
      for (std::size_t i = 0; i < before[r].size(); ++i)
        EXPECT_LE(after[r][i], before[r][i]) << r << " " << i;
  }
}

}  // namespace
}  // namespace stepscope::derive
