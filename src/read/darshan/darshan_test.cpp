#include <gtest/gtest.h>

#include "derive/io/io_calls.h"
#include "read/darshan/darshan_text.h"
#include "read/darshan/segment.h"
#include "read/foreign.h"
#include "support/open_text.h"

namespace stepscope::read {
namespace {

struct DarshanJson {
  std::string json;
  std::int64_t faults = 0;
  std::vector<ByteFault> first_faults{};
};

DarshanJson darshan_json(std::string_view text) {
  auto source = darshan_text(memory_bytes(text.data(), text.size()), "x.txt");
  if (!source) return {.json = source.error().text()};
  DarshanJson out;
  char piece[7];  // pieces end anywhere
  for (std::size_t count; (count = (*source)->read(piece, sizeof piece)) > 0;) out.json.append(piece, count);
  out.faults = (*source)->fault_count;
  out.first_faults = (*source)->faults;
  return out;
}

std::size_t calls_in(const std::string& json) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = json.find(R"("ph": "X")", at)) != std::string::npos; ++at) ++count;
  return count;
}

constexpr std::string_view kHeader =
    "# darshan log version: 3.41\n# exe: ./train \"x\"\n# jobid: 5\n# start_time: 1700000000\n"
    "# start_time_asci: Tue Nov 14 22:13:20 2023\n# nprocs: 2\n# run time: 2.0000\n\n";

TEST(Darshan, IsKnownByItsLines) {
  EXPECT_TRUE(is_darshan(kHeader));
  EXPECT_TRUE(is_darshan("\n# DXT, file_id: 1, file_name: /a\n"));
  EXPECT_TRUE(is_darshan("Warning: something\n# darshan log version: 2.05\n"));
  EXPECT_TRUE(is_darshan("X_POSIX 0 read 0 0 10 0.1000 0.2000\n"));
  EXPECT_TRUE(is_darshan("POSIX\t0\t17\tPOSIX_OPENS\t2\t/a\t/\text4\n"));
  EXPECT_FALSE(is_darshan("{\"traceEvents\": []}"));
  EXPECT_FALSE(is_darshan("# a comment\nX_POSIX 0 read\n"));
  EXPECT_FALSE(is_darshan(""));
}

TEST(Darshan, ReadsAndWritesOfTwoRanks) {
  const auto of = darshan_json(std::string(kHeader) + R"(# DXT, file_id: 11, file_name: /d/a, "b".bin
# DXT, rank: 0, hostname: n1
# DXT, write_count: 1, read_count: 2
# DXT, mnt_pt: /d, fs_type: ext4
# Module    Rank  Wt/Rd  Segment          Offset       Length    Start(s)      End(s)
 X_POSIX       0  write        0               0         2097152      0.1000      0.1500
 X_POSIX       0   read        0               0            4096      0.2000      0.2000   
 X_POSIX       0   read        1            4096             100      0.2001      0.2003   [  3]  [ 12]

# DXT, file_id: 12, file_name: (null)
# DXT, rank: 1, write_count: 0, read_count: 1
 X_POSIX       1   read        0               7               5      1.0000      1.5000
)");
  EXPECT_EQ(of.faults, 0);
  EXPECT_EQ(
      of.json,
      R"({"schemaVersion": 1, "stepscope.darshan": 1, "baseTimeNanoseconds": 1700000000000000000, "command": "./train \"x\"", "traceEvents": [
{"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "rank 0 on n1"}},
{"ph": "X", "cat": "posix_call", "name": "write", "pid": 0, "tid": 0, "ts": 100000.000, "dur": 50000.000, "args": {"fname": "/d/a, \"b\".bin", "offset": 0, "ret": 2097152}},
{"ph": "X", "cat": "posix_call", "name": "read", "pid": 0, "tid": 0, "ts": 200000.000, "dur": 0.000, "args": {"fname": "/d/a, \"b\".bin", "offset": 0, "ret": 4096}},
{"ph": "X", "cat": "posix_call", "name": "read", "pid": 0, "tid": 0, "ts": 200100.000, "dur": 200.000, "args": {"fname": "/d/a, \"b\".bin", "offset": 4096, "ret": 100}},
{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "rank 1"}},
{"ph": "X", "cat": "posix_call", "name": "read", "pid": 1, "tid": 0, "ts": 1000000.000, "dur": 500000.000, "args": {"offset": 7, "ret": 5}}
], "stepscope.not_recorded": ["Darshan's DXT has reads and writes only, in steps of 0.1 ms from a start that is known to 1 s."]}
)");
}

