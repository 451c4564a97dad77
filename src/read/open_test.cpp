// Files whose format is recognised before they are read.
#include "read/open.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "read/foreign.h"

namespace stepscope::read {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

constexpr std::string_view kPfw =
    R"({"id":"0","name":"read","cat":"POSIX","pid":"0","tid":"7","ts":"100","dur":"8","ph":"X","args":{}})";

TEST(DFTracer, IsOneObjectALineWithoutCommas) {
  const std::string line = std::string(kPfw) + "\n";
  EXPECT_TRUE(is_dftracer("[\n" + line + line + "]"));
  EXPECT_TRUE(is_dftracer("[\n  " + line + line));
  EXPECT_TRUE(is_dftracer("  \n" + line + line)) << "the job was killed before the bracket was written";
  EXPECT_TRUE(is_dftracer(line + line)) << "newer ones have no bracket";
}

TEST(DFTracer, IsNotAnyOtherListOfEvents) {
  const std::string event(kPfw);
  EXPECT_FALSE(is_dftracer("[\n" + event + ",\n" + event + "\n]"));
  EXPECT_FALSE(is_dftracer("[\n" + event + "\n,\n" + event + "\n]"));
  EXPECT_FALSE(is_dftracer("[" + event + "," + event + "]"));
  EXPECT_FALSE(is_dftracer("[\n" + event + "\n]"));
  EXPECT_FALSE(is_dftracer("{\"id\": 1, \"traceEvents\": [" + event + "\n" + event + "]}"));
  EXPECT_FALSE(is_dftracer("[{\"ph\":\"X\",\"pid\":1}\n{\"ph\":\"X\",\"pid\":1}"));
  EXPECT_FALSE(is_dftracer("") || is_dftracer("[") || is_dftracer("{\"id\":"));
}

TEST(DFTracer, OfTheNewestGenerationMayBeginWithMetadata) {
  const std::string line =
      R"({"name":"HH","cat":"dftracer","type":1,"pid":7,"tid":7,"ph":4,"args":{"name":"a","value":"b"}})";
  EXPECT_TRUE(is_dftracer(line + "\n" + std::string(kPfw) + "\n"));
  EXPECT_FALSE(is_dftracer(R"({"name":"a","ph":"X","pid":1,"ts":1})"
                           "\n"
                           R"({"name":"a","ph":"X","pid":1,"ts":1})"))
      << "lines of another tool";
}

std::string text_of(std::string_view ascii, std::size_t zeros_before, std::size_t zeros_behind) {
  std::string text;
  for (const char c : ascii) text += std::string(zeros_before, '\0') + c + std::string(zeros_behind, '\0');
  return text;
}

std::string sentence(const std::string& head) {
  const auto error = foreign_error(head, "file");
  return error ? error->message.substr(0, error->message.find(';')) : "";
}

TEST(Foreign, EncodingsOfWideCharactersAreNamedWithACommandThatConvertsThem) {
  constexpr std::string_view kText = "{\"traceEvents\": []}";
  EXPECT_EQ(sentence(text_of(kText, 0, 1)), "is UTF-16 text");
  EXPECT_EQ(sentence(text_of(kText, 1, 0)), "is UTF-16 text");
  EXPECT_EQ(sentence(text_of(kText, 0, 3)), "is UTF-32 text");
  EXPECT_EQ(sentence(text_of(kText, 3, 0)), "is UTF-32 text");
  EXPECT_NE(foreign_error(text_of("[1]", 1, 0), "f")->message.find("-f UTF-16BE "), std::string::npos);
  EXPECT_NE(foreign_error("\xff\xfe" + text_of("[1]", 0, 1), "f")->message.find("-f UTF-16 "),
            std::string::npos);
  EXPECT_NE(foreign_error("\xff\xfe\0\0"s + text_of("[1]", 0, 3), "f")->message.find("-f UTF-32 "),
            std::string::npos);
  EXPECT_EQ(sentence("\xef\xbb\xbf{}"), "") << "UTF-8 with a byte order mark is read";
  EXPECT_EQ(sentence(std::string("{")), "");
  EXPECT_EQ(sentence("{\0\0\0x"s), "is UTF-32 text");
}

TEST(Foreign, JsonLinesAreNoDocument) {
  const std::string event = R"({"ph":"X","ts":1,"args":{}})";
  EXPECT_EQ(sentence(event + "\n" + event + "\n"), "is JSON Lines, a document in each line");
  EXPECT_EQ(sentence("\n" + event + " \r\n\n" + event), "is JSON Lines, a document in each line");
  EXPECT_EQ(sentence(event), "");
  EXPECT_EQ(sentence(event + "\n"), "");
  EXPECT_EQ(sentence(event + ",\n" + event), "");
  EXPECT_EQ(sentence("{\"traceEvents\": [" + event + "]}\n" + event), "") << "a document with a rest is read";
  EXPECT_EQ(sentence("{\n" + event + "\n" + event + "}"), "");
}

}  // namespace
}  // namespace stepscope::read
