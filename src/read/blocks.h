// One file's text in blocks that several parsers take turns to fetch. A block ends where an event is guessed
// to end; each parser proves the guess for the next one, and a wrong guess costs a second, serial pass, never
// a wrong answer.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/byte_source.h"

namespace stepscope::read {

struct Block {
  std::vector<char> buffer;  ///< text, then kPadding zero bytes; reused from block to block
  std::size_t size = 0;      ///< bytes of text
  std::int64_t offset = 0;   ///< of its first byte in the uncompressed text
  std::uint32_t index = 0;
  bool last = false;

  const char* begin() const { return buffer.data(); }
  const char* end() const { return buffer.data() + size; }
};

/// The first byte of the next event behind `from`: behind "}", with or without a comma, where "{" and a key
/// that events have follow. nullptr if there is none.
const char* next_event(const char* from, const char* end);

/// Where the text must be kept from when next_event found nothing in it and more text follows.
const char* undecided(const char* from, const char* end);

/// How much text is held at a time. Tests make both small.
struct BlockSizes {
  std::size_t usual = std::size_t{1} << 21;
  /// No event is longer; text without an event boundary for so long is given up as damaged.
  std::size_t most = std::size_t{1} << 26;
};

class BlockReader {
 public:
  /// `guess`: cut blocks at guessed event boundaries. Otherwise blocks are cut anywhere and the parser
  /// returns its unread end with unread().
  BlockReader(ByteSource& source, bool guess, BlockSizes sizes = {})
      : source_(source), guess_(guess), sizes_(sizes) {}

  /// Fetches the next block. False at the end. Safe from several threads.
  bool next(Block& block);
  /// Puts text back in front of the next block (serial use only).
  void unread(std::string_view text) {
    carry_.assign(text.begin(), text.end());
    offset_ -= static_cast<std::int64_t>(text.size());
  }
  std::int64_t bytes_read() const { return offset_; }
  std::int64_t stored_position() const { return stored_position_; }

 private:
  ByteSource& source_;
  const bool guess_;
  const BlockSizes sizes_;
  std::mutex mutex_;
  std::vector<char> carry_;
  std::int64_t offset_ = 0;
  std::int64_t stored_position_ = 0;
  std::uint32_t index_ = 0;
  bool ended_ = false;
};

}  // namespace stepscope::read