TEST(Darshan, CallsOfTheTrace) {
  const auto of = darshan_json(std::string(kHeader) + R"(# DXT, file_id: 11, file_name: /d/a
# DXT, rank: 0, hostname: n1
 X_POSIX       0  write        0               0              10      0.1000      0.1500
 X_MPIIO       0  write        0               0              10      0.1000      0.1500
 X_POSIX       0   read        0               4              20      0.3000      0.3001
)");
  const auto trace = test::open_text(of.json);
  ASSERT_TRUE(trace) << trace.error().text();
  const trace::Rank& rank = trace->ranks.at(0);
  EXPECT_EQ(rank.command, "./train \"x\"");
  EXPECT_EQ(rank.base_ns, 1'700'000'000'000'000'000);
  const auto calls = derive::io_calls(*trace, rank);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].kind, derive::IoKind::write);
  EXPECT_EQ(calls[0].bytes, 10);
  EXPECT_EQ(rank.events.duration(calls[0].row), 50'000'000);
  EXPECT_EQ(calls[1].kind, derive::IoKind::read);
  EXPECT_EQ(calls[1].bytes, 20);
  EXPECT_EQ(calls[1].offset, 4);
  EXPECT_EQ(rank.events.duration(calls[1].row), 100'000);
}

// Bytes count once: MPI-IO on a file with POSIX calls is a range, on any other file it is the call.
TEST(Darshan, MpiIo) {
  const auto of = darshan_json(std::string(kHeader) + R"(# DXT, file_id: 11, file_name: /d/a
# DXT, rank: 0, hostname: n1
# DXT, write_count: 1, read_count: 0
 X_POSIX       0  write        0               0              10      0.1000      0.1500

# DXT, file_id: 11, file_name: /d/a
# DXT, rank: 0, hostname: n1
# DXT, write_count: 1, read_count: 0
 X_MPIIO       0  write        0              -1              10      0.1000      0.1500

# DXT, file_id: 12, file_name: /d/b
# DXT, rank: 0, hostname: n1
# DXT, write_count: 0, read_count: 1
 X_MPIIO       0   read        0               5              20      0.3000      0.4000
)");
  EXPECT_EQ(of.faults, 0);
  EXPECT_NE(
      of.json.find(
          R"({"ph": "X", "cat": "user_annotation", "name": "MPI_File_write", "pid": 0, "tid": 1, "ts": 100000.000, "dur": 50000.000, "args": {"fname": "/d/a", "size": 10}})"),
      std::string::npos)
      << of.json;
  EXPECT_NE(
      of.json.find(
          R"({"ph": "X", "cat": "posix_call", "name": "MPI_File_read", "pid": 0, "tid": 0, "ts": 300000.000, "dur": 100000.000, "args": {"fname": "/d/b", "offset": 5, "ret": 20}})"),
      std::string::npos)
      << of.json;
  EXPECT_NE(of.json.find("bytes count once: 1."), std::string::npos);
}

TEST(Darshan, Threads) {
  constexpr std::string_view kPlain = "X_POSIX 2 read 0 0 8 0.0022 0.0023 [106] 140498826330816";
  EXPECT_EQ(darshan_segment(kPlain, false)->thread, -1);
  EXPECT_EQ(darshan_segment(kPlain, true)->thread, 140498826330816);
  EXPECT_EQ(darshan_segment("X_POSIX 2 read 0 0 8 0.0022 0.0023 [106] -1", true)->thread, -1);
  EXPECT_EQ(darshan_segment("X_POSIX 2 read 0 0 8 0.0022 0.0023 [106]", true)->thread, -1);
  const auto of = darshan_json(
      "# Module Rank Wt/Rd Segment Offset Length Start(s) End(s) Pthread-ID\n"
      "X_POSIX 0 read 0 0 8 0.0022 0.0023 4096\nX_POSIX 0 read 1 8 8 0.0022 0.0023 8192\n");
  EXPECT_NE(of.json.find(R"("pid": 0, "tid": 4096, )"), std::string::npos) << of.json;
  EXPECT_NE(of.json.find(R"("pid": 0, "tid": 8192, )"), std::string::npos) << of.json;
  EXPECT_NE(of.json.find("times count from the job's start"), std::string::npos);
}

