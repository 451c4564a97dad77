#include "read/strict/mend.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <random>

#include "read/json_text.h"
#include "read/strict/strict.h"

namespace stepscope::read {
namespace {

using trace::Breach;

/// `text` as it is in a block: more text and padding follow.
struct Padded {
  std::string bytes;
  std::size_t size;
  explicit Padded(const std::string& text) : bytes(text + ","), size(text.size()) {
    bytes.append(kPadding, '\0');
  }
  std::string_view view() const { return {bytes.data(), size}; }
  bool strict() const { return strict_end(bytes.data(), bytes.data() + size) == bytes.data() + size; }
};

struct Mended {
  std::string text;
  trace::Breaches breaches;
};

Mended mended(const std::string& value) {
  Mended out;
  mend_value(Padded(value).view(), 100, out.text, out.breaches);
  return out;
}

/// A judge that shares no code with ours. Nesting is limited there, too.
bool other_reader_accepts(const std::string& text) {
  simdjson::dom::parser parser;
  return parser.parse("[" + text + "]").error() == simdjson::SUCCESS;
}

struct Case {
  const char *value, *strict;
  Breach kind;
  int count = 1;
};

constexpr Case kCases[] = {
    {"nan", R"("nan")", Breach::value},
    {"-Infinity", R"("-Infinity")", Breach::value},
    {"None", R"("None")", Breach::value},
    {".5", R"(".5")", Breach::value},
    {"+1", R"("+1")", Breach::value},
    {"1e", R"("1e")", Breach::value},
    {"0x1F", R"("0x1F")", Breach::value},
    {"01", "1", Breach::number},
    {"-007.5", "-7.5", Breach::number},
    {"00.5", "0.5", Breach::number},
    {"000", "0", Breach::number},
    {"1.", "1.0", Breach::number},
    {"1.e5", "1.0e5", Breach::number},
    {R"("C:\Users")", R"("C:\\Users")", Breach::escape},
    {R"("\u12")", R"("\\u12")", Breach::escape},
    {R"("\ud800x")", R"("\ufffdx")", Breach::surrogate},
    {R"("\udc00\ud800")", R"("\ufffd\ufffd")", Breach::surrogate, 2},
    {"\"a\tb\"", R"("a\u0009b")", Breach::control},
    {"\"a\xFF\"", "\"a\xEF\xBF\xBD\"", Breach::utf8},
    {"\"\xED\xA0\x80\"", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"", Breach::utf8, 3},
    {"[1,]", "[1]", Breach::comma},
    {"[,]", "[]", Breach::comma},
    {"[1,,2]", "[1,2]", Breach::comma},
    {R"({,"a":1,})", R"({"a":1})", Breach::comma, 2},
    {"[1}", R"("[1}")", Breach::structure},
    {"{a:1}", R"("{a:1}")", Breach::structure},
    {R"({"a"})", R"("{\"a\"}")", Breach::structure},
    {R"({"a":})", R"("{\"a\":}")", Breach::structure},
    {R"(["a":1])", R"("[\"a\":1]")", Breach::structure},
    {"nan[1]", R"("nan[1]")", Breach::structure},
    {"[nan, [inf ]]", R"(["nan",["inf"]])", Breach::value, 2},
};

TEST(Mend, MakesStrictTextOfEachKind) {
  for (const Case& c : kCases) {
    const Mended out = mended(c.value);
    EXPECT_EQ(out.text, c.strict) << c.value;
    trace::Breaches expected;
    for (int i = 0; i < c.count; ++i) expected.add(c.kind, 0);
    for (std::size_t k = 0; k < trace::kBreaches; ++k)
      EXPECT_EQ(out.breaches.kinds[k].count, expected.kinds[k].count) << c.value << " " << k;
    EXPECT_FALSE(Padded(c.value).strict()) << c.value;
    EXPECT_TRUE(other_reader_accepts(out.text)) << out.text;
  }
}

TEST(Mend, LeavesStrictTextAsItIs) {
  for (const std::string text :
       {R"("plain")", R"("\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00")", "\"caf\xC3\xA9 \xF0\x9F\x98\x80\"",
        "\"\xEF\xBF\xBD\"", "0", "-0", "-1.5e+10", "1E5", "true", "false", "null", "[]", "{}",
        R"([1,[2,{"a":[]}],"x"])", R"({"a":{"b":null},"":[true]})"}) {
    EXPECT_TRUE(Padded(text).strict()) << text;
    const Mended out = mended(text);
    EXPECT_EQ(out.text, text);
    EXPECT_FALSE(out.breaches.any());
  }
}

TEST(Mend, NamesTheFirstPlace) {
  const Mended out = mended(R"({"a":"\U","b":[inf,nan]})");
  EXPECT_EQ(out.breaches.of(Breach::escape).first, 106);
  EXPECT_EQ(out.breaches.of(Breach::value).first, 115);
  EXPECT_EQ(out.breaches.of(Breach::value).count, 2);
}

TEST(Mend, DeepNestingBecomesAString) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(mended(nested(kMaxNesting)).text, nested(kMaxNesting));
  EXPECT_EQ(mended(nested(kMaxNesting + 1)).text, '"' + nested(kMaxNesting + 1) + '"');
  EXPECT_EQ(mended(std::string(100'000, '[')).breaches.of(Breach::structure).count, 1);
}

/// Whatever is done to a text: what is called strict is accepted elsewhere, what is mended is too, and
/// mending changes and counts exactly what is not strict.
TEST(Mend, AgreesWithItselfAndWithAnotherReader) {
  constexpr std::string_view kSeed = R"({"a":[1,-2.50,1,"x\n\u00e9",{"b":null,"c":[true,false,[]]}],"d":"caf)"
                                     "\xC3\xA9"
                                     R"(","e":{}})";
  constexpr std::string_view kBytes = "{}[]\",:\\u0189.-+dDcC nN\t\n\xC3\xFF\x01";
  std::mt19937 random(20);  // NOLINT: the same texts each time
  for (int i = 0; i < 30'000; ++i) {
    std::string text(kSeed);
    for (std::size_t changes = 1 + random() % 3; changes > 0; --changes) {
      const std::size_t at = random() % text.size();
      if (random() % 3 == 0)
        text.erase(at, 1 + random() % 4);
      else
        text.insert(at, 1, kBytes[random() % kBytes.size()]);
    }
    const Padded padded(text);
    const char* end = padded.bytes.data() + padded.size;
    if (value_end(padded.bytes.data(), end) != end) continue;  // no value, or one with something behind it
    const Mended out = mended(text);
    EXPECT_TRUE(other_reader_accepts(out.text)) << text << "\n" << out.text;
    EXPECT_TRUE(Padded(out.text).strict()) << text << "\n" << out.text;
    EXPECT_EQ(padded.strict(), !out.breaches.any()) << text;
    EXPECT_TRUE(!padded.strict() || other_reader_accepts(text)) << text;
  }
}

}  // namespace
}  // namespace stepscope::read
