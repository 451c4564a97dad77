// For tests: a binary answer as text, and JSON by path.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "lanes/timeline.h"

namespace stepscope::test {

/// Reads numbers from left to right.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <class Value>
  Value one() {
    Value value{};
    if (at_ + sizeof value > bytes_.size()) {
      ADD_FAILURE() << "the answer ends at byte " << at_;
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  /// A column, which ends at a multiple of 8 bytes.
  template <class Value>
  std::vector<Value> column(std::size_t count) {
    std::vector<Value> values(count);
    for (Value& value : values) value = one<Value>();
    at_ = (at_ + 7) / 8 * 8;
    return values;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

/// A line for each box: "lane/row [begin, end) id x count, name, busy, family, flags".
inline std::vector<std::string> boxes_in(const Result<std::string>& answer) {
  if (!answer) return {answer.error().text()};
  Reader in(*answer);
  EXPECT_EQ(in.one<std::uint32_t>(), 0x454C4954U);
  EXPECT_EQ(in.one<std::uint32_t>(), 1U);
  const auto rows = in.one<std::uint32_t>(), boxes = in.one<std::uint32_t>();
  const auto lane = in.column<std::uint32_t>(rows), row = in.column<std::uint32_t>(rows),
             count_of = in.column<std::uint32_t>(rows);
  const auto id = in.column<std::uint32_t>(boxes), name = in.column<std::uint32_t>(boxes),
             count = in.column<std::uint32_t>(boxes);
  const auto begin = in.column<std::uint16_t>(boxes), end = in.column<std::uint16_t>(boxes);
  const auto busy = in.column<std::uint8_t>(boxes), family = in.column<std::uint8_t>(boxes),
             flags = in.column<std::uint8_t>(boxes);
  EXPECT_TRUE(in.at_end());
  std::vector<std::string> out;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::uint32_t b = 0; b < count_of[r]; ++b) {
      const std::size_t i = out.size();
      out.push_back(fmt::format("{}/{} [{}, {}) {} x{}, name {}, busy {}, family {}, flags {}", lane[r],
                                row[r], begin[i], end[i], id[i], count[i], name[i], busy[i], family[i],
                                flags[i]));
    }
  EXPECT_EQ(out.size(), boxes);
  return out;
}

/// A line for each stretch: "counter [begin, end) lowest to highest".
inline std::vector<std::string> stretches_in(const Result<std::string>& answer) {
  if (!answer) return {answer.error().text()};
  Reader in(*answer);
  EXPECT_EQ(in.one<std::uint32_t>(), 0x4E554D53U);
  EXPECT_EQ(in.one<std::uint32_t>(), 1U);
  const auto counters = in.one<std::uint32_t>(), boxes = in.one<std::uint32_t>();
  std::vector<std::string> out;
  for (std::uint32_t c = 0; c < counters; ++c) {
    const auto counter = in.one<std::uint32_t>(), count = in.one<std::uint32_t>();
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto begin = in.one<std::uint16_t>(), end = in.one<std::uint16_t>();
      const auto lowest = in.one<float>(), highest = in.one<float>();
      out.push_back(fmt::format("{} [{}, {}) {} to {}", counter, begin, end, lowest, highest));
    }
  }
  EXPECT_EQ(out.size(), boxes);
  EXPECT_TRUE(in.at_end());
  return out;
}

/// The part of a JSON text at a path such as "/lanes/0/key", as JSON without blanks; the whole for "".
inline std::string json_at(const std::string& text, std::string_view path) {
  simdjson::dom::parser parser;
  simdjson::dom::element whole, part;
  if (parser.parse(text).get(whole) != simdjson::SUCCESS) return "no JSON: " + text.substr(0, 1'000);
  if (whole.at_pointer(path).get(part) != simdjson::SUCCESS) return "nothing at " + std::string(path);
  return simdjson::minify(part);
}

/// The same member of each element of the array at `path`.
inline std::vector<std::string> each(const std::string& text, std::string_view path,
                                     std::string_view member) {
  std::vector<std::string> out;
  for (int i = 0;; ++i) {
    const std::string at = fmt::format("{}/{}", path, i);
    if (json_at(text, at).starts_with("nothing at ")) return out;
    out.push_back(json_at(text, fmt::format("{}/{}", at, member)));
  }
}

}  // namespace stepscope::test
