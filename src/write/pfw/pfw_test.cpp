// What is written, line by line, and that it is read back as it was.
#include "write/pfw/pfw.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "make_rank.h"
#include "read/open.h"
#include "support/kineto_text.h"

namespace stepscope::write {
namespace {

namespace fs = std::filesystem;
using test::Cells;

class PfwExport : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  std::string bytes(const std::string& name) const {
    std::ifstream in(at(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<std::string> written(const trace::Trace& trace) {
    done_ = export_pfw(trace, at("x.pfw"));
    EXPECT_TRUE(done_.ok()) << (done_.ok() ? "" : done_.error().text());
    std::istringstream text(bytes("x.pfw"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  trace::Trace opened(const std::string& name) {
    const std::string paths[] = {at(name)};
    auto trace = read::open(paths);
    EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().text());
    return trace.ok() ? std::move(*trace) : trace::Trace{};
  }
  const PfwWritten& done() const { return *done_; }
  fs::path folder_ = fs::temp_directory_path() / ("stepscope-pfw-export-" + std::to_string(::getpid()));

 private:
  Result<PfwWritten> done_ = Error{};
};

/// A document of process 5 whose times are µs after 1,700,000,000 s.
std::string recorded(std::string_view events) {
  return fmt::format(
      R"({{"schemaVersion": 1, "baseTimeNanoseconds": 1700000000000000000, "host_name": "node7",
"distributedInfo": {{"rank": 3}}, "traceEvents": [
{{"ph": "M", "name": "thread_name", "pid": 5, "tid": 6, "args": {{"name": "reader"}}}}{}]}})",
      events);
}

std::string call(std::string_view name, std::string_view at, std::string_view length, std::string_view args,
                 std::string_view category = "posix_call", int tid = 5) {
  return fmt::format(
      R"(,{{"ph": "X", "cat": "{}", "name": "{}", "pid": 5, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
      category, name, tid, at, length, args);
}

std::string meta(std::string_view what, int tid, std::string_view name, std::string_view value) {
  return fmt::format(
      R"({{"name":"{}","cat":"dftracer","pid":5,"tid":{},"ph":"M","args":{{"name":"{}","value":"{}"}}}})",
      what, tid, name, value);
}

std::string line(int id, std::string_view name, std::string_view category, int tid, std::string_view at,
                 int length, std::string_view args) {
  return fmt::format(
      R"({{"id":{},"name":"{}","cat":"{}","pid":5,"tid":{},"ts":1700000000{},"dur":{},"ph":"X","args":{{"hhash":"223225166"{}{}}}}})",
      id, name, category, tid, at, length, args.empty() ? "" : ",", args);
}

TEST_F(PfwExport, CallsAreThoseOfDftracer) {
  const trace::Trace trace = test::opened(recorded(
      call("open64", "100.000", "10.0", R"("fname": "/data/a", "ret": 3, "flags": 65)") +
      call("__pread64_chk", "111.900", "0.3",
           R"("fname": "/data/a", "offset": 4096, "size": 100, "ret": 60, "fd": 3)") +
      call("fread_unlocked", "120.5", "1.6", R"("fname": "/data/b \"q\"", "size": 800, "ret": 400)") +
      call("read", "130", "1", R"("fname": "/data/a", "size": 8, "ret": -1, "errno": 5)") +
      call("rename", "140", "1", R"("fname": "/data/a", "to": "/out/c", "ret": 0)") +
      call("io_submit", "150", "1",
           R"("fname": "/data/a", "offset": 0, "size": 4096, "ret": 1, "opcode": 0)") +
      call("mmap", "160", "1", R"("fname": "/data/a", "size": 4096, "prot": 1)", "posix_call", 6)));
  EXPECT_EQ(
      written(trace),
      (std::vector<std::string>{
          "[", meta("HH", 5, "node7", "223225166"), meta("PR", 5, "rank", "3"),
          meta("FH", 5, "/data/a", "3332149318"),
          line(1, "open64", "POSIX", 5, "000100", 10, R"("fhash":"3332149318","ret":3,"flags":65)"),
          line(2, "pread", "POSIX", 5, "000111", 1,
               R"("fhash":"3332149318","offset":4096,"count":100,"ret":60,"fd":3)"),
          meta("FH", 5, R"(/data/b \"q\")", "1434073382"),
          line(3, "fread", "STDIO", 5, "000120", 2, R"("size":1,"fhash":"1434073382","count":800,"ret":400)"),
          line(4, "read", "POSIX", 5, "000130", 1, R"("fhash":"3332149318","count":8,"ret":-1,"errno":5)"),
          meta("FH", 5, "/out/c", "1469804796"),
          line(5, "rename", "POSIX", 5, "000140", 1,
               R"("fhash":"3332149318","to_hash":"1469804796","ret":0)"),
          line(6, "io_submit", "POSIX", 5, "000150", 1,
               R"("fhash":"3332149318","offset":0,"size":4096,"ret":1,"opcode":0)"),
          meta("thread_name", 6, "reader", "thread_name"),
          line(7, "mmap", "POSIX", 6, "000160", 1, R"("fhash":"3332149318","length":4096,"prot":1)"), "]"}));
  EXPECT_EQ(done().calls, 7);
  EXPECT_TRUE(done().notes.empty());
}

TEST_F(PfwExport, CallsOfLibraries) {
  const trace::Trace trace = test::opened(recorded(
      call("H5Dread", "100", "20", R"("fname": "/data/a", "object": "/x", "size": 800, "ret": 800)", "HDF5") +
      call("MPI_File_set_size", "130", "1", R"("fname": "/data/a", "size": 256, "ret": 0)", "MPIIO")));
  EXPECT_EQ(written(trace),
            (std::vector<std::string>{"[", meta("HH", 5, "node7", "223225166"), meta("PR", 5, "rank", "3"),
                                      meta("FH", 5, "/data/a", "3332149318"),
                                      line(1, "H5Dread", "HDF5", 5, "000100", 20,
                                           R"("fhash":"3332149318","object":"/x","count":800,"ret":800)"),
                                      line(2, "MPI_File_set_size", "MPIIO", 5, "000130", 1,
                                           R"("fhash":"3332149318","size":256,"ret":0)"),
                                      "]"}));
  EXPECT_EQ(done().calls, 2);
}

// The analysers add lengths, so that operators within operators would count twice.
TEST_F(PfwExport, RangesAndOutermostOperators) {
  const trace::Trace trace = test::opened(recorded(
      call("ProfilerStep#1", "0", "100", "", "user_annotation") +
      call("load", "1", "5", R"("cat": "data", "step": 3, "share": 0.5, "list": [1,
2])",
           "user_annotation") +
      call("aten::linear", "10", "20", R"("External id": 7)", "cpu_op") +
      call("aten::addmm", "12", "10", "", "cpu_op") + call("aten::relu", "30", "5", "", "cpu_op") +
      call("a\\u001b\xff\\n", "40", "5", "", "user_annotation") +
      call("f", "50", "5", "", "python_function") + call("cudaLaunchKernel", "60", "1", "", "cuda_runtime")));
  EXPECT_EQ(written(trace),
            (std::vector<std::string>{
                "[", meta("HH", 5, "node7", "223225166"), meta("PR", 5, "rank", "3"),
                line(1, "ProfilerStep#1", "user_annotation", 5, "000000", 100, ""),
                line(2, "load", "data", 5, "000001", 5, R"("step":3,"share":0.5,"list":"[1,\n2]")"),
                line(3, "aten::linear", "compute", 5, "000010", 20, ""),
                line(4, "aten::relu", "compute", 5, "000030", 5, ""),
                line(5, "a\\u001b\xef\xbf\xbd\\n", "user_annotation", 5, "000040", 5, ""), "]"}));
  EXPECT_EQ(done().ranges, 3);
  EXPECT_EQ(done().operators, 2);
  ASSERT_EQ(done().notes.size(), 1u);
  EXPECT_EQ(done().notes[0],
            "no file I/O is recorded: the file has 3 ranges and 2 operators only. `stepscope record --io` "
            "records I/O.");
}

TEST_F(PfwExport, NothingToWriteIsAnError) {
  const trace::Trace trace = test::opened(recorded(call("f", "50", "5", "", "python_function")));
  EXPECT_FALSE(export_pfw(trace, at("x.pfw")).ok());
  EXPECT_FALSE(fs::exists(at("x.pfw")));
}

TEST_F(PfwExport, ProcessesOfTwoRanksStayTwo) {
  const std::string events = call("read", "100", "1", R"("fname": "/data/a", "ret": 5)");
  std::ofstream(at("a.json")) << recorded(events);
  std::string second = recorded(events);
  second.replace(second.find("\"rank\": 3"), 9, "\"rank\": 4");
  std::ofstream(at("b.json")) << second;
  const std::string paths[] = {at("a.json"), at("b.json")};
  const auto both = read::open(paths);
  ASSERT_TRUE(both.ok());
  written(*both);
  ASSERT_EQ(done().notes.size(), 1u);
  EXPECT_EQ(done().notes[0], "1 process got a new number: its own is no number, or another rank's.");
  const report::Report report = test::answer("io", opened("x.pfw"));
  EXPECT_EQ(test::cells(report.tables[0], "processes"), Cells{"2"});
  EXPECT_EQ(test::cells(report.tables[0], "files"), Cells{"1"});
}

TEST_F(PfwExport, IsWrittenPieceByPieceAndCompressed) {
  constexpr int kCalls = 60'000;  // several pieces, and several members of gzip
  std::string events;
  for (int i = 0; i < kCalls; ++i)
    events += call("read", std::to_string(i), "1", fmt::format(R"("fname": "/d/{}", "ret": 5)", i % 977));
  const trace::Trace trace = test::opened(recorded(events));
  ASSERT_TRUE(export_pfw(trace, at("x.pfw.gz")).ok());
  const auto lines = written(trace);
  EXPECT_EQ(std::ssize(lines), kCalls + 977 + 4) << "and brackets, host, rank";
  const std::string packed = bytes("x.pfw.gz"), plain = bytes("x.pfw");
  EXPECT_LT(packed.size(), plain.size() / 5);
  const auto unpacked = memory_bytes(packed.data(), packed.size());
  EXPECT_TRUE(test::drained(*unpacked, 1 << 20) == plain);
  EXPECT_EQ(unpacked->fault_count, 0);
}

/// The columns of `show io` that do not depend on the unit of time.
std::string sums_of(const trace::Trace& trace) {
  std::string out;
  const report::Report report = test::answer("io", trace);
  for (const report::Table& table : report.tables) {
    const bool kinds = table.title == "Calls by kind", files = table.title == "Files";
    if (!kinds && !files) continue;
    const auto columns = kinds ? std::vector{"kind", "calls", "failed", "bytes"}
                               : std::vector{"file", "calls", "opens", "read", "written", "in_order"};
    std::vector<std::string> rows(table.rows());
    for (const char* column : columns)
      for (std::size_t i = 0; const std::string& cell : test::cells(table, column)) rows[i++] += cell + " ";
    std::ranges::sort(rows);  // the order is that of times
    for (const std::string& row : rows) out += row + "\n";
  }
  return out;
}

std::int64_t io_time(const trace::Trace& trace, std::int64_t& calls) {
  std::int64_t time = calls = 0;
  for (const trace::Rank& rank : trace.ranks)
    for (trace::Row row = 0; row < rank.events.size(); ++row)
      if (rank.events.kind[row] == trace::Kind::io) {
        time += rank.events.duration(row);
        ++calls;
      }
  return time;
}

TEST_F(PfwExport, ReadBackTheNumbersAreTheSame) {
  const trace::Trace trace = test::opened(
      recorded(call("open64", "100.111", "10.7", R"("fname": "/data/a", "ret": 3, "flags": 65)") +
               call("__read_chk", "111.3", "0.3",
                    R"("fname": "/data/a", "offset": 0, "size": 100, "ret": 60, "fd": 3)") +
               call("preadv64v2", "112.3", "0.4",
                    R"("fname": "/data/a", "offset": 60, "size": 100, "ret": 40, "fd": 3)") +
               call("fread", "120.5", "1.6", R"("fname": "/data/b", "size": 800, "ret": 400)") +
               call("fgets", "122.5", "1.6", R"("fname": "/data/b", "size": 80, "ret": 7)") +
               call("write", "130", "1", R"("fname": "/data/a", "size": 8, "ret": -1, "errno": 5)") +
               call("pwrite64", "132", "1", R"("fname": "/out/c", "size": 8, "ret": 8)") +
               call("fwrite", "134", "1", R"("fname": "/out/c", "size": 9, "ret": 9)") +
               call("rename", "140", "1", R"("fname": "/data/a", "to": "/out/c", "ret": 0)") +
               call("io_submit", "150", "1",
                    R"("fname": "/data/a", "offset": 0, "size": 4096, "ret": 1, "opcode": 0)") +
               call("close", "160", "1", R"("fname": "/data/a", "ret": 0, "fd": 3)")));
  written(trace);
  const trace::Trace again = opened("x.pfw");
  EXPECT_EQ(sums_of(again), sums_of(trace));
  EXPECT_NE(sums_of(trace).find("read 5 0 4603 \n"), std::string::npos) << sums_of(trace);
  EXPECT_NE(sums_of(trace).find("write 3 1 17 \n"), std::string::npos) << sums_of(trace);
  EXPECT_EQ(again.ranks[0].rank, 3);
  EXPECT_EQ(again.ranks[0].reading.unknown_hashes, 0);
  std::int64_t calls = 0, calls_again = 0;
  const std::int64_t time = io_time(trace, calls), time_again = io_time(again, calls_again);
  EXPECT_LE(std::abs(time_again - time), calls * 1000);
  EXPECT_EQ(calls_again, 11);
}

TEST_F(PfwExport, DftracersFilesStayWhatTheyAre) {
  for (const std::string& path : {std::string(STEPSCOPE_ROOT "/test/data/reads.pfw"),
                                  std::string(STEPSCOPE_ROOT "/../shared/traces/pfw/test.pfw"),
                                  std::string(STEPSCOPE_ROOT "/../shared/traces/pfw/test-trace.pfw.gz")}) {
    if (!fs::exists(path)) continue;
    const auto trace = read::open({&path, 1});
    ASSERT_TRUE(trace.ok());
    written(*trace);
    const trace::Trace again = opened("x.pfw");
    EXPECT_EQ(sums_of(again), sums_of(*trace)) << path;
    std::int64_t calls = 0, calls_again = 0;
    const std::int64_t time = io_time(*trace, calls), time_again = io_time(again, calls_again);
    EXPECT_EQ(time_again, time);
    EXPECT_EQ(calls_again, calls);
    EXPECT_EQ(again.ranks[0].events.size(), trace->ranks[0].events.size());
  }
}

}  // namespace
}  // namespace stepscope::write
