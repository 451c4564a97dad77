#include "base/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "support/open_text.h"

namespace stepscope {
namespace {

using test::gzip;

/// `count` pseudo-random words, ten per line.
std::string words(std::size_t count) {
  std::mt19937 random(1);
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += "word" + std::to_string(random() % 1000) + (i % 10 == 9 ? '\n' : ' ');
  return text;
}

/// The text that zlib reads from a stream that may be cut.
std::string by_zlib(std::string_view bytes) {
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out(1 << 20, '\0');
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  inflate(&stream, Z_SYNC_FLUSH);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(Gzip, PlainTextPassesThrough) {
  for (std::string_view text : {"", "a", "ab", "\x1f", "plain text"}) {
    const auto source = memory_bytes(text.data(), text.size());
    EXPECT_FALSE(source->compressed);
    EXPECT_EQ(test::drained(*source), text);
    EXPECT_EQ(source->fault_count, 0);
  }
}

TEST(Gzip, OneMemberInPiecesOfAnySize) {
  const std::string text = words(20000);
  for (int level : {0, 1, 6, 9}) {
    const std::string bytes = gzip(text, level);
    for (std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, text.size() * 2}) {
      const auto source = memory_bytes(bytes.data(), bytes.size());
      EXPECT_TRUE(source->compressed);
      EXPECT_EQ(test::drained(*source, piece), text);
      EXPECT_EQ(source->fault_count, 0);
    }
  }
}

TEST(Gzip, MembersEmptyOnesAndZeroPadding) {
  const std::string bytes = gzip("one ") + gzip("") + gzip("two ") + std::string(100, '\0') + gzip("three") +
                            std::string(512, '\0');
  const auto source = memory_bytes(bytes.data(), bytes.size());
  EXPECT_EQ(test::drained(*source), "one two three");
  EXPECT_EQ(source->fault_count, 0);
}

TEST(Gzip, ManySmallMembers) {
  std::string bytes, text;
  for (int i = 0; i < 3000; ++i) {
    const std::string part = words(static_cast<std::size_t>(i % 40));
    bytes += gzip(part);
    text += part;
  }
  const auto source = memory_bytes(bytes.data(), bytes.size());
  EXPECT_EQ(test::drained(*source), text);
  EXPECT_EQ(source->fault_count, 0);
}

TEST(Gzip, ACutAnywhereKeepsWhatZlibKeeps) {
  constexpr std::size_t kMaxSymbol = 258;  // of deflate; the cut may fall into the last symbol
  const std::string text = words(3000), bytes = gzip(text);
  for (std::size_t cut = 18; cut < bytes.size(); cut += 13) {
    const auto source = memory_bytes(bytes.data(), cut);
    const std::string got = test::drained(*source);
    const std::string expected = by_zlib(std::string_view(bytes).substr(0, cut));
    EXPECT_EQ(text.substr(0, got.size()), got) << cut;
    EXPECT_GE(got.size() + kMaxSymbol, expected.size())
        << "cut at " << cut << ": text that was there is missing";
    ASSERT_EQ(source->fault_count, 1) << cut;
    EXPECT_EQ(source->faults[0].offset, static_cast<std::int64_t>(cut));
  }
}

TEST(Gzip, GarbageBehindTheDataIsOneFault) {
  const std::string good = gzip("text"), bytes = good + "not gzip at all \x1f\x8b and more";
  const auto source = memory_bytes(bytes.data(), bytes.size());
  EXPECT_EQ(test::drained(*source), "text");
  ASSERT_EQ(source->fault_count, 1);
  EXPECT_EQ(source->faults[0].offset, static_cast<std::int64_t>(good.size()));
}

TEST(Gzip, AWrongChecksumIsAFaultAndTheTextIsKept) {
  std::string bytes = gzip("text");
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);
  const auto source = memory_bytes(bytes.data(), bytes.size());
  EXPECT_EQ(test::drained(*source), "text");
  EXPECT_EQ(source->fault_count, 1);
}

TEST(Gzip, EveryByteDamagedOnceLosesAtMostItsMember) {
  const std::string first = gzip(words(200)), second = gzip(words(300)), third = gzip("the end");
  for (std::size_t at = 0; at < second.size(); ++at) {
    std::string bytes = first + second + third;
    bytes[first.size() + at] = static_cast<char>(bytes[first.size() + at] ^ 0x41);
    const auto source = memory_bytes(bytes.data(), bytes.size());
    const std::string got = test::drained(*source);
    EXPECT_TRUE(got.starts_with(words(200))) << at;
    EXPECT_TRUE(got.ends_with("the end")) << at;
    const bool free_field = at >= 4 && at < 10;  // no reader checks time, extra flags and system
    EXPECT_TRUE(free_field || at == 3 || source->fault_count >= 1) << at;
  }
}

TEST(Gzip, TextBeforeDamageIsTheSameForPiecesOfAnySize) {
  const std::string text = words(20000), good = gzip(text);
  for (std::size_t at : {std::size_t{100}, good.size() / 3, good.size() / 2, good.size() - 10}) {
    std::string bytes = good;
    for (std::size_t i = at; i < at + 8; ++i) bytes[i] = static_cast<char>(~bytes[i]);
    const auto source = memory_bytes(bytes.data(), bytes.size());
    const std::string expected = test::drained(*source, text.size() * 2);
    for (std::size_t piece : {1, 61, 1000, 65536}) {
      const auto again = memory_bytes(bytes.data(), bytes.size());
      EXPECT_EQ(test::drained(*again, piece), expected) << at << ' ' << piece;
    }
  }
}

TEST(Gzip, HostileHeadersTakeBoundedTimeAndMemory) {
  std::string bytes;
  // Headers, each followed by the begin of an invalid stored block.
  while (bytes.size() < (4u << 20))
    bytes += std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x00\xff", 12);
  const auto source = memory_bytes(bytes.data(), bytes.size());
  const std::string got = test::drained(*source, 1 << 16);
  EXPECT_LT(got.size(), bytes.size() * 10);
  EXPECT_LE(source->faults.size(), 16u);
  EXPECT_GE(source->fault_count, 1);
}

}  // namespace
}  // namespace stepscope
