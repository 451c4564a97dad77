// Which rank a file is, and gaps in a folder of files.
#include "read/rank_numbers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "read/open.h"

namespace stepscope::read {
namespace {

namespace fs = std::filesystem;

/// A folder of files that is removed at the end.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("stepscope_ranks_" + std::to_string(getpid()))) {
    fs::create_directory(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  void add(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
  Result<trace::Trace> opened(std::int64_t run = 0) const {
    const std::string paths[] = {path_.string()};
    OpenOptions options;
    options.run = run;
    return open(paths, options);
  }

 private:
  fs::path path_;
};

std::string file(std::string_view distributed, int first_step, std::string_view args = "", int steps = 2) {
  std::string events;
  for (int step = first_step; step < first_step + steps; ++step)
    events += fmt::format(
        R"({}{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","pid":1,"tid":1,"ts":{},"dur":9,"args":{{{}}}}})",
        events.empty() ? "" : ",", step, 10 * step, args);
  return fmt::format(R"({{{}"traceEvents":[{}]}})", distributed, events);
}

std::string rank_of_job(int rank, int size) {
  return fmt::format(R"("distributedInfo":{{"backend":"nccl","rank":{},"world_size":{}}},)", rank, size);
}

std::vector<std::int64_t> numbers(const trace::Trace& trace) {
  std::vector<std::int64_t> out;
  for (const trace::Rank& rank : trace.ranks) out.push_back(rank.rank);
  return out;
}
using Numbers = std::vector<std::int64_t>;

TEST(RankNumbers, FromTheHeadThenTheCollectivesThenTheName) {
  Folder folder;
  folder.add("a.json", file(rank_of_job(3, 4), 1));
  folder.add("b_rank9.json", file("", 1, R"("Rank": 1)"));
  folder.add("job-rank_2.json", file("", 1));
  folder.add("rank0.json", file("", 1));
  const auto trace = folder.opened();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(numbers(*trace), (Numbers{0, 1, 2, 3}));
  EXPECT_TRUE(trace->notes.empty()) << trace->notes[0];
}

// Each file has two steps of 10 µs: steps 1 and 2 begin at 10 and 20 µs, steps 5 and 6 at 50 and 60.
TEST(RankNumbers, OfTheCyclesOfAProcessTheLastStays) {
  Folder folder;
  folder.add("a.1.pt.trace.json", file(rank_of_job(0, 2), 1));
  folder.add("a.2.pt.trace.json", file(rank_of_job(0, 2), 5));
  folder.add("b.1.pt.trace.json", file(rank_of_job(1, 2), 1));
  folder.add("b.2.pt.trace.json", file(rank_of_job(1, 2), 5));
  const auto trace = folder.opened();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(numbers(*trace), (Numbers{0, 1}));
  EXPECT_EQ(trace->ranks[1].steps.front().number, 5);
  EXPECT_TRUE(trace->doubts.empty());
  ASSERT_EQ(trace->notes.size(), 1u);
  EXPECT_TRUE(
      trace->notes[0].starts_with("These files are of 2 runs, or of a schedule with as many cycles. Run 2 "))
      << trace->notes[0];
}

TEST(RankNumbers, MissingRanksAndOtherStepsAreNoted) {
  Folder folder;
  folder.add("a.json", file(rank_of_job(0, 12), 5));
  folder.add("b.json", file(rank_of_job(2, 12), 5));
  folder.add("c.json", file(rank_of_job(8, 12), 6));
  const auto trace = folder.opened();
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace->notes.size(), 2u);
  EXPECT_TRUE(
      trace->notes[0].starts_with("9 of the job's 12 ranks are not among these files: 1, 3 to 7, 9 to 11."))
      << trace->notes[0];
  EXPECT_TRUE(trace->notes[1].starts_with(
      "The ranks recorded different steps: 5 to 6 (ranks 0, 2); 6 to 7 (rank 8)."))
      << trace->notes[1];
}

