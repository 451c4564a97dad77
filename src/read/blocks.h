// Splits one file's text into blocks that several parsers fetch in turn. A block ends where an event is
// guessed to end. Each parser proves the guess for the next one; a wrong guess costs a second, serial pass,
// never a wrong answer.
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
  std::int64_t offset = 0;   ///< offset of its first byte in the uncompressed text
  std::uint32_t index = 0;
  bool last = false;

  const char* begin() const { return buffer.data(); }
  const char* end() const { return buffer.data() + size; }
};

/// The first byte of the next event after `from`: a "{" and a key that events have, after a "}" with or
/// without a comma. nullptr if there is none.
const char* next_event(const char* from, const char* end);

/// When next_event found nothing and more text follows: the first byte that must be kept.
const char* undecided(const char* from, const char* end);

/// The same two where each event is a document of its own, in a line of its own. An event starts with a "{"
/// that is no value of another object or list, and a key that events have. The "{" at `from` itself is
/// passed over.
const char* next_line(const char* from, const char* end);
const char* undecided_line(const char* from, const char* end);

/// Max text held at a time. Tests make both small.
struct BlockSizes {
  std::size_t usual = std::size_t{1} << 21;
  /// Max length of an event. Text without an event boundary for so long is skipped as damaged.
  std::size_t most = std::size_t{1} << 26;
};

class BlockReader {
 public:
  /// `guess`: cut blocks at guessed event boundaries. Otherwise blocks are cut anywhere, and the parser gives
  /// back the unread end with unread().
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
