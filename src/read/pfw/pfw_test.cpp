// Each generation of DFTracer's format as a tiny text with the rows it must become.
#include "read/pfw/pfw.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "read/open.h"
#include "support/kineto_text.h"

namespace stepscope::read {
namespace {

namespace fs = std::filesystem;
using test::dump;
using test::dump_rows;
using test::open_lines;
using test::Rows;

trace::Trace lines(std::string_view text) {
  auto trace = open_lines(text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().text());
  return trace.ok() ? std::move(*trace) : trace::Trace{};
}

// All numbers in quotes, names as they are.
constexpr const char* kGeneration0 = R"([
  {"id":"0","name":"FileStorage.__init__","cat":"storage","pid":"0","tid":"8","ts":"1698352089737419","dur":"100","ph":"X","args":{"hostname":"ruby"}}
{"id":"1","name":"read","cat":"POSIX","pid":"0","tid":"8","ts":"1698352089737420","dur":"30","ph":"X","args":{"hostname":"ruby","ret":"4096","count":"4096","fname":"/a/12","fd":7}}
{"id":"2","name":"fread","cat":"STDIO","pid":"0","tid":"8","ts":"1698352089737460","dur":"5","ph":"X","args":{"hostname":"ruby","image_idx":"12","mode":"r"}}
)";

TEST(Pfw, Generation0) {
  const trace::Trace trace = lines(kGeneration0);
  EXPECT_EQ(
      dump_rows(trace),
      (Rows{"0/8 annotation FileStorage.__init__ [1698352089737419000, 1698352089737519000) {hostname=ruby}",
            "0/8 io read [1698352089737420000, 1698352089737450000) "
            "{hostname=ruby,ret=4096,count=4096,fname=/a/12,fd=7}",
            "0/8 io fread [1698352089737460000, 1698352089737465000) {hostname=ruby,image_idx=12,mode=r}"}));
  const trace::Rank& rank = trace.ranks[0];
  EXPECT_EQ(rank.events.parent[1], 0u);
  EXPECT_EQ(trace::ArgReader(trace, rank, "ret").integer(1), 4096) << "the tool's own numbers are numbers";
  EXPECT_EQ(trace::ArgReader(trace, rank, "image_idx").integer(2), std::nullopt) << "the program's are texts";
  EXPECT_TRUE(rank.reading.complete);
  EXPECT_EQ(rank.reading.format, "dftracer");
  EXPECT_EQ(rank.reading.events, 3);
}

/// A metadata event of the second generation.
std::string meta(std::string_view what, std::string_view name, std::string_view value) {
  return fmt::format(
      R"({{"name":"{}","cat":"dftracer","pid":9,"tid":4,"ph":"M","args":{{"name":"{}","value":{}}}}})"
      "\n",
      what, name, value);
}

/// A read of 1 µs at `ts` µs.
std::string read_at(int ts, std::string_view args) {
  return fmt::format(
      R"({{"id":1,"name":"read","cat":"POSIX","pid":9,"tid":4,"ts":{},"dur":1,"ph":"X","args":{{{}}}}})"
      "\n",
      ts, args);
}

std::string read_row(int ts, std::string_view args) {
  return fmt::format("9/4 io read [{}000, {}000) {{{}}}", ts, ts + 1, args);
}

TEST(Pfw, Generation1NamesFilesAndHostsByHashes) {
  const trace::Trace trace = lines(
      "[\n" + meta("HH", "corona", "12") + meta("FH", "/data/a", "\"7\"") +
      meta("FH", "/data/b", "17361641481138401520") + meta("SH", "python;train.py", "3") +
      read_at(1, R"("hhash":12,"fhash":7,"level":1,"ret":5)") +
      read_at(3, R"("hhash":12,"fhash":17361641481138401520,"ret":-1)") +
      read_at(5, R"("fhash":99,"hhash":12,"cmd_hash":3,"pathname_hash":7)") +
      R"({"id":9,"name":"end","cat":"dftracer","pid":9,"tid":4,"ts":7,"dur":0,"ph":"X","args":{"num_events":3}}])");
  EXPECT_EQ(dump_rows(trace),
            (Rows{read_row(1, "hostname=corona,fname=/data/a,level=1,ret=5"),
                  read_row(3, "hostname=corona,fname=/data/b,ret=-1"),
                  read_row(5, "fhash=99,hostname=corona,cmd=python;train.py,pathname=/data/a"),
                  "9/4 annotation end [7000, 7000) {num_events=3}"}));
  EXPECT_EQ(trace.ranks[0].reading.unknown_hashes, 1);
  EXPECT_EQ(trace.ranks[0].reading.ambiguous_hashes, 0);
  EXPECT_EQ(trace.ranks[0].reading.losses, 0);
  EXPECT_TRUE(trace.ranks[0].reading.complete) << "the bracket is in the last event's line";
}

TEST(Pfw, AHashMeansWhatWasSaidLastOfIt) {
  const std::string text = read_at(1, R"("fhash":7)") + meta("FH", "/a", "7") + read_at(3, R"("fhash":7)") +
                           meta("FH", "/b", "7") + meta("FH", "/b", "7") + read_at(5, R"("fhash":7)") +
                           meta("FH", "/a", "7") + read_at(7, R"("fhash":7)") + meta("FH", "/c", "8");
  const Rows expected{read_row(1, "fname=/a"), read_row(3, "fname=/a"), read_row(5, "fname=/b"),
                      read_row(7, "fname=/a")};
  const trace::Trace trace = lines(text);
  EXPECT_EQ(dump_rows(trace), expected) << "before the first, the first";
  EXPECT_EQ(trace.ranks[0].reading.ambiguous_hashes, 1);
  for (const unsigned threads : {1u, 2u, 3u}) {
    const auto pieces = open_lines(text, {threads, {97, 1 << 20}});
    ASSERT_TRUE(pieces.ok());
    EXPECT_EQ(dump_rows(*pieces), expected) << threads << " threads";
    EXPECT_EQ(pieces->ranks[0].reading.ambiguous_hashes, 1);
  }
}

TEST(Pfw, Generation2NumbersItsPhases) {
  const trace::Trace trace = lines(
      R"({"name":"HH","cat":"dftracer","type":1,"pid":9,"tid":4,"ph":4,"args":{"hhash":"0d5b7a14c3ef8890","name":"node7","value":"0d5b7a14c3ef8890"}}
{"name":"FH","cat":"dftracer","type":1,"pid":9,"tid":4,"ph":4,"args":{"hhash":"0d5b7a14c3ef8890","name":"/x","value":"00000000deadbeef"}}
{"name":"thread_name","cat":"dftracer","type":1,"pid":9,"tid":4,"ph":4,"args":{"hhash":"0d5b7a14c3ef8890","name":"9","value":"thread_name"}}
{"id":1,"name":"pread","cat":"libc","type":3,"pid":9,"tid":4,"ts":10,"dur":2,"ph":1,"args":{"hhash":"0d5b7a14c3ef8890","fhash":"00000000deadbeef","ret":4}}
{"name":"cpu","cat":"sys","type":7,"ts":11,"ph":2,"pid":9,"tid":4,"args":{"hhash":"0d5b7a14c3ef8890","user":3.5}}
{"name":"write","cat":"POSIX","type":3,"ts":20,"ph":3,"pid":9,"tid":4,"args":{"hhash":"0d5b7a14c3ef8890","dft_cnt":12,"dur_sum":40,"ret_min":1}}
{"id":2,"name":"forward","cat":"COMPUTE","type":6,"pid":9,"tid":4,"ts":30,"dur":5,"ph":1}
)");
  EXPECT_EQ(dump_rows(trace),
            (Rows{"9/4 io pread [10000, 12000) {type=3,hostname=node7,fname=/x,ret=4}",
                  "9/4 counter cpu [11000, 11000) {type=7,hostname=node7,user=3.5}",
                  "9/4 instant write [20000, 20000) {type=3,hostname=node7,dft_cnt=12,dur_sum=40,ret_min=1}",
                  "9/4 annotation forward [30000, 35000) {type=6}"}));
  EXPECT_EQ(trace.ranks[0].reading.aggregated, 1);
  EXPECT_EQ(trace.ranks[0].tracks[0].name, "9");
}

std::int64_t first_start(std::string_view ts, std::string_view phase) {
  const trace::Trace trace = lines(fmt::format(
      R"({{"id":1,"name":"a","cat":"c","pid":1,"tid":1,"ts":{},"dur":3,"ph":{},"args":{{}}}})", ts, phase));
  return trace.ranks[0].first_start;
}

TEST(Pfw, TheUnitOfTimeIsThatOfATimeSince1970) {
  constexpr std::int64_t kTime = 1'698'080'323'000'000'000;
  EXPECT_EQ(first_start("1698080323000000", "1"), kTime);
  EXPECT_EQ(first_start("1698080323000000000", "1"), kTime);
  EXPECT_EQ(first_start("1698080323000", "1"), kTime);
  EXPECT_EQ(first_start("1698080323", "1"), kTime);
  EXPECT_EQ(first_start("\"1698080323000000\"", "\"X\""), kTime);
  EXPECT_EQ(first_start("1698080323", "\"X\""), 1'698'080'323'000) << "older ones have microseconds only";
  EXPECT_EQ(first_start("5", "1"), 5000);
}

TEST(Pfw, DurationsHaveTheUnitOfTheTimes) {
  const auto length = [](std::string_view ts) {
    const trace::Trace trace =
        lines(fmt::format(R"({{"id":1,"name":"a","cat":"c","pid":1,"tid":1,"ts":{},"dur":3,"ph":1}})", ts));
    return trace.ranks[0].events.duration(0);
  };
  EXPECT_EQ(length("1698080323000000000"), 3);
  EXPECT_EQ(length("1698080323000000"), 3000);
  EXPECT_EQ(length("1698080323000"), 3'000'000);
  EXPECT_EQ(length("1698080323"), 3'000'000'000);
}

TEST(Pfw, ARankIsThatOfItsOnlyProcess) {
  const auto rank = [](const std::string& metadata) {
    return lines(metadata + read_at(1, "")).ranks[0].rank;
  };
  EXPECT_EQ(rank(""), -1);
  EXPECT_EQ(rank(meta("PR", "rank", "\"3\"")), 3);
  EXPECT_EQ(rank(meta("PR", "rank", "3")), 3);
  EXPECT_EQ(rank(meta("process_name", "Rank 12", "\"process_name\"")), 12);
  EXPECT_EQ(rank(meta("PR", "core_affinity", "[0,1]")), -1);
  EXPECT_EQ(rank(meta("PR", "rank", "3") + meta("PR", "rank", "4")), -1) << "a file of several processes";
  EXPECT_EQ(rank(meta("PR", "rank", "99999999999")), -1);
  EXPECT_EQ(rank_in_label("Rank 3"), 3);
  EXPECT_EQ(rank_in_label("Rank"), -1);
  EXPECT_EQ(rank_in_label("Rank -3"), -1);
  EXPECT_EQ(rank_in_label("Rank 3 of 4"), -1);
  EXPECT_EQ(
      lines(meta("process_name", "Rank 2", "\"process_name\"") + read_at(1, "")).ranks[0].tracks[0].process,
      "Rank 2");
}

class PfwFolder : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const char* name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  trace::Trace open_folder() {
    const std::string paths[] = {folder_.string()};
    auto trace = open(paths);
    EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().text());
    return trace.ok() ? std::move(*trace) : trace::Trace{};
  }
  fs::path folder_ = fs::temp_directory_path() / ("stepscope-pfw-" + std::to_string(::getpid()));
};