TEST(Darshan, SegmentsThatAreNone) {
  for (const std::string_view line :
       {"X_POSIX 0 read 0 0 8 0.0022", "X_POSIX 0 read 0 0 8 0.0022 0.00",
        "X_POSIX 0 read 0 0 8 0.0022 0.0021", "X_POSIX 0 read 0 0 8 0.0022 nan",
        "X_POSIX 0 read 0 0 -8 0.0022 0.0023", "X_POSIX 0 read 0 -2 8 0.0022 0.0023",
        "X_POSIX -1 read 0 0 8 0.0022 0.0023", "X_POSIX 0 seek 0 0 8 0.0022 0.0023",
        "X_STDIO 0 read 0 0 8 0.0022 0.0023", "X_POSIX 0 read 0 0 99999999999999999999 0.0022 0.0023",
        "X_POSIX 0 read 0 0 8 5000000000.0 5000000000.0", "X_POSIX 0 read 0 0 8 0.-002 0.-001",
        "X_POSIX 0 read x 0 8 0.0022 0.0023", ""})
    EXPECT_FALSE(darshan_segment(line, false)) << line;
  EXPECT_EQ(darshan_seconds("12"), 12'000'000'000);
  EXPECT_EQ(darshan_seconds("12.5"), 12'500'000'000);
  EXPECT_EQ(darshan_seconds("12.000000001"), 12'000'000'001);
  EXPECT_EQ(darshan_seconds("12."), -1);
  EXPECT_EQ(darshan_seconds("-1.5"), -1);
}

// A damaged line costs itself; what a header announced and is not there is told.
TEST(Darshan, Damage) {
  const auto of = darshan_json(R"(# DXT, file_id: 11, file_name: /d/a
# DXT, rank: 0, hostname: n1
# DXT, write_count: 0, read_count: 5
X_POSIX 0 read 0 0 10 0.1000 0.1500
X_POSIX 0 re@d 1 0 10 0.1000 0.1500

X_POSIX 0 read 0 0 10 0.2000 0.25)");
  EXPECT_EQ(calls_in(of.json), 1U);
  ASSERT_EQ(of.faults, 3);
  EXPECT_EQ(of.first_faults[0].offset, 36 + 29 + 37 + 36);
  EXPECT_EQ(of.first_faults[0].bytes, 36);
  EXPECT_EQ(of.first_faults[1].reason, "3 of 5 reads and writes of a file are missing");
}

TEST(Darshan, SeveralLogs) {
  const auto of = darshan_json(R"(# darshan log version: 3.41
# start_time: 1700000010
X_POSIX 1 read 0 0 10 0.1000 0.1500
# darshan log version: 3.41
# start_time: 1700000000
POSIX	0	17	POSIX_OPENS	2	/a	/	ext4
# darshan log version: 3.41
# start_time: 1700000000
# *WARNING*: The DXT_POSIX module contains incomplete data!
X_POSIX 0 read 0 0 10 0.1000 0.1500
)");
  EXPECT_EQ(of.faults, 0);
  EXPECT_NE(of.json.find(R"("pid": 1, "tid": 0, "ts": 100000.000)"), std::string::npos) << of.json;
  EXPECT_NE(of.json.find(R"("pid": 2, "tid": 0, "ts": -9900000.000)"), std::string::npos) << of.json;
  EXPECT_NE(of.json.find("counters in the file are not read"), std::string::npos);
  EXPECT_NE(of.json.find("ran out of memory"), std::string::npos);
}

TEST(Darshan, TextsWithoutCalls) {
  EXPECT_EQ(
      darshan_json("# darshan log version: 3.41\nPOSIX\t0\t17\tPOSIX_OPENS\t2\t/a\t/\text4\n").json,
      "x.txt: has Darshan's counters: sums for each file, and no single calls; `darshan-dxt-parser LOG > "
      "calls.txt` writes the calls of a job that ran with DXT_ENABLE_IO_TRACE=1");
  EXPECT_TRUE(darshan_json("# darshan log version: 3.41\n\n# no DXT module data available for this log.\n")
                  .json.starts_with("x.txt: is of a Darshan log without DXT data; `darshan-dxt-parser"));
  EXPECT_TRUE(
      darshan_json("# darshan log version: 3.41\nX_POSIX 0 read 0\n")
          .json.starts_with("x.txt, at byte 28: is Darshan's text with no read or write in it: the line"));
}

TEST(Darshan, LogsThemselvesAreRefused) {
  using namespace std::string_view_literals;
  for (const std::string_view head : {"3.41\0\0\0\0"
                                      "75d\0\0\0\0\0\0\0"sv,
                                      "3.10\0\0\0\0\0\0\0\0\0"
                                      "d57\0\0"sv}) {
    const auto error = foreign_error(head, "a.darshan");
    ASSERT_TRUE(error);
    EXPECT_EQ(error->text(),
              "a.darshan: is a Darshan log; give the text that `darshan-dxt-parser FILE > calls.txt` writes");
  }
}

}  // namespace
}  // namespace stepscope::read
