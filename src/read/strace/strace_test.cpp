#include <gtest/gtest.h>

#include "read/strace/line.h"
#include "read/strace/strace_text.h"

namespace stepscope::read {
namespace {

std::string json_of(std::string_view text, std::int64_t* faults = nullptr) {
  auto source = strace_text(memory_bytes(text.data(), text.size()));
  std::string out;
  char piece[7];  // pieces end anywhere
  for (std::size_t count; (count = source->read(piece, sizeof piece)) > 0;) out.append(piece, count);
  if (faults != nullptr) *faults = source->fault_count;
  return out;
}

std::size_t events_in(const std::string& json) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = json.find("\"ph\"", at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(Strace, IsKnownByItsLines) {
  EXPECT_TRUE(is_strace("12 1700000000.123456 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3 <0.000012>\n"));
  EXPECT_TRUE(is_strace("1700000000.123456 read(3, \"x\", 1) = 1 <0.000012>\n"));
  EXPECT_TRUE(is_strace("strace: Process 12 attached\n[pid 12] 1700000000.1 close(3) = 0 <0.000012>\n"));
  EXPECT_FALSE(is_strace("{\"traceEvents\": []}"));
  EXPECT_FALSE(is_strace("12 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3"));                    // no time
  EXPECT_FALSE(is_strace("12 1700000000.123456 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3"));  // no duration
  EXPECT_FALSE(is_strace(""));
}

TEST(Strace, CallsOfAFile) {
  const std::string json =
      json_of(R"(7 1700000000.000000 openat(AT_FDCWD, "/d/a \"b\".bin", O_RDWR|O_CREAT, 0666) = 3 <0.000010>
7 1700000000.000100 read(3, "abc"..., 4096) = 100 <0.000020>
7 1700000000.000200 read(3, "", 4096) = 0 <0.000005>
7 1700000000.000300 pread64(3, "x, (y", 10, 50) = 5 <0.000001>
7 1700000000.000400 lseek(3, 7, SEEK_SET) = 7 <0.000001>
7 1700000000.000500 write(3, "0123", 4) = 4 <0.000001>
7 1700000000.000600 futex(0x7f, FUTEX_WAIT, 2, NULL) = 0 <0.1>
7 1700000000.000700 close(3) = 0 <0.000002>
7 1700000000.000800 read(3, "x", 1) = 1 <0.000002>
7 1700000000.000900 +++ exited with 0 +++
)");
  EXPECT_EQ(
      json,
      R"({"schemaVersion": 1, "stepscope.strace": 1, "baseTimeNanoseconds": 1700000000000000000, "traceEvents": [
{"ph": "X", "cat": "posix_call", "name": "openat", "pid": 7, "tid": 7, "ts": 0.000, "dur": 10.000, "args": {"fname": "/d/a \"b\".bin", "ret": 3}},
{"ph": "X", "cat": "posix_call", "name": "read", "pid": 7, "tid": 7, "ts": 100.000, "dur": 20.000, "args": {"fname": "/d/a \"b\".bin", "fd": 3, "offset": 0, "size": 4096, "ret": 100}},
{"ph": "X", "cat": "posix_call", "name": "read", "pid": 7, "tid": 7, "ts": 200.000, "dur": 5.000, "args": {"fname": "/d/a \"b\".bin", "fd": 3, "offset": 100, "size": 4096, "ret": 0}},
{"ph": "X", "cat": "posix_call", "name": "pread64", "pid": 7, "tid": 7, "ts": 300.000, "dur": 1.000, "args": {"fname": "/d/a \"b\".bin", "fd": 3, "offset": 50, "size": 10, "ret": 5}},
{"ph": "X", "cat": "posix_call", "name": "lseek", "pid": 7, "tid": 7, "ts": 400.000, "dur": 1.000, "args": {"fname": "/d/a \"b\".bin", "fd": 3, "ret": 7}},
{"ph": "X", "cat": "posix_call", "name": "write", "pid": 7, "tid": 7, "ts": 500.000, "dur": 1.000, "args": {"fname": "/d/a \"b\".bin", "fd": 3, "offset": 7, "size": 4, "ret": 4}},
{"ph": "X", "cat": "posix_call", "name": "close", "pid": 7, "tid": 7, "ts": 700.000, "dur": 2.000, "args": {"fname": "/d/a \"b\".bin", "fd": 3, "ret": 0}}
]}
)");
}

