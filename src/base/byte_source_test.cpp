#include "base/byte_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/kept_pipes.h"
#include "base/parallel.h"
#include "support/open_text.h"

namespace stepscope {
namespace {

struct TemporaryFile {
  explicit TemporaryFile(std::string_view bytes)
      : path(testing::TempDir() + "stepscope_bytes_" + std::to_string(::getpid())) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  ~TemporaryFile() { std::remove(path.c_str()); }
  std::string path;
};

TEST(OpenBytes, PlainAndCompressedFiles) {
  for (const std::string& bytes :
       {std::string("x"), std::string(1000, 'y'), test::gzip(std::string(1000, 'y'))}) {
    const TemporaryFile file(bytes);
    auto source = open_bytes(file.path);
    ASSERT_TRUE(source.ok());
    EXPECT_EQ((*source)->stored_size, static_cast<std::int64_t>(bytes.size()));
    EXPECT_EQ(test::drained(**source), bytes == "x" ? "x" : std::string(1000, 'y'));
    EXPECT_EQ((*source)->position(), static_cast<std::int64_t>(bytes.size()));
  }
}

TEST(OpenBytes, AnEmptyFileIsNoError) {
  const TemporaryFile file("");
  auto source = open_bytes(file.path);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(test::drained(**source), "");
}

TEST(OpenBytes, WhatCannotBeOpenedSaysWhy) {
  const auto missing = open_bytes("/does/not/exist.json");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().text().find("/does/not/exist.json: cannot be opened"), std::string::npos)
      << missing.error().text();
  const auto folder = open_bytes(testing::TempDir());
  ASSERT_FALSE(folder.ok());
  EXPECT_NE(folder.error().message.find("directory"), std::string::npos);
}

TEST(OpenBytes, APipeHasNoSize) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "through a pipe", 14), 14);
  ::close(ends[1]);
  auto source = open_bytes("/dev/fd/" + std::to_string(ends[0]));
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->stored_size, -1);
  EXPECT_EQ(test::drained(**source), "through a pipe");
  ::close(ends[0]);
}

/// The path of a pipe that holds `bytes` and has no writer any more.
std::string pipe_with(std::string_view bytes) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  EXPECT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::close(ends[1]);
  return "/dev/fd/" + std::to_string(ends[0]);
}

TEST(KeepPipes, APipeIsReadFromItsBeginningEachTime) {
  const KeepPipes keep;
  for (const std::string& bytes : {std::string("through a pipe"), test::gzip("through a pipe")}) {
    const std::string path = pipe_with(bytes);
    auto first = open_bytes(path), second = open_bytes(path);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_TRUE((*first)->reopens);
    EXPECT_EQ(peek(*first, 7), "through");
    EXPECT_EQ(test::drained(**second), "through a pipe");
    EXPECT_EQ(test::drained(**first), "through a pipe");
    EXPECT_EQ(test::drained(**open_bytes(path)), "through a pipe");
  }
}

TEST(KeepPipes, WithoutOneAPipeIsReadOnce) {
  const std::string path = pipe_with("once");
  {
    const KeepPipes keep;
  }
  auto source = open_bytes(path);
  ASSERT_TRUE(source.ok());
  EXPECT_FALSE((*source)->reopens);
  EXPECT_EQ(test::drained(**source), "once");
  EXPECT_EQ(test::drained(**open_bytes(path)), "");
}

TEST(KeepPipes, WithoutATemporaryFolderMemoryKeepsTheFirstPart) {
  const char* set = std::getenv("TMPDIR");
  const std::string before = set == nullptr ? "/tmp" : set;
  ::setenv("TMPDIR", "/proc/self", 1);
  const KeepPipes keep;
  const std::string text(std::size_t{65} << 20, 'x');
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    for (std::size_t done = 0; done < text.size();)
      done +=
          static_cast<std::size_t>(std::max<ssize_t>(0, ::write(ends[1], &text[done], text.size() - done)));
    ::close(ends[1]);
  });
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  auto source = open_bytes(path), again = open_bytes(path);
  ASSERT_TRUE(source.ok() && again.ok());
  EXPECT_EQ(test::drained(**source).size(), text.size());
  EXPECT_EQ((*source)->fault_count, 0);
  writer.join();
  EXPECT_GE(test::drained(**again).size(), std::size_t{64} << 20);
  ASSERT_FALSE((*again)->faults.empty());
  EXPECT_TRUE((*again)->faults[0].reason.starts_with("the pipe cannot be read again"));
  ::setenv("TMPDIR", before.c_str(), 1);
}

TEST(Error, TextLeavesOutWhatIsUnknown) {
  EXPECT_EQ((Error{"is odd", "a.json", 7}).text(), "a.json, at byte 7: is odd");
  EXPECT_EQ((Error{"is odd", "a.json"}).text(), "a.json: is odd");
  EXPECT_EQ((Error{"is odd", ""}).text(), "is odd");
}

TEST(ParallelFor, CallsEachIndexOnce) {
  for (unsigned threads : {1u, 2u, 5u, 64u}) {
    for (std::size_t count : {0u, 1u, 3u, 1000u}) {
      std::vector<std::atomic<int>> calls(count);
      parallel_for(count, threads, [&](std::size_t i) { ++calls[i]; });
      for (const auto& n : calls) EXPECT_EQ(n, 1);
    }
  }
}

TEST(ParallelFor, WhatAThreadThrowsReachesTheCaller) {
  for (unsigned threads : {1u, 2u, 64u}) {
    const auto run = [&] {
      parallel_for(1000, threads, [](std::size_t i) {
        if (i % 2 == 1) throw std::bad_alloc();
      });
    };
    EXPECT_THROW(run(), std::bad_alloc) << threads;
  }
}

TEST(ThreadCount, IsAtLeastOne) {
  EXPECT_GE(thread_count(0), 1u);
  EXPECT_EQ(thread_count(3), 3u);
}

TEST(ByteSource, WhatIsPeekedAtIsReadAgain) {
  auto source = memory_bytes("abcdef", 6);
  EXPECT_EQ(peek(source, 4), "abcd");
  EXPECT_EQ(peek(source, 10), "abcdef");
  std::string all(10, '\0');
  all.resize(source->read(all.data(), all.size()));
  EXPECT_EQ(all, "abcdef");
  EXPECT_EQ(source->stored_size, 6);
  EXPECT_EQ(peek(source, 4), "");
}

}  // namespace
}  // namespace stepscope