TEST(RankNumbers, TheProcessThatStartsAllRanksIsLeftOut) {
  Folder folder;
  folder.add("a.json", file("", 5));
  folder.add("b.json", file(rank_of_job(0, 2), 5));
  folder.add("c.json", file(rank_of_job(1, 2), 5));
  const auto trace = folder.opened();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(numbers(*trace), (Numbers{0, 1}));
  EXPECT_TRUE(trace->doubts.empty());
  ASSERT_EQ(trace->notes.size(), 1u);
  EXPECT_TRUE(trace->notes[0].starts_with(
      "A file is no rank of this job of 2, such as the process that started it, and is left out."))
      << trace->notes[0];
}

// The one with "training" made a step of an optimizer; the simulators beside it made none.
TEST(RankNumbers, OtherProcessesOfTheOnlyOneThatTrainsAreLeftOut) {
  Folder folder;
  folder.add("a.json", file("", 5));
  folder.add("b.json", file(R"("training":{"gradients":8},)", 5));
  folder.add("c.json", file("", 5));
  const auto trace = folder.opened();
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace->ranks.size(), 1u);
  EXPECT_TRUE(trace->ranks[0].path.ends_with("b.json"));
  EXPECT_TRUE(trace->doubts.empty());
  ASSERT_EQ(trace->notes.size(), 1u);
  EXPECT_TRUE(trace->notes[0].starts_with(
      "2 files are other processes of the program, which do not train, and are left out."))
      << trace->notes[0];
}

// A script started two programs; of the one that stays, both processes do.
TEST(RankNumbers, FilesOfAnotherCommandAreLeftOut) {
  Folder folder;
  folder.add("a.json", file(R"("command":"serve.py",)", 5));
  folder.add("b.json", file(R"("command":"train.py --epochs 3","training":{"gradients":8},)", 5));
  folder.add("c.json", file(R"("command":"train.py --epochs 3","training":{"gradients":8},)", 5));
  const auto trace = folder.opened();
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace->ranks.size(), 2u);
  EXPECT_EQ(trace->ranks[0].command, "train.py --epochs 3");
  ASSERT_FALSE(trace->notes.empty());
  EXPECT_TRUE(
      trace->notes[0].starts_with("A file is of another program than train.py --epochs 3 (serve.py) and is "
                                  "left out. Give it alone to see it: "))
      << trace->notes[0];
}

TEST(RankNumbers, TwoThatTrainAreRanks) {
  Folder folder;
  folder.add("a.json", file(R"("training":{"gradients":8},)", 5));
  folder.add("b.json", file(R"("training":{"gradients":8},)", 5));
  folder.add("c.json", file("", 5));
  const auto trace = folder.opened();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(numbers(*trace), (Numbers{0, 1, 2}));
}

// The third only started the two.
TEST(RankNumbers, TwoOfOneCommandThatTrainAreRanksAndOthersOfItAreNot) {
  const std::string command = R"("command":"train.py",)",
                    training = command + R"("training":{"gradients":8},)";
  Folder folder;
  folder.add("a.json", file(command, 5));
  folder.add("b.json", file(training, 5));
  folder.add("c.json", file(training, 5));
  const auto trace = folder.opened();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(numbers(*trace), (Numbers{0, 1}));
  EXPECT_TRUE(trace->ranks[0].path.ends_with("b.json"));
}

// One of three ranks has no number: it may be any process. The others keep theirs.
TEST(RankNumbers, AFileWithoutARankOfAnIncompleteJobGetsAFreeNumber) {
  Folder folder;
  folder.add("a.json", file("", 5));
  folder.add("b.json", file(rank_of_job(0, 3), 5));
  folder.add("c.json", file(rank_of_job(2, 3), 5));
  const auto trace = folder.opened();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(numbers(*trace), (Numbers{0, 1, 2}));
  EXPECT_TRUE(trace->ranks[1].path.ends_with("a.json"));
  EXPECT_EQ(trace->doubts.size(), 1u);
}

