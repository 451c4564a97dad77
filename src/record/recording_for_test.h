// Builds a recording from records, for tests.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "record/format.h"

namespace stepscope::record {

template <class T>
void put_bytes(std::string& records, const T& value) {
  records.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void put_text(std::string& records, std::uint32_t id, std::string_view text, Type type = Type::text) {
  const std::size_t size = (kTextBytes + text.size() + 1 + 7) & ~std::size_t{7}, end = records.size() + size;
  const Text head{
      {type, static_cast<std::uint16_t>(size / 8), id}, static_cast<std::uint32_t>(text.size()), {}};
  records.append(reinterpret_cast<const char*>(&head), kTextBytes);
  records += text;
  records.resize(end);
}

/// Process 7; 90 ms long; a tick is 1 ns.
struct HeaderForTest : Header {
  HeaderForTest() : Header{} {
    std::memcpy(magic, kMagic, sizeof kMagic);
    version = kVersion;
    header_bytes = kHeaderBytes;
    unit_bytes = kUnitBytes;
    unit_limit = 64;
    claimed = 1;
    pid = 7;
    begin = {1000, 1000, 1'700'000'000'000'001'000};
    end = {90'000'000, 90'000'000, 1'700'000'000'090'000'000};
  }
};

/// A recording of one segment, of thread 9.
inline std::string recording_for_test(const std::string& records, const Header& header = HeaderForTest()) {
  std::string file(kHeaderBytes, '\0');
  std::memcpy(file.data(), static_cast<const void*>(&header), sizeof header);
  SegmentHeader segment{};
  segment.committed = static_cast<std::uint32_t>(sizeof segment + records.size());
  segment.bytes = header.claimed * kUnitBytes;
  segment.thread = 9;
  put_bytes(file, segment);
  return file + records;
}

}  // namespace stepscope::record
