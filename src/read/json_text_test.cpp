#include "read/json_text.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <random>

namespace stepscope::read {
namespace {

/// Text with the padding that every block has.
struct Padded {
  explicit Padded(std::string_view text) : bytes(text), size(text.size()) { bytes.append(kPadding, '\0'); }
  const char* begin() const { return bytes.data(); }
  const char* end() const { return bytes.data() + size; }
  std::string bytes;
  std::size_t size;
};

std::optional<std::int64_t> nanoseconds(std::string_view text) {
  const Padded padded(text);
  const char* p = padded.begin();
  std::int64_t value = 0;
  if (!read_microseconds(p, value)) return std::nullopt;
  EXPECT_EQ(p, padded.end()) << text << ": not read to its end";
  return value;
}

TEST(Microseconds, BecomeNanosecondsWithoutLoss) {
  const std::pair<const char*, std::int64_t> kTable[] = {
      {"0", 0},
      {"-0", 0},
      {"7", 7000},
      {"-7.5", -7500},
      {"0.001", 1},
      {"00012.5", 12500},
      {"1623143089861123", 1623143089861123000},
      {"1711964646123456.789", 1711964646123456789},
      {"1711964646123456.001", 1711964646123456001},
      {"9007199254740993.001", kMaxTime},  // as microseconds this is the year 2255
      {"3999999999999999.999", 3999999999999999999},
      {"999999999999999.999", 999999999999999999},
      {"1.0004", 1000},
      {"1.0005", 1001},
      {"1.00049999999999999999999999", 1000},
      {"0.9999", 1000},
      {"-1.0005", -1001},
      {"1.5e3", 1500000},
      {"1.5E+3", 1500000},
      {"15e-1", 1500},
      {"1e-3", 1},
      {"4e-4", 0},
      {"5e-4", 1},
      {"1.711964646123456789e15", 1711964646123456789},
      {"1711964646123456789e-3", 1711964646123456789},
      {"0.000000000000001711964646123456789e30", 1711964646123456789},
      {"0.0000", 0},
      {"1e-400", 0},
      {"0e999999999", 0},
      {"1e18", kMaxTime},
      {"-1e18", -kMaxTime},
      {"1e999999999", kMaxTime},
      {"99999999999999999999999999999999999999999999999999999999999999999999999999999999", kMaxTime},
      {"-99999999999999999999", -kMaxTime},
      {".5", 500},
      {"5.", 5000},
  };
  for (const auto& [text, expected] : kTable) EXPECT_EQ(nanoseconds(text), expected) << text;
}

TEST(Microseconds, AgreeWithLongDecimalArithmetic) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20000; ++round) {
    const auto whole = static_cast<std::int64_t>(random() % 4'000'000'000'000'000);
    const auto fraction = static_cast<std::int64_t>(random() % 1000);
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%s%lld.%03lld", round % 3 == 0 ? "-" : "",
                  static_cast<long long>(whole), static_cast<long long>(fraction));
    const std::int64_t expected = (whole * 1000 + fraction) * (round % 3 == 0 ? -1 : 1);
    ASSERT_EQ(nanoseconds(text.data()), expected) << text.data();
  }
}

TEST(Microseconds, WhatIsNoNumberIsNotMoved) {
  for (std::string_view text : {"", "-", "N/A", "nan", "\"5\"", ".", "-.", "e5", "[1]"}) {
    const Padded padded(text);
    const char* p = padded.begin();
    std::int64_t value = 42;
    EXPECT_FALSE(read_microseconds(p, value)) << text;
    EXPECT_EQ(p, padded.begin()) << text;
  }
}

struct Read {
  Number kind;
  std::int64_t integer;
  double real;
  std::size_t length;
};

Read number(std::string_view text) {
  const Padded padded(text);
  const char* p = padded.begin();
  Read read{Number::none, 0, 0, 0};
  read.kind = read_number(p, read.integer, read.real);
  read.length = static_cast<std::size_t>(p - padded.begin());
  return read;
}

TEST(Numbers, IntegersUpToTheLargestInt64) {
  const std::pair<const char*, std::int64_t> kTable[] = {{"0", 0},
                                                         {"-1", -1},
                                                         {"007", 7},
                                                         {"999999999999999999", 999999999999999999},
                                                         {"-999999999999999999", -999999999999999999},
                                                         {"9223372036854775807", 9223372036854775807}};
  for (const auto& [text, value] : kTable) {
    EXPECT_EQ(number(text).kind, Number::integer) << text;
    EXPECT_EQ(number(text).integer, value) << text;
  }
  EXPECT_EQ(number("9223372036854775808").kind, Number::large);
  EXPECT_EQ(number("99999999999999999999").kind, Number::large);
  EXPECT_EQ(number("-0").kind, Number::large) << "the sign would be lost";
  EXPECT_EQ(number("12,").length, 2u);
}

TEST(Numbers, RealsThatADoublePrints) {
  const std::pair<const char*, double> kTable[] = {{"0.5", 0.5},
                                                   {"-1e3", -1000},
                                                   {"1.7976931348623157e308", 1.7976931348623157e308},
                                                   {"0.09523809523809523", 0.09523809523809523},
                                                   {"2.2250738585072014E-308", 2.2250738585072014e-308},
                                                   {"13.018691588785046", 13.018691588785046}};
  for (const auto& [text, value] : kTable) {
    EXPECT_EQ(number(text).kind, Number::real) << text;
    EXPECT_EQ(number(text).real, value) << text;
  }
  EXPECT_EQ(number("0.123456789012345678").kind, Number::large) << "18 digits";
  EXPECT_EQ(number("1e999").kind, Number::large);
  EXPECT_EQ(number("1.2.3").kind, Number::large);
  EXPECT_EQ(number("1e").kind, Number::large);
}