// A call that another thread interrupts is in two lines; its time is that of the first.
TEST(Strace, UnfinishedCalls) {
  const std::string json = json_of(R"(7 1700000000.0 open("/a", O_RDONLY) = 3 <0.000010>
7 1700000000.1 read(3,  <unfinished ...>
8 1700000000.2 stat("/b", 0x7ffd) = -1 ENOENT (No such file or directory) <0.000003>
7 1700000000.3 <... read resumed>"x"..., 10) = 10 <0.200000>
7 1700000000.4 read(3,  <unfinished ...>
)");
  EXPECT_EQ(events_in(json), 3U);
  EXPECT_NE(
      json.find(
          R"("name": "read", "pid": 7, "tid": 7, "ts": 100000.000, "dur": 200000.000, "args": {"fname": "/a", "fd": 3, "offset": 0, "size": 10, "ret": 10})"),
      std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("fname": "/b", "ret": -1, "errno": "ENOENT"})"), std::string::npos) << json;
}

// A thread shares the descriptors of its process, a child gets a copy.
TEST(Strace, ThreadsAndChildren) {
  const std::string json = json_of(R"(7 1700000000.0 open("/a", O_RDONLY) = 3 <0.000010>
7 1700000000.1 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, exit_signal=0}, 88) = 8 <0.000010>
7 1700000000.2 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 9 <0.000010>
8 1700000000.3 close(3) = 0 <0.000010>
7 1700000000.4 read(3, "", 1) = -1 EBADF (Bad file descriptor) <0.000010>
9 1700000000.5 read(3, "", 1) = 0 <0.000010>
9 1700000000.6 read(5</y/z>, "", 1) = 0 <0.000010>
)");
  EXPECT_EQ(events_in(json), 4U) << json;
  EXPECT_NE(json.find(R"("name": "close", "pid": 7, "tid": 8)"), std::string::npos);
  EXPECT_NE(json.find(R"("pid": 9, "tid": 9, "ts": 500000.000, "dur": 10.000, "args": {"fname": "/a")"),
            std::string::npos);
  EXPECT_NE(json.find(R"("fname": "/y/z", "fd": 5, "size": 1)"), std::string::npos);
}

// Until vfork() returns, the child has run; a fork's child may be seen before, too.
TEST(Strace, ChildrenBeforeTheForkReturns) {
  const std::string json = json_of(R"(7 1700000000.0 open("/a", O_RDONLY) = 3 <0.000010>
7 1700000000.1 vfork( <unfinished ...>
8 1700000000.2 read(3, "x", 1) = 1 <0.000010>
8 1700000000.3 close(3) = 0 <0.000010>
7 1700000000.4 <... vfork resumed>) = 8 <0.300000>
8 1700000000.5 read(3, "x", 1) = -1 EBADF (Bad file descriptor) <0.000010>
7 1700000000.6 read(3, "x", 1) = 1 <0.000010>
7 1700000000.7 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_THREAD <unfinished ...>
9 1700000000.8 read(3, "x", 1) = 1 <0.000010>
)");
  EXPECT_EQ(events_in(json), 5U) << json;
  EXPECT_NE(
      json.find(
          R"("pid": 8, "tid": 8, "ts": 200000.000, "dur": 10.000, "args": {"fname": "/a", "fd": 3, "offset": 0)"),
      std::string::npos)
      << json;
  EXPECT_NE(
      json.find(
          R"("pid": 7, "tid": 7, "ts": 600000.000, "dur": 10.000, "args": {"fname": "/a", "fd": 3, "offset": 1)"),
      std::string::npos)
      << json;
  EXPECT_NE(
      json.find(
          R"("pid": 7, "tid": 9, "ts": 800000.000, "dur": 10.000, "args": {"fname": "/a", "fd": 3, "offset": 2)"),
      std::string::npos)
      << json;
}

