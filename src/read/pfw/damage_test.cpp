// Each kind of damage of a DFTracer file: what is kept, what is counted, and at which byte.
#include <gtest/gtest.h>

#include <chrono>

#include "support/kineto_text.h"

namespace stepscope::read {
namespace {

using std::string_literals::operator""s;
using test::dump;
using test::dump_rows;
using test::open_lines;
using test::Rows;

/// A call of 1 µs at `ts` µs, without the end of its line.
std::string call(std::string_view name, int ts) {
  return fmt::format(
      R"({{"id":{},"name":"{}","cat":"POSIX","pid":1,"tid":1,"ts":{},"dur":1,"ph":"X","args":{{"fname":"/a","ret":{}}}}})",
      ts, name, ts, ts);
}
std::string call_row(std::string_view name, int ts) {
  return fmt::format("1/1 io {} [{}000, {}000) {{fname=/a,ret={}}}", name, ts, ts + 1, ts);
}

struct SeenLines {
  Rows rows;
  trace::Reading reading;
};

/// What is read in any number of threads and blocks.
SeenLines seen_lines(std::string_view text) {
  auto trace = open_lines(text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().text());
  if (!trace.ok()) return {};
  for (const test::ReadAs& as : {test::ReadAs{1, {97, 1 << 20}}, {2, {97, 1 << 20}}, {3, {1000, 1 << 20}}}) {
    const auto other = open_lines(text, as);
    EXPECT_TRUE(other.ok());
    if (!other.ok()) continue;
    EXPECT_EQ(dump(*other), dump(*trace)) << as.threads << " threads";
  }
  return {dump_rows(*trace), trace->ranks[0].reading};
}

TEST(PfwDamage, BracketsMayBeAnywhereBetweenEvents) {
  const Rows all{call_row("a", 1), call_row("b", 3), call_row("c", 5)};
  const std::string a = call("a", 1), b = call("b", 3), c = call("c", 5);
  for (const std::string& text : {
           "[\n" + a + "\n" + b + "\n" + c + "]",               // as written
           "  \n" + a + "\n" + b + "\n" + c + "\n",             // killed: two blanks, no end
           a + "\n" + b + "\n" + c,                             // none
           "[\n" + a + "\n]" + b + "\n" + c + "]",              // a child closed its parent's list
           "[\n" + a + "]\n[\n" + b + "\n]\n[" + c + "]\n",     // files one after the other
           "[\n" + a + ",\n" + b + ",\n" + c + ",\n]",          // commas, and one too many
           "[" + a + b + c + "]",                               // no line ends
           "[\r\n" + a + "\r\n\r\n" + b + "\r\n" + c + "\r\n",  // of another system
       }) {
    const SeenLines s = seen_lines(text);
    EXPECT_EQ(s.rows, all) << text;
    EXPECT_EQ(s.reading.losses, 0) << text;
    EXPECT_TRUE(s.reading.complete) << text;
  }
}

/// `bad` between two good lines: the good ones stay, and one loss spans the bad one.
void expect_one_lost(std::string_view bad) {
  const std::string before = "[\n" + call("a", 1) + "\n";
  const std::string text = before + std::string(bad) + "\n" + call("c", 9) + "\n]";
  const SeenLines s = seen_lines(text);
  EXPECT_EQ(s.rows, (Rows{call_row("a", 1), call_row("c", 9)})) << bad;
  ASSERT_EQ(s.reading.losses, 1) << bad;
  EXPECT_EQ(s.reading.first_losses[0].byte, static_cast<std::int64_t>(before.size())) << bad;
  EXPECT_EQ(s.reading.lost_bytes, static_cast<std::int64_t>(bad.size()) + 1) << bad;
  EXPECT_TRUE(s.reading.complete) << bad;
}

TEST(PfwDamage, CostsOnlyTheLineItIsIn) {
  const std::string whole = call("b", 5);
  for (std::size_t size = 1; size + 1 < whole.size(); ++size) expect_one_lost(whole.substr(0, size));
  for (std::size_t from = 1; from + 1 < whole.size(); from += 3)
    if (whole[from] != '{' && whole[from] != ',') expect_one_lost(whole.substr(from));
  expect_one_lost("\0\0\0\0"s);
  expect_one_lost("nonsense");
  expect_one_lost("}");
  expect_one_lost(R"({"id":5,"name":"a "quoted" one","pid":1,"tid":1,"ts":5,"dur":1,"ph":"X"})");
  expect_one_lost(R"({"id":5,"name":"FH","pid":1,"tid":1,"ph":"M","args":{"name":"/a","value":{"name":"x"})");
}

TEST(PfwDamage, NulBytesBeforeAnEventCostOnlyThemselves) {
  const SeenLines s = seen_lines(call("a", 1) + "\n" + "\0\0\0"s + call("b", 3) + "\n" + call("c", 5));
  EXPECT_EQ(s.rows, (Rows{call_row("a", 1), call_row("b", 3), call_row("c", 5)}));
  EXPECT_EQ(s.reading.losses, 1);
  EXPECT_EQ(s.reading.lost_bytes, 3);
}

TEST(PfwDamage, AnEventMayFollowACutOneInItsLine) {
  const SeenLines s = seen_lines(call("a", 1) + "\n" + call("b", 3).substr(0, 60) + call("c", 5) + "\n");
  EXPECT_EQ(s.rows, (Rows{call_row("a", 1), call_row("c", 5)}));
  EXPECT_EQ(s.reading.losses, 1);
}

TEST(PfwDamage, TheLastLineMayBeCut) {
  const std::string two = call("a", 1) + "\n" + call("b", 3) + "\n", last = call("c", 5);
  for (std::size_t size = 1; size < last.size(); ++size) {
    const SeenLines s = seen_lines(two + last.substr(0, size));
    EXPECT_EQ(s.rows, (Rows{call_row("a", 1), call_row("b", 3)})) << size;
    EXPECT_FALSE(s.reading.complete) << size;
    EXPECT_EQ(s.reading.losses, 1) << size;
    EXPECT_EQ(s.reading.lost_bytes, static_cast<std::int64_t>(size)) << size;
  }
}

TEST(PfwDamage, AGzipFileMayLackItsEnd) {
  std::string text;
  Rows all;
  for (int i = 0; i < 2000; ++i) {
    text += call("a", 2 * i + 1) + "\n";
    all.push_back(call_row("a", 2 * i + 1));
  }
  const std::string whole = test::gzip(text);
  const auto trace = open_lines(whole.substr(0, whole.size() - 8));
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(dump_rows(*trace), all);
  EXPECT_GT(trace->ranks[0].reading.losses, 0);
  const auto half = open_lines(whole.substr(0, whole.size() / 2));
  ASSERT_TRUE(half.ok());
  const Rows rows = dump_rows(*half);
  ASSERT_GT(rows.size(), 100u);
  EXPECT_TRUE(std::equal(rows.begin(), rows.end(), all.begin()));
}

TEST(PfwDamage, BytesThatAreNoUtf8AreKept) {
  const SeenLines s = seen_lines(call("\xff\xc0 name", 1) + "\n" + call("b\x01\n", 3) + "\n");
  EXPECT_EQ(s.rows, (Rows{call_row("\xff\xc0 name", 1), call_row("b\x01\n", 3)}));
  EXPECT_EQ(s.reading.losses, 0);
}

TEST(PfwDamage, GenerationsMayBeMixed) {
  const SeenLines s = seen_lines(
      call("a", 1) + "\n" +
      R"({"id":"2","name":"b","cat":"POSIX","pid":"1","tid":"1","ts":"3","dur":"1","ph":"X","args":{"fname":"/a","ret":"3"}})"
      "\n"
      R"({"id":3,"name":"c","cat":"x","type":3,"pid":1,"tid":1,"ts":5,"dur":1,"ph":1,"args":{"fname":"/a","ret":5}})"
      "\n");
  EXPECT_EQ(s.rows,
            (Rows{call_row("a", 1), call_row("b", 3), "1/1 io c [5000, 6000) {type=3,fname=/a,ret=5}"}));
}

TEST(PfwDamage, WithoutAnEventIsAnError) {
  for (const std::string_view text : {"", "[", "[\n]", "{\"id\":", "\xff\xfe", "{\"id\":1}\n{\"id\":2}"}) {
    const auto trace = open_lines(text);
    ASSERT_FALSE(trace.ok()) << text;
    EXPECT_NE(trace.error().message.find(text.empty() ? "is empty"
                                                      : "DFTracer's lines, an event in each, was expected"),
              std::string::npos)
        << trace.error().message;
  }
}

// 12 MB of one thing, with blocks that are soon full.
TEST(PfwDamage, TimeIsBoundedWhateverIsBetweenEvents) {
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string& fill : {"x"s, "{"s, " "s, "\n"s, "["s, "}"s, "{\"name\":["s, "\0"s}) {
    std::string text = call("a", 1) + "\n!";
    while (text.size() < 12'000'000) text += fill;
    text += "\n" + call("b", 3) + "\n" + call("c", 5) + "\n";
    const auto trace = open_lines(text, {1, {std::size_t{1} << 18, std::size_t{1} << 22}});
    ASSERT_TRUE(trace.ok());
    EXPECT_GE(trace->ranks[0].events.size(), 2u) << fill;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(100));
}

}  // namespace
}  // namespace stepscope::read
