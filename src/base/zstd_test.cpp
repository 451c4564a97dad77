#include "base/zstd.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <string>

#include "support/open_text.h"

namespace stepscope {
namespace {

std::string frame(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string numbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i * 7919 % 10007) + '\n';
  return text;
}

TEST(Zstd, FramesInPiecesOfAnySize) {
  const std::string text = numbers(200000);
  const std::string bytes = frame(text.substr(0, 5000)) + frame("") + frame(text.substr(5000));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{61}, std::size_t{1} << 16, text.size() * 2}) {
    const auto source = memory_bytes(bytes.data(), bytes.size());
    EXPECT_TRUE(source->compressed);
    EXPECT_EQ(test::drained(*source, piece), text);
    EXPECT_EQ(source->fault_count, 0);
    EXPECT_EQ(source->position(), static_cast<std::int64_t>(bytes.size()));
  }
}

TEST(Zstd, ACutGivesWhatCameBefore) {
  const std::string text = numbers(200000), bytes = frame(text);
  for (std::size_t size = 4; size < bytes.size(); size += bytes.size() / 50) {
    const auto source = memory_bytes(bytes.data(), size);
    const std::string read = test::drained(*source);
    EXPECT_EQ(text.substr(0, read.size()), read);
    ASSERT_EQ(source->fault_count, 1) << size;
    EXPECT_NE(source->faults[0].reason.find("incomplete"), std::string::npos) << source->faults[0].reason;
  }
}

// As pzstd writes them.
TEST(Zstd, ASkippableFrameMayBeFirst) {
  const std::string bytes = std::string("\x50\x2A\x4D\x18\x03\0\0\0abc", 11) + frame("text");
  const auto source = memory_bytes(bytes.data(), bytes.size());
  EXPECT_TRUE(source->compressed);
  EXPECT_EQ(test::drained(*source), "text");
  EXPECT_EQ(source->fault_count, 0);
}

// Only the checksum at the end is wrong: all but the last piece of the text is given.
TEST(Zstd, WhatCameBeforeTheDamageIsGiven) {
  const std::string text = numbers(200000);
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  bytes.resize(ZSTD_compress2(context, bytes.data(), bytes.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  const auto source = memory_bytes(bytes.data(), bytes.size());
  const std::string read = test::drained(*source);
  EXPECT_EQ(text.substr(0, read.size()), read);
  EXPECT_GE(read.size() + (1 << 14), text.size());
  EXPECT_EQ(source->fault_count, 1);
}

TEST(Zstd, DamageEndsIt) {
  const std::string text = numbers(200000);
  std::string bytes = frame(text) + "not zstd at all";
  auto source = memory_bytes(bytes.data(), bytes.size());
  EXPECT_EQ(test::drained(*source), text);
  ASSERT_EQ(source->fault_count, 1);
  EXPECT_NE(source->faults[0].reason.find("damaged"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
