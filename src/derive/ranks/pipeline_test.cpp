// Finds stages by who sends to whom first, and counts micro-batches and chunks.
#include "derive/ranks/pipeline.h"

#include <gtest/gtest.h>

namespace stepscope::derive {
namespace {

/// The messages of step 1, one after another, as recorded by both ranks.
class Job {
 public:
  explicit Job(std::int64_t ranks) : rows_(static_cast<std::size_t>(ranks)) {
    groups_.id("all", "1");
    for (std::int64_t r = 0; r < ranks; ++r) numbers_.push_back(r);
  }
  void send(std::int64_t from, std::int64_t to, std::int64_t bytes = 8) {
    ++at_;
    add(from, to, true, bytes);
    add(to, from, false, bytes);
  }
  Collectives collectives() const { return matched(groups_, rows_, numbers_); }
  std::vector<Stage> stages() const { return stages_of(collectives()); }

 private:
  void add(std::int64_t rank, std::int64_t peer, bool sends, std::int64_t bytes) {
    if (rank >= std::ssize(rows_)) return;  // not recorded
    rows_[static_cast<std::size_t>(rank)].push_back(
        {0, Exchange::point_to_point, -1, bytes, 2, 1, at_, at_ + 1, 0, peer, sends});
  }
  GroupNames groups_;
  std::vector<std::vector<CollectiveRow>> rows_;
  std::vector<std::int64_t> numbers_;
  timeline::Time at_ = 0;
};

std::vector<std::int32_t> numbers(const std::vector<Stage>& stages) {
  std::vector<std::int32_t> out;
  for (const Stage& stage : stages) out.push_back(stage.number);
  return out;
}
using Numbers = std::vector<std::int32_t>;

/// Sends `micro_batches` forward along `chain`, then back.
void pass(Job& job, const std::vector<std::int64_t>& chain, int micro_batches) {
  for (int i = 0; i < micro_batches; ++i)
    for (std::size_t s = 0; s + 1 < chain.size(); ++s) job.send(chain[s], chain[s + 1]);
  for (int i = 0; i < micro_batches; ++i)
    for (std::size_t s = chain.size(); s-- > 1;) job.send(chain[s], chain[s - 1]);
}

// 200 of the heaviest stage, 125 on average; five passes, of which four are beyond the first.
TEST(Pipeline, EvenStagesSaveWhatTheHeaviestHasBeyondTheMean) {
  EXPECT_EQ(uneven_cost(std::vector<timeline::Time>{100, 100, 100, 200}, {5, 1}), 60);
  EXPECT_EQ(uneven_cost(std::vector<timeline::Time>{100, 100}, {5, 1}), 0);
  EXPECT_EQ(uneven_cost(std::vector<timeline::Time>{100, 300}, {1, 1}),
            0);  // one after the other, however divided
  EXPECT_EQ(uneven_cost({}, {5, 1}), 0);
}

TEST(Pipeline, StagesFollowTheMessages) {
  Job job(4);
  pass(job, {2, 0, 3, 1}, 5);
  const std::vector<Stage> stages = job.stages();
  EXPECT_EQ(numbers(stages), (Numbers{1, 3, 0, 2}));
  for (const Stage& stage : stages) {
    EXPECT_EQ(stage.stages, 4);
    EXPECT_EQ(stage.passes.at(1).micro_batches, 5);
    EXPECT_EQ(stage.passes.at(1).chunks, 1);
  }
  EXPECT_DOUBLE_EQ(ideal_bubble(4, stages[0].passes.at(1)), 3.0 / 8);
}

TEST(Pipeline, TwoPipelinesAndARankOfNone) {
  Job job(5);
  pass(job, {0, 2}, 3);
  pass(job, {1, 3}, 3);
  const std::vector<Stage> stages = job.stages();
  EXPECT_EQ(numbers(stages), (Numbers{0, 0, 1, 1, -1}));
  EXPECT_NE(stages[0].pipeline, stages[1].pipeline);
  EXPECT_EQ(stages[0].pipeline, stages[2].pipeline);
  EXPECT_EQ(stages[4].pipeline, -1);
}

// Two chunks on each of three stages: the last stage sends each micro-batch to the first stage once.
TEST(Pipeline, InterleavedChunks) {
  Job job(3);
  for (int i = 0; i < 4; ++i)
    for (const auto& [from, to] : {std::pair{0, 1}, {1, 2}, {2, 0}, {0, 1}, {1, 2}}) job.send(from, to);
  for (int i = 0; i < 4; ++i)
    for (const auto& [from, to] : {std::pair{2, 1}, {1, 0}, {0, 2}, {2, 1}, {1, 0}}) job.send(from, to);
  const std::vector<Stage> stages = job.stages();
  EXPECT_EQ(numbers(stages), (Numbers{0, 1, 2}));
  for (const Stage& stage : stages) {
    EXPECT_EQ(stage.passes.at(1).micro_batches, 4);
    EXPECT_EQ(stage.passes.at(1).chunks, 2);
  }
  EXPECT_DOUBLE_EQ(ideal_bubble(3, stages[0].passes.at(1)), 2.0 / 10);
}

// A mask accompanies each micro-batch. The last of four stages has no file.
TEST(Pipeline, LargestMessagesCountAndStagesMayBeMissing) {
  Job job(3);
  for (int i = 0; i < 6; ++i)
    for (int s = 0; s < 3; ++s) {
      job.send(s, s + 1, 1 << 20);
      job.send(s, s + 1, 64);
    }
  const std::vector<Stage> stages = job.stages();
  EXPECT_EQ(numbers(stages), (Numbers{0, 1, 2}));
  EXPECT_EQ(stages[1].stages, 4);
  EXPECT_EQ(stages[1].passes.at(1).micro_batches, 6);
}

// Even ranks send first and odd ranks receive first, so there is no first stage.
TEST(Pipeline, ARingIsNone) {
  Job job(4);
  for (int i = 0; i < 3; ++i)
    for (const int from : {0, 2, 1, 3}) job.send(from, (from + 1) % 4);
  EXPECT_EQ(numbers(job.stages()), (Numbers{-1, -1, -1, -1}));
}

TEST(Pipeline, AStarIsNone) {
  Job job(3);
  job.send(0, 1);
  job.send(0, 2);
  EXPECT_EQ(numbers(job.stages()), (Numbers{-1, -1, -1}));
}

// All Seq are equal and do not help: the k-th message from one rank to another is the k-th that arrives.
TEST(Pipeline, MessagesAreMatchedByTheirEnds) {
  Job job(3);
  pass(job, {0, 1, 2}, 2);
  const Collectives all = job.collectives();
  EXPECT_EQ(all.matches.instances.size(), 8u);
  for (const Instance& instance : all.matches.instances) {
    const auto ends = all.members(instance);
    ASSERT_EQ(ends.size(), 2u);
    EXPECT_TRUE(all.row(ends[0]).sends);
    EXPECT_EQ(all.row(ends[0]).start, all.row(ends[1]).start);
    EXPECT_EQ(instance.match, Match::by_order);
  }
}

}  // namespace
}  // namespace stepscope::derive
