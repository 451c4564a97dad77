#include "collect/python/line_table.h"

#include <gtest/gtest.h>

#include <string>

namespace stepscope::collect {
namespace {

std::string entry(int kind, int units, std::string_view rest = "") {
  return static_cast<char>(0x80 | kind << 3 | (units - 1)) + std::string(rest);
}

// Two units of line 7 (short form), three of line 9 (one line, +2), one without a line, one of line 4 (-5),
// one of line 104 (+100).
const std::string kTable = entry(0, 2, "\x01") + entry(12, 3, "\x05\x09") + entry(15, 1) +
                           entry(13, 1, "\x0b") + entry(14, 1, std::string("\x48\x03\x00\x01\x02", 5));

TEST(LineTable, EachUnitHasItsLine) {
  for (const int unit : {-1, 0, 1}) EXPECT_EQ(line_at(kTable, 7, unit), 7) << unit;
  for (const int unit : {2, 3, 4}) EXPECT_EQ(line_at(kTable, 7, unit), 9) << unit;
  EXPECT_EQ(line_at(kTable, 7, 5), std::nullopt);
  EXPECT_EQ(line_at(kTable, 7, 6), 4);
  EXPECT_EQ(line_at(kTable, 7, 7), 104);
  EXPECT_EQ(line_at(kTable, 7, 8), std::nullopt);
}

TEST(LineTable, CutShort) {
  for (std::size_t length = 0; length < kTable.size(); ++length) {
    const std::string cut = kTable.substr(0, length);
    for (int unit = -1; unit < 10; ++unit) {
      const auto line = line_at(cut, 7, unit);
      EXPECT_TRUE(!line || line == line_at(kTable, 7, unit)) << length << " " << unit;
    }
  }
}

TEST(LineTable, NumbersOutOfBoundsAreNoLines) {
  EXPECT_EQ(line_at(entry(13, 1, "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f"), 7, 0), std::nullopt);  // never ends
  EXPECT_EQ(line_at(entry(13, 1, "\x7e\x7f\x7f\x7f\x7f\x03"), 7, 0), std::nullopt);          // above 2^31
  EXPECT_EQ(line_at(entry(13, 1, "\x11"), 7, 0), std::nullopt);                              // line -1
  EXPECT_EQ(line_at("\x01\x02", 7, 0), std::nullopt);                                        // no entry
}

}  // namespace
}  // namespace stepscope::collect
