#include "derive/io/io_calls.h"

#include <gtest/gtest.h>

#include <set>

#include "make_rank.h"
#include "record/io/functions.h"

namespace stepscope::derive {
namespace {

TEST(IoCalls, EachRecordedFunctionHasAKind) {
  const std::set<std::string_view> others = {"dup",
                                             "dup2",
                                             "dup3",
                                             "fcntl",
                                             "fcntl64",
                                             "flock",
                                             "lockf",
                                             "lockf64",
                                             "readahead",
                                             "posix_fadvise",
                                             "posix_fadvise64",
                                             "io_submit",
                                             "io_uring_submit",
                                             "io_uring_submit_and_wait"};
  for (const std::string_view name : record::kIoNames)
    EXPECT_EQ(io_kind(name) == IoKind::other, others.contains(name)) << name;
}

TEST(IoCalls, NamesOfVariants) {
  EXPECT_EQ(io_kind("__pread64_chk"), IoKind::read);
  EXPECT_EQ(io_kind("preadv64v2"), IoKind::read);
  EXPECT_EQ(io_kind("fread_unlocked"), IoKind::read);
  EXPECT_EQ(io_kind("__open64_2"), IoKind::open);
  EXPECT_EQ(io_kind("__lxstat64"), IoKind::stat);
  EXPECT_EQ(io_kind("preadx"), IoKind::other);
  EXPECT_EQ(io_kind(""), IoKind::other);
}

std::vector<IoCall> calls_of(const std::string& events) {
  const trace::Trace trace = test::open_events(events);
  return io_calls(trace, trace.ranks[0]);
}

// Our own recorder's results of fread are bytes, DFTracer's are items of `size` bytes.
TEST(IoCalls, Bytes) {
  const auto calls = calls_of(R"J(
    {"ph": "X", "cat": "posix_call", "name": "fread", "pid": 5, "tid": 5, "ts": 0, "dur": 1, "args": {"fname": "/a", "offset": 10, "size": 800, "ret": 400, "fd": 3}},
    {"ph": "X", "cat": "STDIO", "name": "fread", "pid": 5, "tid": 5, "ts": 10, "dur": 1, "args": {"fname": "/a", "size": 8, "count": 100, "ret": 50}},
    {"ph": "X", "cat": "posix_call", "name": "read", "pid": 5, "tid": 5, "ts": 20, "dur": 1, "args": {"fname": "/a", "size": 8, "ret": -1, "errno": 5}},
    {"ph": "X", "cat": "posix_call", "name": "io_submit", "pid": 5, "tid": 5, "ts": 30, "dur": 1, "args": {"fname": "/a", "offset": 0, "size": 4096, "ret": 1, "opcode": 1}},
    {"ph": "X", "cat": "posix_call", "name": "open", "pid": 5, "tid": 5, "ts": 40, "dur": 1, "args": {"fname": "/a", "ret": 7}})J");
  ASSERT_EQ(calls.size(), 5U);
  EXPECT_EQ(calls[0].bytes, 400);
  EXPECT_EQ(calls[0].offset, 10);
  EXPECT_EQ(calls[0].descriptor, 3);
  EXPECT_EQ(calls[1].bytes, 400);
  EXPECT_EQ(calls[1].offset, -1);
  EXPECT_EQ(calls[2].bytes, 0);
  EXPECT_TRUE(calls[2].failed);
  EXPECT_EQ(calls[3].kind, IoKind::write);
  EXPECT_EQ(calls[3].bytes, 4096);
  EXPECT_EQ(calls[4].bytes, 0);
  EXPECT_FALSE(calls[4].failed);
}

}  // namespace
}  // namespace stepscope::derive
