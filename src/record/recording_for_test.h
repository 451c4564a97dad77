// Builds a recording from records, for tests.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "record/recording.h"
#include "record/text/kineto_text.h"

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

/// A name, and an op with that name.
inline std::string made_records() {
  std::string records;
  put_text(records, 1, "aten::add");
  put_bytes(records, Op{{Type::op, 4, 1}, 2000, 5000, 0, 0, 0, 0});
  return records;
}

inline std::string made_recording(const std::string& records = made_records()) {
  return recording_for_test(records);
}

inline std::string text_of(const std::string& file, OpNames op_names = OpNames::with_overloads) {
  const auto recording = Recording::open(file);
  std::string text;
  if (recording.ok())
    write_kineto(
        *recording,
        [&](std::string_view piece) {
          text += piece;
          return true;
        },
        {}, {}, op_names);
  return text;
}

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

}  // namespace stepscope::record