TEST_F(PfwFolder, IsAJobOfProcesses) {
  const std::string two = read_at(1, "") + read_at(3, "");
  write("a.pfw", meta("PR", "rank", "1") + two);
  write("b.pfw.gz", test::gzip(meta("PR", "rank", "0") + two));
  write("b.pfw.gz.zindex", "SQLite format 3");
  write("b.pfw.gz.idx", "SQLite format 3");
  const trace::Trace trace = open_folder();
  ASSERT_EQ(trace.ranks.size(), 2u);
  EXPECT_TRUE(trace.ranks[0].path.ends_with("b.pfw.gz"));
  EXPECT_EQ(trace.ranks[1].rank, 1);
  EXPECT_TRUE(trace.unread.empty() && trace.notes.empty() && trace.doubts.empty());
}

TEST_F(PfwFolder, IsNumberedByPathWithoutRanks) {
  write("app-11-preload.pfw", read_at(1, ""));
  write("app-12-preload.pfw", read_at(3, "") + read_at(5, ""));
  const trace::Trace trace = open_folder();
  ASSERT_EQ(trace.ranks.size(), 2u);
  EXPECT_TRUE(trace.ranks[0].path.ends_with("app-11-preload.pfw"));
  EXPECT_EQ(trace.ranks[1].rank, 1);
  ASSERT_EQ(trace.notes.size(), 1u);
  EXPECT_TRUE(trace.notes[0].starts_with("These files do not say which rank each process is."));
  EXPECT_TRUE(trace.doubts.empty());
}

