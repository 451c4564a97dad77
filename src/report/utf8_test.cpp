#include "report/utf8.h"

#include <gtest/gtest.h>

namespace stepscope::report {
namespace {

TEST(Utf8, WrongBytesAreReplacedOnce) {
  EXPECT_EQ(valid_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(valid_utf8("\xE2\x82"), "\xEF\xBF\xBD");                              // cut
  EXPECT_EQ(valid_utf8("\xE2\x82z"), "\xEF\xBF\xBDz");                            // cut in the middle
  EXPECT_EQ(valid_utf8("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");                  // overlong
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // surrogate
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(valid_utf8("µs 日本 😀"), "µs 日本 😀");
}

TEST(Utf8, TerminalEscapesAreMadeHarmless) {
  EXPECT_EQ(one_line("\x1b[31mred\x1b[0m"), "�[31mred�[0m");
  EXPECT_EQ(one_line("a\tb\r\n  c"), "a b c");
  EXPECT_EQ(one_line("\xC2\x9B"
                     "31m"),
            "�31m");  // C1 control sequence introducer
  EXPECT_EQ(one_line("\xE2\x80\xAE"
                     "evil"),
            "�evil");  // right-to-left override
  EXPECT_EQ(one_line(std::string_view("a\0b\x7f", 4)), "a�b�");
}

TEST(Utf8, NamesLoseTheirMiddle) {
  EXPECT_EQ(shortened("aten::convolution_backward", 12), "aten::c…ward");
  EXPECT_EQ(shortened("short", 5), "short");
  EXPECT_EQ(shortened("日本語テキスト", 7), "日本…ト");
  EXPECT_EQ(shortened("ab", 1), "…");
  EXPECT_EQ(shortened("ab", 0), "");
  for (int cells = 0; cells < 20; ++cells) EXPECT_LE(cells_of(shortened("é̂日x😀 a long name", cells)), cells);
}

TEST(Utf8, WrapsAtSpacesAndCutsLongWords) {
  EXPECT_EQ(wrapped("the quick brown fox", 10), (std::vector<std::string>{"the quick", "brown fox"}));
  EXPECT_EQ(wrapped("abcdefgh ij", 4), (std::vector<std::string>{"abcd", "efgh", "ij"}));
  EXPECT_EQ(wrapped("", 4), (std::vector<std::string>{""}));
}

}  // namespace
}  // namespace stepscope::report
