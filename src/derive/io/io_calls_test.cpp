#include "derive/io/io_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "derive/io/library_calls.h"
#include "make_rank.h"
#include "record/io/functions.h"
#include "record/io/libraries.h"

namespace stepscope::derive {
namespace {

TEST(IoCalls, EachRecordedFunctionHasAKind) {
  const std::set<std::string_view> others = {"dup",
                                             "dup2",
                                             "dup3",
                                             "fcntl",
                                             "fcntl64",
                                             "readahead",
                                             "posix_fadvise",
                                             "posix_fadvise64",
                                             "io_submit",
                                             "io_uring_submit",
                                             "io_uring_submit_and_wait"};
  for (const std::string_view name : record::kIoNames)
    EXPECT_EQ(io_kind(name) == IoKind::other, others.contains(name)) << name;
}

TEST(IoCalls, EachRecordedFunctionOfALibraryHasItsKind) {
  const std::pair<record::IoKind, IoKind> kKinds[] = {
      {record::IoKind::open, IoKind::open},    {record::IoKind::close, IoKind::close},
      {record::IoKind::read, IoKind::read},    {record::IoKind::write, IoKind::write},
      {record::IoKind::seek, IoKind::seek},    {record::IoKind::sync, IoKind::sync},
      {record::IoKind::change, IoKind::change}};
  for (const record::LibraryCallee& callee : record::kLibraryCallees) {
    const auto* kind = std::ranges::find(kKinds, callee.kind, &std::pair<record::IoKind, IoKind>::first);
    ASSERT_NE(kind, std::end(kKinds)) << callee.name;
    EXPECT_EQ(io_kind(callee.name), kind->second) << callee.name;
    EXPECT_EQ(library_of(callee.name),
              callee.library == record::IoLibrary::hdf5 ? IoLibrary::hdf5 : IoLibrary::mpi_io);
  }
}

TEST(IoCalls, NamesOfVariants) {
  EXPECT_EQ(io_kind("__pread64_chk"), IoKind::read);
  EXPECT_EQ(io_kind("preadv64v2"), IoKind::read);
  EXPECT_EQ(io_kind("fread_unlocked"), IoKind::read);
  EXPECT_EQ(io_kind("__open64_2"), IoKind::open);
  EXPECT_EQ(io_kind("__lxstat64"), IoKind::stat);
  EXPECT_EQ(io_kind("flock"), IoKind::lock);
  EXPECT_EQ(io_kind("lockf64"), IoKind::lock);
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

// H5Dread [0,100) has MPI_File_read_at [10,60), which has pread [20,50); fread [70,90) has read [75,85).
// Another thread's read [30,40) is in none.
TEST(IoCalls, OfLibraries) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "HDF5", "name": "H5Dread", "pid": 5, "tid": 5, "ts": 0, "dur": 100, "args": {"fname": "/a", "object": "/x", "size": 800, "ret": 800}},
    {"ph": "X", "cat": "MPIIO", "name": "MPI_File_read_at", "pid": 5, "tid": 5, "ts": 10, "dur": 50, "args": {"fname": "/a", "size": 90, "ret": 90}},
    {"ph": "X", "cat": "posix_call", "name": "pread64", "pid": 5, "tid": 5, "ts": 20, "dur": 30, "args": {"fname": "/a", "size": 60, "ret": 60}},
    {"ph": "X", "cat": "posix_call", "name": "fread", "pid": 5, "tid": 5, "ts": 70, "dur": 20, "args": {"fname": "/a", "size": 7, "ret": 7}},
    {"ph": "X", "cat": "posix_call", "name": "read", "pid": 5, "tid": 5, "ts": 75, "dur": 10, "args": {"fname": "/a", "size": 4096, "ret": 4096}},
    {"ph": "X", "cat": "posix_call", "name": "read", "pid": 5, "tid": 6, "ts": 30, "dur": 10, "args": {"fname": "/a", "size": 3, "ret": 3}},
    {"ph": "X", "cat": "HDF5", "name": "H5Fclose", "pid": 5, "tid": 5, "ts": 200, "dur": 5, "args": {"fname": "/a", "ret": -1}})J");
  const trace::Rank& rank = trace.ranks[0];
  const auto calls = io_calls(trace, rank);
  EXPECT_EQ(calls.size(), 4U);
  const auto all = library_calls(trace, rank, calls);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].library, IoLibrary::hdf5);
  EXPECT_EQ(all[0].kind, IoKind::read);
  EXPECT_EQ(all[0].bytes, 800);
  EXPECT_EQ(all[0].io, 50'000);
  EXPECT_EQ(all[0].io_bytes, 67);
  EXPECT_EQ(all[1].library, IoLibrary::mpi_io);
  EXPECT_EQ(all[1].io, 30'000);
  EXPECT_EQ(all[1].io_bytes, 60);
  EXPECT_EQ(all[2].kind, IoKind::close);
  EXPECT_EQ(all[2].bytes, 0);
  EXPECT_TRUE(all[2].failed);
  EXPECT_EQ(all[2].io, 0);
}

}  // namespace
}  // namespace stepscope::derive