TEST_F(PfwFolder, GivesWayToTheRecordingsOfRanks) {
  write("io.pfw", meta("PR", "rank", "0") + read_at(1, "") + read_at(3, ""));
  write("rank0.json", test::document(test::event("a", 1)));
  const trace::Trace trace = open_folder();
  ASSERT_EQ(trace.ranks.size(), 1u);
  EXPECT_EQ(trace.ranks[0].reading.format, "kineto");
  ASSERT_EQ(trace.notes.size(), 1u);
  EXPECT_TRUE(trace.notes[0].starts_with("A DFTracer file is left out beside the ranks' recordings."));
}

TEST_F(PfwFolder, KnowsADamagedFileByItsName) {
  write("a.pfw", "d\":1}\n" + read_at(1, "") + read_at(3, ""));
  const trace::Trace trace = open_folder();
  EXPECT_EQ(dump_rows(trace), (Rows{read_row(1, ""), read_row(3, "")}));
  EXPECT_EQ(trace.ranks[0].reading.losses, 1);
}

TEST_F(PfwFolder, KnowsAFileByItsNameWhereItsHeadSaysNothing) {
  write("a.pfw", std::string(100'000, '\0') + "\n" + read_at(1, "") + read_at(3, ""));
  EXPECT_EQ(dump_rows(open_folder()), (Rows{read_row(1, ""), read_row(3, "")}));
  write("a.pfw", std::string(100'000, 'x'));
  const std::string paths[] = {(folder_ / "a.pfw").string()};
  const auto nothing = open(paths);
  ASSERT_FALSE(nothing.ok());
  EXPECT_NE(nothing.error().message.find("DFTracer's lines"), std::string::npos) << nothing.error().text();
  write("a.pfw", "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_NE(open(paths).error().message.find("git lfs pull"), std::string::npos);
}

// Real files, which are no part of the project. The counts are those of a count by Python.
TEST(PfwRecorded, EveryEventIsRead) {
  const std::string root = STEPSCOPE_ROOT "/../shared/traces/pfw/";
  if (!fs::exists(root)) GTEST_SKIP() << "no recorded traces in " << root;
  struct Expected {
    const char* file;
    trace::Row events, io, reads, on_file;
  };
  for (const Expected& of : {Expected{"test.pfw", 1012, 1012, 1000, 1012},
                             Expected{"test-trace.pfw.gz", 93'894, 88'090, 5734, 88'090}}) {
    for (const unsigned threads : {1u, 4u}) {
      const std::string paths[] = {root + of.file};
      OpenOptions options;
      options.threads = threads;
      const auto trace = open(paths, options);
      ASSERT_TRUE(trace.ok()) << of.file;
      const trace::Rank& rank = trace->ranks[0];
      EXPECT_EQ(rank.events.size(), of.events);
      EXPECT_EQ(rank.reading.losses, 0);
      EXPECT_EQ(rank.reading.clamped_times, 0);
      EXPECT_TRUE(rank.reading.complete);
      trace::Row io = 0, reads = 0, on_file = 0;
      const trace::ArgReader file(*trace, rank, "fname");
      for (trace::Row row = 0; row < rank.events.size(); ++row) {
        io += rank.events.kind[row] == trace::Kind::io;
        reads += trace->name(rank, row) == "read";
        on_file += file.has(row);
      }
      EXPECT_EQ(io, of.io) << of.file;
      EXPECT_EQ(reads, of.reads) << of.file;
      EXPECT_EQ(on_file, of.on_file) << of.file;
    }
  }
}

}  // namespace
}  // namespace stepscope::read
