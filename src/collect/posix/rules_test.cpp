#include "collect/posix/rules.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <random>
#include <string>

namespace stepscope::collect::posix {
namespace {

/// A path as a program may hold it: at any place in a block, and with anything behind it.
class Held {
 public:
  Held(std::string_view path, std::size_t at, char behind) {
    bytes_.fill(behind);
    at_ = bytes_.data() + at % 16;
    std::memcpy(at_, path.data(), path.size());
    at_[path.size()] = '\0';
  }
  const char* path() const { return at_; }

 private:
  alignas(16) std::array<char, 512> bytes_;
  char* at_;
};

/// The definition, component by component.
bool is_clean(std::string_view path) {
  if (!path.starts_with('/') || path.size() == 1) return false;
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") return false;
    at = end + 1;
  }
  return true;
}

std::size_t look(std::string_view path) { return look_at(Held(path, 0, '/').path()); }

TEST(TracedPaths, LengthOfCleanPaths) {
  EXPECT_EQ(length_if_clean(Held("/a", 3, 'x').path()), 2U);
  EXPECT_EQ(length_if_clean(Held("/data/.hidden/..more/file", 9, '\0').path()), 25U);
  for (const char* path : {"", "a/b", "/", "/a/", "/a//b", "/a/./b", "/a/../b", "/.", "/a/.."})
    EXPECT_EQ(length_if_clean(Held(path, 0, 'x').path()), 0U) << path;
}

TEST(TracedPaths, LengthAtAnyPlace) {
  std::mt19937 random(7);
  for (int i = 0; i < 200'000; ++i) {
    std::string path = "/";
    for (auto left = random() % 70; left > 0; --left) path += "/.ab"[random() % 4];
    const Held held(path, random(), "\0/.x"[random() % 4]);
    ASSERT_EQ(length_if_clean(held.path()), is_clean(path) ? path.size() : 0) << path;
  }
}

TEST(TracedPaths, LooksAtNoOtherPage) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* at = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  char* end = static_cast<char*>(at) + page;
  ASSERT_EQ(::mprotect(end, page, PROT_NONE), 0);
  set_rules("/elsewhere/than/that", nullptr);
  for (std::size_t size = 2; size < 100; ++size) {
    char* path = end - size - 1;
    std::memset(path, 'a', size);
    path[0] = '/';
    path[size] = '\0';
    EXPECT_EQ(length_if_clean(path), size);
    EXPECT_EQ(look_at(path), size < 8 ? size : kLeft);
  }
  ::munmap(at, 2 * page);
}

TEST(TracedPaths, OthersAreLeftIfSomeAreIncluded) {
  set_rules("/data:/home/me/work", nullptr);
  EXPECT_EQ(look("/home/me/other/file"), kLeft);
  EXPECT_EQ(look("/database/file"), 14U);  // begins like /data: is_taken() tells
  EXPECT_FALSE(is_taken("/database/file"));
  EXPECT_EQ(look("/data/file"), 10U);
  EXPECT_TRUE(is_taken("/data/file"));
  EXPECT_EQ(look("/home/me/work"), 13U);
  EXPECT_TRUE(is_taken("/home/me/work"));
  EXPECT_EQ(look("/home/me/../../data/file"), 0U);
}

TEST(TracedPaths, AllButLibrariesWithoutIncludedOnes) {
  set_rules(nullptr, "/scratch/of/others");
  EXPECT_EQ(look("/usr/share/file"), kLeft);
  EXPECT_EQ(look("/usrlocal/file"), 14U);
  EXPECT_TRUE(is_taken("/usrlocal/file"));
  EXPECT_FALSE(is_taken("/home/me/lib/python3.11/os.py"));
  EXPECT_TRUE(is_taken("/scratch/of/mine"));
  EXPECT_FALSE(is_taken("/scratch/of/others/file"));
}

TEST(TracedPaths, LongestCounts) {
  set_rules("/", "/data/tmp");
  EXPECT_TRUE(is_taken("/data/file"));
  EXPECT_FALSE(is_taken("/data/tmp/file"));
  EXPECT_FALSE(is_taken("/usr/share/file"));
  set_rules("/usr/share/data", "/");
  EXPECT_EQ(look("/home/me/file"), kLeft);
  EXPECT_TRUE(is_taken("/usr/share/data/file"));
}

TEST(TracedPaths, DescriptorsAreNotLeft) {
  for (const char* included : {static_cast<const char*>(nullptr), "/data"}) {
    set_rules(included, nullptr);
    for (const char* path :
         {"/dev/stdin", "/dev/stdout", "/dev/fd/3", "/proc/self/fd/12", "/proc/thread-self/fd/3"}) {
      EXPECT_NE(look(path), kLeft) << path;
      EXPECT_TRUE(leads_to_descriptor(path)) << path;
    }
    for (const char* path : {"/dev/shm/file", "/dev/null", "/proc/meminfo", "/home/me/dev/stdin"})
      EXPECT_FALSE(leads_to_descriptor(path)) << path;
  }
}

TEST(TracedPaths, WhatIsLeftIsNotTaken) {
  std::mt19937 random(11);
  const auto some_path = [&](std::size_t most) {
    constexpr std::array<const char*, 9> kParts{"usr",   "dev", "d",           "data", "dat",
                                                "stdin", "fd",  "longer-name", "lib"};
    std::string path;
    for (auto left = 1 + random() % most; left > 0; --left) (path += '/') += kParts[random() % kParts.size()];
    return random() % 50 == 0 ? "/" : path;
  };
  int seen = 0;
  for (int i = 0; i < 2'000; ++i) {
    std::string lists[2];
    for (std::string& list : lists)
      for (auto left = random() % 4; left > 0; --left) (list += some_path(3)) += ':';
    set_rules(lists[0].c_str(), lists[1].c_str());
    for (int k = 0; k < 50; ++k) {
      const std::string path = some_path(5);
      if (look(path) != kLeft) continue;
      ++seen;
      ASSERT_FALSE(is_taken(path)) << path << " of " << lists[0] << " without " << lists[1];
      ASSERT_FALSE(leads_to_descriptor(path.c_str())) << path;
    }
  }
  EXPECT_GT(seen, 10'000);
}

}  // namespace
}  // namespace stepscope::collect::posix
