// DFTracer's files as sources of a merge.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "merge/merge.h"
#include "read/open.h"
#include "support/dump.h"

namespace stepscope::merge {
namespace {

namespace fs = std::filesystem;
using Dumped = std::vector<std::string>;

class MergePfw : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string merged(const std::string& name, const std::vector<std::string>& files) {
    MergeOptions options;
    options.align = false;
    auto of = survey(files, options);
    EXPECT_TRUE(of.ok());
    std::string text;
    EXPECT_FALSE(write_chrome(*of, options, false, [&](std::string_view piece) {
      text += piece;
      return true;
    }));
    sources_ = std::move(of->sources);
    return write(name, text);
  }
  fs::path folder_ = fs::temp_directory_path() / ("stepscope_merge_pfw_" + std::to_string(getpid()));
  std::vector<Source> sources_;
};

/// A read of process 70 at `at` µs after 1,700,000,000 s.
std::string read_line(int at, std::string_view args) {
  return fmt::format(
      R"({{"id":1,"name":"read","cat":"POSIX","pid":70,"tid":70,"ts":{},"dur":8,"ph":"X","args":{{{}}}}})",
      1'700'000'000'000'000 + at, args);
}

TEST_F(MergePfw, FilesAloneAreReadAsTheyWere) {
  const std::string name =
      R"({"name":"FH","cat":"dftracer","pid":70,"tid":70,"ph":"M","args":{"name":"/data/a","value":"7"}})";
  const auto file = [&](int at, std::string_view args) {
    return "[\n" + name + "\n" + read_line(at, args) + "\n]\n";
  };
  const std::string once = merged("m.json", {write("a.pfw", file(1, R"("fhash":"7","ret":5)")),
                                             write("b.pfw", file(3, R"("fhash":"8","ret":6)"))});
  const std::string twice = merged("n.json", {once});
  for (const std::string& path : {once, twice}) {
    const auto trace = read::open({&path, 1});
    ASSERT_TRUE(trace.ok()) << trace.error().text();
    ASSERT_EQ(trace->ranks.size(), 2u);
    EXPECT_EQ(test::dump_rows(*trace, trace->ranks[0]),
              Dumped{"70/70 io read [1700000000000001000, 1700000000000009000) {fname=/data/a,ret=5}"});
    EXPECT_EQ(test::dump_rows(*trace, trace->ranks[1]),
              Dumped{"70/70 io read [1700000000000003000, 1700000000000011000) {fhash=8,ret=6}"});
    for (const trace::Rank& rank : trace->ranks) EXPECT_EQ(rank.reading.losses, 0);
  }
}

// A process that forked may have closed the list of another one.
TEST_F(MergePfw, ABracketBetweenLinesEndsNothing) {
  merged("m.json", {write("a.pfw", "[\n" + read_line(1, "") + "]" + read_line(3, "") + "\n]\n" +
                                       read_line(5, "") + "\n]")});
  EXPECT_EQ(sources_[0].found.events, 3);
  EXPECT_EQ(sources_[0].found.lost, 0);
  EXPECT_TRUE(sources_[0].walked.complete);
}

}  // namespace
}  // namespace stepscope::merge
