#include "base/text.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(Text, Trimmed) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, CodePointsComeBack) {
  for (const char32_t code :
       {U'\0', U'a', U'\x7F', U'\x80', U'\x7FF', U'\x800', U'\xFFFF', U'\x10000', U'\x10FFFF'}) {
    std::string bytes;
    append_utf8(bytes, code);
    std::string_view rest = bytes;
    EXPECT_EQ(take_code_point(rest), code);
    EXPECT_TRUE(rest.empty());
  }
}

TEST(Text, Json) {
  EXPECT_EQ(json_text("plain µs 日 😀"), "\"plain µs 日 😀\"");
  EXPECT_EQ(json_text("a\"b\\\n\r\t"), R"("a\"b\\\n\r\t")");
  EXPECT_EQ(json_text(std::string_view("\0\x1F\x7F", 3)), R"("\u0000\u001f\u007f")");
  EXPECT_EQ(json_text("\xC2\x9B \xE2\x80\xA8 \xE2\x80\xA9"), R"("\u009b \u2028 \u2029")");
  EXPECT_EQ(json_text("\xFFz\xE2\x82"), "\"\xEF\xBF\xBDz\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace stepscope
