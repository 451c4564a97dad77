#include "read/blocks.h"

#include <gtest/gtest.h>

#include "read/json_text.h"

namespace stepscope::read {
namespace {

/// Where next_event finds an event in `text`; -1 if nowhere.
std::ptrdiff_t event_at(const std::string& text) {
  const std::string padded = text + std::string(kPadding, '\0');
  const char* found = next_event(padded.data(), padded.data() + text.size());
  return found == nullptr ? -1 : found - padded.data();
}

TEST(NextEvent, NeedsABraceAndAKeyOfEvents) {
  EXPECT_EQ(event_at(R"(junk}, {"ph": 1})"), 7);
  EXPECT_EQ(event_at("x}\n{\"name\":"), 3);
  EXPECT_EQ(event_at(R"(}} ,{ "args":)"), 4);
  EXPECT_EQ(event_at(R"({"ph":1})"), -1) << "no brace before it";
  EXPECT_EQ(event_at(R"(},{"other":1})"), -1);
  EXPECT_EQ(event_at(R"(},{"phase":1})"), -1);
  EXPECT_EQ(event_at(R"(},{"p)"), -1) << "the text ends in the key";
  EXPECT_EQ(event_at(R"(},["ph":1])"), -1);
  EXPECT_EQ(event_at(""), -1);
}

/// Joins all blocks of a text; each block is at most `usual` long unless an event is longer.
std::vector<std::string> blocks_of(const std::string& text, bool guess, BlockSizes sizes) {
  const auto source = memory_bytes(text.data(), text.size());
  BlockReader reader(*source, guess, sizes);
  std::vector<std::string> blocks;
  Block block;
  std::int64_t offset = 0;
  while (reader.next(block)) {
    EXPECT_EQ(block.index, blocks.size());
    EXPECT_EQ(block.offset, offset);
    for (std::size_t i = 0; i < kPadding; ++i) EXPECT_EQ(block.end()[i], '\0');
    offset += static_cast<std::int64_t>(block.size);
    blocks.emplace_back(block.begin(), block.end());
    EXPECT_LT(blocks.size(), text.size() + 3);
  }
  EXPECT_TRUE(block.last);
  EXPECT_EQ(reader.bytes_read(), static_cast<std::int64_t>(text.size()));
  return blocks;
}

std::string joined(const std::vector<std::string>& blocks) {
  std::string all;
  for (const std::string& block : blocks) all += block;
  return all;
}

std::string events(int count) {
  std::string text = "[";
  for (int i = 0; i < count; ++i)
    text += (i > 0 ? ",\n{\"ph\":\"X\",\"ts\":" : "{\"ph\":\"X\",\"ts\":") + std::to_string(i) + "}";
  return text + "]";
}

TEST(BlockReader, GuessesEndBeforeAnEvent) {
  const std::string text = events(100);
  for (std::size_t usual : {1u, 30u, 100u, 5000u}) {
    const auto blocks = blocks_of(text, true, {usual, 1 << 20});
    EXPECT_EQ(joined(blocks), text);
    for (std::size_t i = 1; i < blocks.size(); ++i)
      EXPECT_TRUE(blocks[i].starts_with("{\"ph\"")) << blocks[i];
  }
}

TEST(BlockReader, CutsAnywhereWithoutGuesses) {
  const std::string text = events(100);
  const auto blocks = blocks_of(text, false, {64, 1 << 20});
  EXPECT_EQ(joined(blocks), text);
  for (const std::string& block : blocks) EXPECT_LE(block.size(), 64u);
}

TEST(BlockReader, GrowsToTheMostAndNoFurther) {
  const std::string text(1000, 'x');
  const auto blocks = blocks_of(text, true, {8, 128});
  EXPECT_EQ(joined(blocks), text);
  for (const std::string& block : blocks) EXPECT_LE(block.size(), 128u);
}

TEST(BlockReader, EmptyTextIsOneLastBlock) {
  EXPECT_EQ(blocks_of("", false, {}), std::vector<std::string>{""});
}

TEST(BlockReader, UnreadTextComesAgain) {
  const std::string text = "0123456789abcdef";
  const auto source = memory_bytes(text.data(), text.size());
  BlockReader reader(*source, false, {4, 64});
  Block block;
  ASSERT_TRUE(reader.next(block));
  EXPECT_EQ(std::string(block.begin(), block.end()), "0123");
  reader.unread("23");
  ASSERT_TRUE(reader.next(block));
  EXPECT_EQ(block.offset, 2);
  EXPECT_EQ(std::string(block.begin(), block.end()).substr(0, 4), "2345");
}

TEST(Undecided, KeepsWhatMayBecomeABoundary) {
  const auto kept = [](const std::string& text) {
    return std::string(undecided(text.data(), text.data() + text.size()), text.data() + text.size());
  };
  EXPECT_EQ(kept("junk } , {\"p"), "} , {\"p");
  EXPECT_EQ(kept("}}}"), "}");
  EXPECT_EQ(kept("junk"), "");
  EXPECT_EQ(kept("}" + std::string(10000, ' ')), "") << "not for ever";
}

}  // namespace
}  // namespace stepscope::read