// Two forks are under way: whose child 9 is, is known when one returns.
TEST(Strace, ChildrenOfOneOfTwoForks) {
  const std::string json = json_of(R"(7 1700000000.0 open("/a", O_RDONLY) = 3 <0.000010>
8 1700000000.0 open("/b", O_RDONLY) = 3 <0.000010>
7 1700000000.1 fork( <unfinished ...>
8 1700000000.1 fork( <unfinished ...>
9 1700000000.2 read(3, "x", 1) = 1 <0.000010>
8 1700000000.3 <... fork resumed>) = 9 <0.300000>
9 1700000000.4 read(3, "x", 1) = 1 <0.000010>
)");
  EXPECT_EQ(events_in(json), 3U) << json;
  EXPECT_NE(json.find(R"("pid": 9, "tid": 9, "ts": 400000.000, "dur": 10.000, "args": {"fname": "/b")"),
            std::string::npos)
      << json;
}

TEST(Strace, NumbersOfProcessesAreUsedAgain) {
  const std::string json = json_of(R"(7 1700000000.0 open("/a", O_RDONLY) = 3 <0.000010>
7 1700000000.1 fork() = 8 <0.000010>
8 1700000000.2 open("/b", O_RDONLY) = 4 <0.000010>
8 1700000000.3 +++ exited with 0 +++
7 1700000000.4 fork() = 8 <0.000010>
8 1700000000.5 read(4, "x", 1) = 1 <0.000010>
8 1700000000.6 open("/c", O_RDONLY) = 5 <0.000010>
7 1700000000.7 fork() = 8 <0.000010>
8 1700000000.8 read(5, "x", 1) = 1 <0.000010>
8 1700000000.9 read(3, "x", 1) = 1 <0.000010>
)");
  EXPECT_EQ(events_in(json), 4U) << json;  // three are opened; read(3) is of /a
}

TEST(Strace, DescriptorsCloseAtExec) {
  const std::string json = json_of(R"(7 1700000000.0 open("/a", O_RDONLY|O_CLOEXEC) = 3 <0.000010>
7 1700000000.0 open("/b", O_RDONLY) = 4 <0.000010>
7 1700000000.0 dup3(4, 5, O_CLOEXEC) = 5 <0.000010>
7 1700000000.0 fcntl(3, F_DUPFD, 10) = 10 <0.000010>
7 1700000000.0 fcntl(4, F_SETFD, FD_CLOEXEC) = 0 <0.000010>
7 1700000000.0 fcntl(4, F_SETFD, 0) = 0 <0.000010>
7 1700000000.0 close_range(11, 4294967295, 0) = 0 <0.000010>
7 1700000000.1 execve("/bin/no", ["no"], 0x7f) = -1 ENOENT (No such file or directory) <0.000010>
7 1700000000.1 execve("/bin/x", ["x"], 0x7f /* 3 vars */) = 0 <0.000010>
7 1700000000.2 read(3, "x", 1) = 1 <0.000010>
7 1700000000.2 read(5, "x", 1) = 1 <0.000010>
7 1700000000.3 read(4, "x", 1) = 1 <0.000010>
7 1700000000.4 read(10, "x", 1) = 1 <0.000010>
7 1700000000.5 close_range(4, 9, 0) = 0 <0.000010>
7 1700000000.6 read(4, "x", 1) = 1 <0.000010>
7 1700000000.7 socket(AF_UNIX, SOCK_STREAM, 0) = 10 <0.000010>
7 1700000000.8 read(10, "x", 1) = 1 <0.000010>
)");
  EXPECT_EQ(events_in(json), 8U) << json;  // 2 open, dup3, 3 fcntl, reads of 4 and 10
}

// dup() and fork() share the position, two open() do not.
TEST(Strace, PositionsAreShared) {
  const std::string json = json_of(R"(7 1700000000.0 open("/a", O_RDONLY) = 3 <0.000010>
7 1700000000.0 dup(3) = 4 <0.000010>
7 1700000000.1 read(3, "0123", 4) = 4 <0.000010>
7 1700000000.2 fork() = 8 <0.000010>
8 1700000000.3 read(4, "01", 2) = 2 <0.000010>
7 1700000000.4 read(3, "0", 1) = 1 <0.000010>
7 1700000000.5 read(3, "0", 1) = 9223372036854775807 <0.000010>
7 1700000000.6 read(3, "0", 1) = 1 <0.000010>
)");
  EXPECT_NE(
      json.find(R"("tid": 8, "ts": 300000.000, "dur": 10.000, "args": {"fname": "/a", "fd": 4, "offset": 4)"),
      std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("ts": 400000.000, "dur": 10.000, "args": {"fname": "/a", "fd": 3, "offset": 6)"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("ts": 600000.000, "dur": 10.000, "args": {"fname": "/a", "fd": 3, "size": 1)"),
            std::string::npos)
      << json;
}

TEST(Strace, CallsWithTwoFiles) {
  const std::string json =
      json_of(R"(7 1700000000.0 openat(AT_FDCWD</home>, "d", O_DIRECTORY) = 3</home/d> <0.000010>
7 1700000000.1 renameat2(3, "x", AT_FDCWD</home>, "y", RENAME_NOREPLACE) = 0 <0.000010>
7 1700000000.2 linkat(3, "x", 3, "z", 0) = 0 <0.000010>
7 1700000000.3 symlinkat("../x", 3, "s") = 0 <0.000010>
7 1700000000.4 sendfile(9<socket:[1]>, 3, [0] => [4], 100) = 4 <0.000010>
7 1700000000.5 splice(3, NULL, 9, NULL, 200, 0) = 5 <0.000010>
7 1700000000.6 creat("/o", 0666) = 4 <0.000010>
7 1700000000.7 copy_file_range(3, NULL, 4, NULL, 9, 0) = 7 <0.000010>
)");
  EXPECT_EQ(events_in(json), 8U);
  EXPECT_NE(json.find(R"("fname": "/home/d", "to": "/o", "fd": 3, "size": 9, "ret": 7})"), std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("fname": "/home/d/x", "to": "/home/y")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("fname": "/home/d/x", "to": "/home/d/z")"), std::string::npos);
  EXPECT_NE(json.find(R"("fname": "../x", "to": "/home/d/s")"), std::string::npos);
  EXPECT_NE(
      json.find(
          R"("name": "sendfile", "pid": 7, "tid": 7, "ts": 400000.000, "dur": 10.000, "args": {"fname": "/home/d", "fd": 3, "size": 100, "ret": 4})"),
      std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("fd": 3, "size": 200, "ret": 5})"), std::string::npos);
}

TEST(Strace, BracketsInPaths) {
  const std::string json = json_of(R"(7 1700000000.0 open("/a) = 5 \") = 6", O_RDONLY) = 3</a) = 5> <0.000010>
7 1700000000.1 read(3</a) = 5>,  <unfinished ...>
7 1700000000.2 <... read resumed>") = 9", 4) = 4 <0.000010>
7 1700000000.3 close(3)                         = 0 <0.000010>
)");
  EXPECT_EQ(events_in(json), 3U) << json;
  EXPECT_NE(json.find(R"("fname": "/a) = 5 \") = 6", "ret": 3})"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("offset": 0, "size": 4, "ret": 4})"), std::string::npos) << json;
}

