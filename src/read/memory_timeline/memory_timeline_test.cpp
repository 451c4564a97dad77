#include "read/memory_timeline/memory_timeline.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "make_rank.h"
#include "trace/memory_timeline.h"

namespace stepscope::read {
namespace {

using test::Cells;
using test::cells;

Result<ParsedFile> parsed_timeline(std::string_view text) {
  const auto source = memory_bytes(text.data(), text.size());
  return parse_memory_timeline("file", *source);
}

std::vector<std::int64_t> bytes_of(const ParsedFile& file) {
  return {file.memory_timeline->bytes.begin(), file.memory_timeline->bytes.end()};
}

// Unknown memory of 500 from before; at 1000 a parameter of 100; at 2000 it is written, and turns out to be
// an activation until the next write at 3000; at 4000 a temporary of 40, freed at 5000.
constexpr std::string_view kRaw =
    "[[-1, 1, 500, 7], [1000, 2, 100, 0], [2000, 3, -100, 0], [2000, 3, 100, 4], [3000, 3, -100, 4],\n"
    "[3000, 3, 100, 0], [4000, 2, 40, 3], [5000, 4, -40, 3]]";

TEST(MemoryTimeline, KnownByItsFirstBytes) {
  EXPECT_TRUE(is_memory_timeline(" [ [-1, 1"));
  EXPECT_TRUE(is_memory_timeline("[[1795886073908315, 17"));
  EXPECT_TRUE(is_memory_timeline("[[], []]"));
  EXPECT_FALSE(is_memory_timeline("[{\"ph\": \"X\"}]"));
  EXPECT_FALSE(is_memory_timeline("{\"traceEvents\": [[1]]}"));
  EXPECT_FALSE(is_memory_timeline("[["));
}

TEST(MemoryTimeline, Changes) {
  const auto file = parsed_timeline(kRaw);
  ASSERT_TRUE(file.ok());
  const trace::MemoryTimeline& of = *file->memory_timeline;
  EXPECT_TRUE(of.has_actions);
  EXPECT_EQ(of.time.front(), 1000);  // from before
  EXPECT_EQ(of.action[2], trace::TimelineAction::increment_version);
  EXPECT_EQ(of.category[3], 4);
  EXPECT_EQ(bytes_of(*file), (std::vector<std::int64_t>{500, 100, -100, 100, -100, 100, 40, -40}));
  EXPECT_TRUE(file->rank.reading.complete);
}

TEST(MemoryTimeline, Sums) {
  const auto file = parsed_timeline(
      "[[10, 10, 30], [[0, 0, 0, 0, 0, 0, 0, 0, 7], [0, 5, 0, 0, 0, 0, 0, 0, 7], [0, 0, 0, 0, 0, 0, 0, 0, "
      "9]]]");
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(file->memory_timeline->has_actions);
  EXPECT_EQ(bytes_of(*file), (std::vector<std::int64_t>{7, 5, -5, 2}));
  EXPECT_EQ(file->memory_timeline->time.back(), 30'000);
  EXPECT_TRUE(parsed_timeline("[[], []]").ok());
}

// Wherever the file is cut, the changes before the cut stay, and the sentence says where and what to do.
TEST(MemoryTimeline, CutAnywhere) {
  const auto whole = parsed_timeline(kRaw);
  for (std::size_t size = 4; size < kRaw.size(); ++size) {
    const std::string_view text = kRaw.substr(0, size);
    const auto file = parsed_timeline(text);
    const auto changes = static_cast<std::ptrdiff_t>(std::ranges::count(text, ']'));
    if (changes == 0) {
      ASSERT_FALSE(file.ok());
      EXPECT_NE(file.error().text().find("ends before its first change"), std::string::npos);
      continue;
    }
    ASSERT_TRUE(file.ok()) << text;
    EXPECT_EQ(std::ssize(file->memory_timeline->bytes), changes) << text;
    EXPECT_FALSE(file->rank.reading.complete);
    ASSERT_EQ(file->rank.reading.losses, 1);
    EXPECT_EQ(file->rank.reading.first_losses[0].byte, static_cast<std::int64_t>(size));
    EXPECT_NE(file->rank.reading.first_losses[0].reason.find("ends early"), std::string::npos);
  }
}

TEST(MemoryTimeline, DamageEndsReadingAndKeepsWhatWasRead) {
  for (const std::string_view row :
       {"[3, 9, 1, 0]", "[3, 2, 1, 8]", "[3, 2, 1]", "[3, 2, 1, 0, 0]", "{}", "[3, 2, \"x\", 0]",
        "[3, 2, 9223372036854775807, 0]", "[3, 2, 99999999999999999999, 0]", "[3, 2, NaN, 0]", "[[3]]",
        "[3 2 1 0]", "[3, 2, 1e300, 0]", "[3, 2, 1, -1]"}) {
    const auto file = parsed_timeline("[[1, 2, 10, 0], " + std::string(row) + ", [5, 2, 10, 0]]");
    ASSERT_TRUE(file.ok()) << row;
    EXPECT_EQ(bytes_of(*file), std::vector<std::int64_t>{10}) << row;
    ASSERT_EQ(file->rank.reading.losses, 1) << row;
    EXPECT_GE(file->rank.reading.first_losses[0].byte, 16) << row;
    EXPECT_NE(file->rank.reading.first_losses[0].reason.find("what was read before is kept: export it again"),
              std::string::npos)
        << row;
  }
  for (const std::string_view text : {"[[1, 2], [[0, 1]]]", "[[1, 2, 3], 4]", "[[1, 2, 1, 9]]", "[[-]]"})
    EXPECT_NE(parsed_timeline(text).error().text().find("export_memory_timeline()"), std::string::npos)
        << text;
}

TEST(MemoryTimeline, SumsThatDoNotMatchTheTimes) {
  const std::string row = "[0, 1, 0, 0, 0, 0, 0, 0, 0]";
  for (const std::string& sums : {row, row + ", " + row + ", " + row, row + ", [0, 1]"}) {
    const auto file = parsed_timeline("[[1, 2], [" + sums + "]]");
    ASSERT_TRUE(file.ok()) << sums;
    EXPECT_EQ(bytes_of(*file), std::vector<std::int64_t>{1});
    EXPECT_EQ(file->rank.reading.losses, 1) << sums;
  }
}

// Sizes whose sum is more than any recording moves end the reading instead of overflowing.
TEST(MemoryTimeline, SizesThatNoMemoryHolds) {
  std::string rows = "[[1, 2, 72057594037927936, 0]";
  for (int i = 0; i < 200; ++i) rows += ", [1, 2, 72057594037927936, 0]";
  const auto file = parsed_timeline(rows + "]");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->memory_timeline->count(), 64u);
  EXPECT_EQ(file->rank.reading.losses, 1);
}

TEST(MemoryTimeline, AnswersWithoutOps) {
  const trace::Trace trace = test::open_json(kRaw);
  ASSERT_EQ(trace.ranks.size(), 1u);
  const report::Report report = test::answer("memory_categories", trace);
  const report::Table& table = report.tables[0];
  EXPECT_EQ(cells(table, "device"), (Cells{"exported", "exported", "exported", "exported"}));
  EXPECT_EQ(cells(table, "category"), (Cells{"unknown", "parameters", "temporaries", "activations"}));
  EXPECT_EQ(cells(table, "bytes"), (Cells{"500", "100", "40", "0"}));
  EXPECT_EQ(cells(table, "count"), (Cells{"1", "1", "1", "0"}));
  EXPECT_EQ(cells(table, "highest"), (Cells{"500", "100", "40", "100"}));
  EXPECT_EQ(cells(table, "highest_time"), (Cells{"0", "0", "3000", "1000"}));
  EXPECT_EQ(cells(report.tables[1], "all"), (Cells{"600", "600", "600", "640", "600"}));
  const report::Report events = test::answer("memory_events", trace);
  ASSERT_EQ(events.notes.size(), 1u);
  EXPECT_NE(events.notes[0].find("memory_categories answers from it"), std::string::npos);
}

TEST(MemoryTimeline, BesideItsTrace) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("stepscope_timeline_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "a.json") << R"({"schemaVersion": 1, "traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 5, "dur": 2}]})";
  gzFile raw = gzopen((folder / "b.raw.json.gz").c_str(), "wb");
  gzwrite(raw, kRaw.data(), static_cast<unsigned>(kRaw.size()));
  gzclose(raw);
  std::ofstream(folder / "c.json") << "[[1], [[0, 1, 0, 0, 0, 0, 0, 0, 0]]]";
  const std::string paths[] = {folder.string()};
  const auto trace = read::open(paths);
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  ASSERT_EQ(trace->ranks.size(), 1u);
  EXPECT_EQ(trace->companions.size(), 2u);
  EXPECT_EQ(trace->ranks[0].memory_timeline->count(), 8u);  // changes say more than sums
  EXPECT_EQ(test::answer("memory_categories", *trace).tables[0].rows(), 4u);
}

}  // namespace
}  // namespace stepscope::read