TEST(Numbers, OfEveryLengthBeforeEveryByte) {
  std::string digits;
  std::int64_t value = 0;
  for (int length = 1; length <= 18; ++length) {
    digits += static_cast<char>('0' + length % 10);
    value = value * 10 + length % 10;
    for (int behind = 0; behind < 256; ++behind) {
      const char c = static_cast<char>(behind);
      if ((c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E') continue;
      const auto read = number(digits + c + "99999999");
      ASSERT_EQ(read.kind, Number::integer) << digits << " before " << behind;
      ASSERT_EQ(read.integer, value) << digits << " before " << behind;
      ASSERT_EQ(read.length, digits.size());
    }
  }
}

TEST(Numbers, WhatIsNone) {
  for (std::string_view text : {"", "-", "nan", "N/A", "+1", ".5", "-inf", "\"1\""}) {
    EXPECT_EQ(number(text).kind, Number::none) << text;
    EXPECT_EQ(number(text).length, 0u) << text;
  }
}

TEST(StringEnd, FindsTheQuoteAtEveryLength) {
  for (std::size_t length = 0; length < 70; ++length) {
    const Padded padded(std::string(length, 'x') + "\" \"");
    bool escaped = true;
    EXPECT_EQ(string_end(padded.begin(), padded.end(), escaped), padded.begin() + length);
    EXPECT_FALSE(escaped);
  }
}

TEST(StringEnd, PassesEscapesAtEveryPlace) {
  for (std::size_t before = 0; before < 40; ++before) {
    const Padded padded(std::string(before, 'x') + "\\\"\\\\" + std::string(20, 'y') + "\"");
    bool escaped = false;
    EXPECT_EQ(string_end(padded.begin(), padded.end(), escaped), padded.end() - 1);
    EXPECT_TRUE(escaped);
  }
}

TEST(StringEnd, OfATextThatEndsIsNothing) {
  for (std::string_view text : {"", "abc", "abc\\", "abc\\\"", "\\\\\\"}) {
    const Padded padded(text);
    bool escaped = false;
    EXPECT_EQ(string_end(padded.begin(), padded.end(), escaped), nullptr) << text;
  }
}

/// Length of the value at the start of `text`; -1: the text ends first; 0: no value.
std::ptrdiff_t value_length(std::string_view text) {
  const Padded padded(text);
  const char* end = value_end(padded.begin(), padded.end());
  return end == nullptr ? -1 : end - padded.begin();
}

TEST(ValueEnd, OfEveryKindOfValue) {
  EXPECT_EQ(value_length("12,"), 2);
  EXPECT_EQ(value_length("true}"), 4);
  EXPECT_EQ(value_length("null ]"), 4);
  EXPECT_EQ(value_length("\"a,]}\" ,"), 6);
  EXPECT_EQ(value_length("[1,[2,{\"a\" : \"]\"}],\"}\"],"), 23);
  EXPECT_EQ(value_length("{},"), 2);
  EXPECT_EQ(value_length(",1"), 0);
  EXPECT_EQ(value_length("}"), 0);
}

TEST(ValueEnd, OfATextThatEnds) {
  for (std::string_view text : {"", "12", "[", "[1,", "\"a", "{\"a\":\"b", "{\"a\":\"b\"", "[\"a\" "})
    EXPECT_EQ(value_length(text), -1) << text;
}

TEST(ValueEnd, StopsAtAQuoteThatIsNotEscaped) {
  EXPECT_EQ(value_length(R"(["a"b"],)"), 0);
  EXPECT_EQ(value_length(R"({"k":"say "x" now"},)"), 0);
}

TEST(ValueEnd, DoesNotRecurse) {
  const std::size_t deep = 10'000'000;
  EXPECT_EQ(value_length(std::string(deep, '[')), -1);
  EXPECT_EQ(value_length(std::string(deep, '[') + std::string(deep, ']') + ","),
            static_cast<std::ptrdiff_t>(2 * deep));
}

TEST(Unescape, UndoesEveryEscape) {
  const std::pair<std::string_view, std::string_view> kTable[] = {
      {R"(plain)", "plain"},
      {R"(\"\\\/\b\f\n\r\t)", "\"\\/\b\f\n\r\t"},
      {R"(\u0041\u00e9\u20AC)", "A\xC3\xA9\xE2\x82\xAC"},
      {R"(\ud83d\ude00)", "\xF0\x9F\x98\x80"},
      {R"(\ud83dx)", "\xEF\xBF\xBDx"},
      {R"(\ude00)", "\xEF\xBF\xBD"},
      {R"(\ud83d\u0041)",
       "\xEF\xBF\xBD"
       "A"},
      {R"(\u12)", "\\u12"},
      {R"(\uzzzz)", "\\uzzzz"},
      {R"(\q)", "\\q"},
      {"end\\", "end\\"},
  };
  for (const auto& [text, expected] : kTable) {
    std::string out = "left over";
    unescape(text, out);
    EXPECT_EQ(out, expected) << text;
  }
}

}  // namespace
}  // namespace stepscope::read
