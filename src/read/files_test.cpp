// How the paths that people give expand into files.
#include "read/files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "read/open.h"
#include "read/rank_files.h"

namespace stepscope::read {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "below");
    for (const char* rank : {"rank0.json", "below/rank1.json"})
      std::ofstream(folder_ / rank) << R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,)"
                                       R"("tid":1,"ts":1,"dur":2}]})";
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string at(const char* name) const { return (folder_ / name).string(); }

  fs::path folder_ = fs::temp_directory_path() / ("stepscope-files-" + std::to_string(::getpid()));
};

TEST_F(Files, ALinkThatLeadsNowhereIsMissed) {
  fs::create_symlink("gone.json", folder_ / "rank2.json");
  fs::create_symlink("rank3.json", folder_ / "rank3.json");
  const Paths folder = {folder_.string()};
  const auto files = files_of(folder, kReadable);
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(*files, (Paths{at("below/rank1.json"), at("rank0.json"), at("rank2.json"), at("rank3.json")}));
  const auto trace = open(folder);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->ranks.size(), 2u);
  ASSERT_EQ(trace->unread.size(), 2u);
  EXPECT_TRUE(trace->unread[0].starts_with(at("rank2.json") + ": cannot be opened: "));
  EXPECT_TRUE(trace->unread[1].starts_with(at("rank3.json") + ": cannot be opened: "));
  EXPECT_GT(extent_of(folder).text, 0);
}

TEST_F(Files, AFileOfSeveralNamesInADirectoryCountsOnce) {
  fs::create_symlink("rank0.json", folder_ / "latest.json");
  fs::create_hard_link(folder_ / "rank0.json", folder_ / "rank0b.json");
  const Paths folder = {folder_.string()};
  EXPECT_EQ(*files_of(folder, kReadable), (Paths{at("below/rank1.json"), at("rank0.json")}));
}

TEST_F(Files, NoFileIsOverwrittenUnderAnyName) {
  fs::create_symlink("rank0.json", folder_ / "latest.csv");
  fs::create_hard_link(folder_ / "rank0.json", folder_ / "same.db");
  const Paths files = {at("rank0.json"), at("below/rank1.json")};
  for (const char* name : {"rank0.json", "below/../below/rank1.json", "latest.csv", "same.db"})
    EXPECT_EQ(overwritten(files, at(name), "the trace itself"),
              at(name) + ": is the trace itself and would be overwritten; choose another place");
  for (const char* name : {"new.json", "below", "", "-"})
    EXPECT_EQ(overwritten(files, *name == 0 ? "" : at(name), "the trace itself"), "");
}

TEST_F(Files, OneFileNamedTwiceIsAnError) {
  fs::create_symlink("rank0.json", folder_ / "latest.json");
  EXPECT_EQ(given_twice(Paths{at("rank0.json"), at("below/rank1.json"), at("gone"), at("gone")}), "");
  const Paths twice = {at("rank0.json"), at("latest.json")};
  EXPECT_EQ(given_twice(twice), at("latest.json"));
  EXPECT_EQ(open(Paths{at("rank0.json"), at("gone.json")}).error().text(),
            at("gone.json") + ": cannot be opened: No such file or directory");
  EXPECT_EQ(open(twice).error().text(), at("latest.json") + ": is given twice; each recording counts once");
}

}  // namespace
}  // namespace stepscope::read