TEST(Strace, FoldersOfDescriptors) {
  const std::string json = json_of(R"(7 1700000000.0 openat(AT_FDCWD, "/d", O_DIRECTORY) = 3 <0.000010>
7 1700000000.1 newfstatat(3, "x.img", {st_size=1, ...}, 0) = 0 <0.000010>
7 1700000000.2 newfstatat(3, "", {st_size=1, ...}, AT_EMPTY_PATH) = 0 <0.000010>
7 1700000000.3 rename("/d/x", "/d/y") = 0 <0.000010>
)");
  EXPECT_NE(json.find(R"("fname": "/d/x.img", "ret": 0)"), std::string::npos) << json;
  EXPECT_NE(
      json.find(
          R"("name": "newfstatat", "pid": 7, "tid": 7, "ts": 200000.000, "dur": 10.000, "args": {"fname": "/d", "ret": 0})"),
      std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("fname": "/d/x", "to": "/d/y")"), std::string::npos);
}

TEST(Strace, OtherLinesAreFaults) {
  std::int64_t faults = 0;
  const std::string json = json_of(
      "7 1700000000.0 open(\"/a\", O_RDONLY) = 3 <0.000010>\nnonsense\n7 1700000000.1 read(3, \"unter\n",
      &faults);
  EXPECT_EQ(events_in(json), 1U);
  EXPECT_EQ(faults, 2);
}

TEST(Strace, TextsOfPaths) {
  EXPECT_EQ(strace_path(R"("a\tb\"c\\d\303\244"...)"), "a\tb\"c\\d\xc3\xa4");
  EXPECT_EQ(strace_path(R"("\0")"), std::string(1, '\0'));
  EXPECT_EQ(strace_path("\"open"), std::nullopt);
  EXPECT_EQ(strace_path("0x7ffd"), std::nullopt);
  EXPECT_EQ(strace_descriptor("3</a>"), 3);
  EXPECT_EQ(strace_descriptor("AT_FDCWD"), -100);
  EXPECT_EQ(strace_descriptor("99999999999999999999"), -1);
}

}  // namespace
}  // namespace stepscope::read