TEST(RankNumbers, AFileThatRepeatsAnotherIsLeftOut) {
  Folder folder;
  folder.add("a.json", file(rank_of_job(1, 2), 5));
  folder.add("a_copy.json", file(rank_of_job(1, 2), 5));
  folder.add("b.json", file(rank_of_job(0, 2), 5));
  const auto trace = folder.opened();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(numbers(*trace), (Numbers{0, 1}));
  EXPECT_TRUE(trace->doubts.empty());
  ASSERT_EQ(trace->notes.size(), 1u);
  EXPECT_TRUE(trace->notes[0].ends_with("a_copy.json repeats another file and is left out."))
      << trace->notes[0];
}

// The same steps, of which one file holds a third.
TEST(RankNumbers, OfTwoFilesOfARankFromTheSameTimeTheLargerStays) {
  Folder folder;
  folder.add("a.json", file(rank_of_job(1, 2), 5));
  folder.add("a_whole.json", file(rank_of_job(1, 2), 5, "", 3));
  folder.add("b.json", file(rank_of_job(0, 2), 5));
  const auto trace = folder.opened();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(numbers(*trace), (Numbers{0, 1}));
  EXPECT_EQ(trace->ranks[1].steps.size(), 3u);
  EXPECT_NE(trace->notes[0].find("a.json is of rank 1, as "), std::string::npos) << trace->notes[0];
}

// Steps 1 and 2 begin at 10 and 20 µs, steps 5 and 6 at 50 and 60. Rank 1 of the first run is not there.
TEST(RankNumbers, OfTwoRunsTheNewestWithMostRanksIsRead) {
  Folder folder;
  folder.add("first_0.json", file(rank_of_job(0, 3), 1));
  folder.add("first_2.json", file(rank_of_job(2, 3), 1));
  for (int rank = 0; rank < 3; ++rank)
    folder.add(fmt::format("second_{}.json", rank), file(rank_of_job(rank, 3), 5));
  const auto trace = folder.opened();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(numbers(*trace), (Numbers{0, 1, 2}));
  EXPECT_EQ(trace->ranks[1].steps.front().number, 5);
  ASSERT_EQ(trace->notes.size(), 1u);
  EXPECT_EQ(
      trace->notes[0],
      "These files are of 2 runs, or of a schedule with as many cycles. Run 2 of 1970-01-01 00:00:00 UTC is "
      "read (3 files); left out: run 1 of 1970-01-01 00:00:00 UTC (2 files). --run N chooses another.");
  const auto first = folder.opened(1);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(numbers(*first), (Numbers{0, 2}));
  EXPECT_EQ(folder.opened(3).error().message, "there is no run 3: these files hold 2 runs");
}

// An old file of a rank lies beside a run.
TEST(RankNumbers, ARunThatIsNotWholeIsLeftOutThoughItIsNewer) {
  Folder folder;
  for (int rank = 0; rank < 3; ++rank)
    folder.add(fmt::format("{}.json", rank), file(rank_of_job(rank, 3), 1));
  folder.add("late.json", file(rank_of_job(1, 3), 5));
  const auto trace = folder.opened();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(numbers(*trace), (Numbers{0, 1, 2}));
  EXPECT_EQ(trace->ranks[1].steps.front().number, 1);
}

// Two of three ranks state their zero.
TEST(RankNumbers, AZeroThatIsAbsentIsNoted) {
  const std::string zero = R"("baseTimeNanoseconds": 1751410836000000000, )";
  Folder folder;
  folder.add("a.json", file(zero + rank_of_job(0, 3), 5));
  folder.add("b.json", file(rank_of_job(1, 3), 5));
  folder.add("c.json", file(zero + rank_of_job(2, 3), 5));
  const auto trace = folder.opened();
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace->doubts.size(), 1u);
  EXPECT_TRUE(trace->doubts[0].ends_with("baseTimeNanoseconds is absent for rank 1.")) << trace->doubts[0];
  EXPECT_EQ(trace->notes, trace->doubts);
}

}  // namespace
}  // namespace stepscope::read
