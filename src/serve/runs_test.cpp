#include "serve/runs.h"

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "base/text.h"
#include "serve/folder_for_test.h"
#include "serve/request.h"

namespace stepscope::serve {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

RunFinder finder_below(Names paths) {
  auto finder = RunFinder::below(std::move(paths));
  EXPECT_TRUE(finder.ok());
  return std::move(*finder);
}

/// "name: number of files" of each run below the paths.
Names found_below(const Names& paths) {
  RunFinder finder = finder_below(paths);
  Names names;
  for (const FoundRun& run : finder.find())
    names.push_back(run.name + ": " + std::to_string(run.files.size()));
  return names;
}

class FindRuns : public testing::Test {
 protected:
  const FolderForTest folder_{"stepscope-find-"};
};

TEST_F(FindRuns, EachFileOrEachFolderOfRanks) {
  folder_.write("a.json", one_op("a"));
  folder_.write("b.json", one_op("b"));
  folder_.write("notes.txt", "no trace");
  folder_.write("settings.json", R"({"learning_rate": 0.1})");
  folder_.write("named/sizes.json", "[1, 2]");
  folder_.write("named/rank0.json", one_op("a"));
  folder_.write("named/rank1.json", one_op("a"));
  folder_.write("told/x.json", one_op("a", R"("distributedInfo":{"rank":0,"world_size":2},)"));
  folder_.write("told/y.json", one_op("a", R"("distributedInfo":{"rank":1,"world_size":2},)"));
  folder_.write("single/x.json", one_op("a", R"("distributedInfo":{"rank":0,"world_size":1},)"));
  folder_.write("single/y.json", one_op("a", R"("distributedInfo":{},"world_size":2,)"));
  EXPECT_EQ(found_below({folder_.path()}),
            (Names{"a.json: 1", "b.json: 1", "named: 2", "single/x.json: 1", "single/y.json: 1", "told: 2"}));
  EXPECT_EQ(found_below({folder_.at("named"), folder_.at("b.json")}), (Names{"named: 2", "b.json: 1"}));
  EXPECT_EQ(found_below({folder_.at("b.json"), folder_.at("b.json")}), Names{"b.json: 1"});
  EXPECT_EQ(found_below({folder_.at("single/"), folder_.at("named/")}),
            (Names{"x.json: 1", "y.json: 1", "named: 2"}));
}

TEST_F(FindRuns, LinksDoNotLeadOut) {
  const FolderForTest outside("stepscope-outside-");
  outside.write("secret.json", one_op("secret"));
  folder_.write("runs/a.json", one_op("a"));
  fs::create_symlink(outside.at("secret.json"), folder_.at("runs/file.json"));
  fs::create_symlink(outside.path(), folder_.at("runs/folder"));
  fs::create_symlink("../../etc/passwd", folder_.at("runs/up.json"));
  fs::create_symlink("gone.json", folder_.at("runs/dangling.json"));
  fs::create_symlink("a.json", folder_.at("runs/inside.json"));
  EXPECT_EQ(found_below({folder_.at("runs")}), Names{"a.json: 1"});
  fs::create_symlink("runs", folder_.at("given"));  // what is given itself may be a link
  EXPECT_EQ(found_below({folder_.at("given")}), Names{"a.json: 1"});
}

TEST_F(FindRuns, PathsMustExist) {
  EXPECT_FALSE(RunFinder::below({folder_.at("gone")}).ok());
  EXPECT_FALSE(RunFinder::below({"/dev/null"}).ok());
  EXPECT_EQ(found_below({folder_.path()}), Names{});
}

class WatchedRuns : public testing::Test {
 protected:
  Runs runs() { return Runs(finder_below({folder_.path()}), 0, std::chrono::milliseconds(0)); }
  /// "state" of each listed run.
  static Names states(Runs& runs) {
    Names states;
    const std::string listed = runs.listed();
    constexpr std::string_view kState = "\"state\":\"";
    for (std::size_t at = 0; (at = listed.find(kState, at)) != listed.npos;) {
      at += kState.size();
      states.push_back(listed.substr(at, listed.find('"', at) - at));
    }
    return states;
  }
  static int refused(Runs& runs, std::size_t number) {
    try {
      runs.open(number, runs.found(number));
      return 0;
    } catch (const Refusal& refusal) {
      return refusal.status;
    }
  }
  const FolderForTest folder_{"stepscope-runs-"};
};

TEST_F(WatchedRuns, States) {
  folder_.write("b.json", one_op("first"));
  folder_.write("bad.json", "no trace");
  Runs watched = runs();
  EXPECT_EQ(states(watched), (Names{"new", "new"}));
  EXPECT_EQ(refused(watched, 0), 0);
  EXPECT_EQ(refused(watched, 1), 422);
  EXPECT_EQ(refused(watched, 1), 422);
  EXPECT_EQ(refused(watched, 2), 404);
  EXPECT_EQ(states(watched), (Names{"ok", "unreadable"}));
  EXPECT_TRUE(has(watched.listed(), "\"error\":\"" + folder_.at("bad.json")));

  const FoundRun before = watched.found(0);
  folder_.write("b.json", one_op("a longer name"));
  folder_.write("a.json", one_op("new"));
  folder_.write("bad.json", one_op("good"));
  EXPECT_EQ(states(watched), (Names{"changed", "changed", "new"}));  // numbers stay
  EXPECT_NE(watched.found(0).stamp.hash, before.stamp.hash);
  EXPECT_EQ(refused(watched, 0), 0);
  EXPECT_EQ(refused(watched, 1), 0);
  EXPECT_EQ(states(watched), (Names{"ok", "ok", "new"}));

  fs::remove(folder_.at("b.json"));
  EXPECT_EQ(refused(watched, 0), 404);
  EXPECT_EQ(watched.count(), 2u);
}

TEST_F(WatchedRuns, ARunThatIsNotWhatWasFound) {
  folder_.write("a.json", one_op("first"));
  Runs watched = runs();
  const FoundRun before = watched.found(0);
  folder_.write("a.json", one_op("a longer name"));
  try {
    watched.open(0, before);
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status, 409);
  }
}

TEST_F(WatchedRuns, IsOpenedOnceForAllWhoAsk) {
  folder_.write("a.json", one_op("a"));
  Runs watched = runs();
  const FoundRun found = watched.found(0);
  std::vector<Runs::Opened> opened(16);
  parallel_for(opened.size(), 8, [&](std::size_t i) { opened[i] = watched.open(0, found); });
  for (const Runs::Opened& one : opened) EXPECT_EQ(one, opened.front());
}

}  // namespace
}  // namespace stepscope::serve
