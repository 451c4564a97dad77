// Each kind of damage: what is kept, what is counted, and at which byte.
#include <gtest/gtest.h>

#include "support/kineto_text.h"

namespace stepscope::read {
namespace {

using std::string_literals::operator""s;
using test::dump_rows;
using test::event;
using test::gzip;
using test::kHead;
using test::open_text;
using test::row;
using test::Rows;

struct Seen {
  Rows rows;
  trace::Reading reading;
};

Seen seen(std::string_view text) {
  auto trace = open_text(text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().text());
  if (!trace.ok()) return {};
  return {dump_rows(*trace), trace->ranks[0].reading};
}

/// `good` events around one `bad` piece of text: the good ones stay, and one loss spans the bad one.
void expect_only_lost(std::string_view bad) {
  const std::string before = kHead + event("a", 1) + ",\n";
  const std::string text = before + std::string(bad) + ",\n" + event("c", 9) + "]}";
  const Seen s = seen(text);
  EXPECT_EQ(s.rows, (Rows{row("a", 1), row("c", 9)})) << bad;
  ASSERT_EQ(s.reading.losses, 1) << bad;
  EXPECT_EQ(s.reading.first_losses[0].byte, static_cast<std::int64_t>(before.size())) << bad;
  EXPECT_EQ(s.reading.first_losses[0].bytes, static_cast<std::int64_t>(bad.size()) + 2) << bad;
  EXPECT_EQ(s.reading.lost_bytes, static_cast<std::int64_t>(bad.size()) + 2) << bad;
  EXPECT_FALSE(s.reading.first_losses[0].reason.empty()) << bad;
  EXPECT_TRUE(s.reading.complete) << bad;
}

TEST(KinetoDamage, CostsOnlyTheEventItIsIn) {
  expect_only_lost(R"({"ph":"X","name":"say "hi" now","pid":1,"tid":1,"ts":5,"dur":1})");
  expect_only_lost(R"x({"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":1,"args":{"stack":"f("x")","n":1
}
})x");
  expect_only_lost(R"({"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"args":{"l":["a"b","c"]},"dur":1})");
  expect_only_lost(R"({"ph":"X" "name":"b","pid":1,"tid":1,"ts":5,"dur":1})");
  expect_only_lost(R"({"ph":"X","name" "b","pid":1,"tid":1,"ts":5,"dur":1})");
  expect_only_lost(R"({"ph":"X","name":"b","pid":,"tid":1,"ts":5,"dur":1})");
  expect_only_lost(R"({"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":1,"args":{"a":}})");
  expect_only_lost(R"({"ph":"X","name":"b",,"pid":1,"tid":1,"ts":5,"dur":1})");
  expect_only_lost(R"({"ph":X,"name":"b","pid":1,"tid":1,"ts":5,"dur":1})");
  expect_only_lost(R"({ph:"X","name":"b","pid":1,"tid":1,"ts":5,"dur":1})");
  expect_only_lost(R"(nonsense})");
  expect_only_lost(std::string("\0\0\0\0}", 5));
  expect_only_lost("{\"ph\":\"X\",\0\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":1}"s);
}

TEST(KinetoDamage, NulAndControlCharactersInTextsAreKept) {
  const Seen s = seen(kHead + event(std::string("a\0b\n\x01", 5), 1) + "]}");
  ASSERT_EQ(s.rows.size(), 1u);
  EXPECT_EQ(s.rows[0], row(std::string("a\0b\n\x01", 5), 1));
  EXPECT_EQ(s.reading.losses, 0);
}

TEST(KinetoDamage, ABraceTooManyCostsNoEvent) {
  const Seen s = seen(kHead + event("a", 1) + "}," + event("b", 3) + "," + event("c", 5) + "]}");
  EXPECT_EQ(s.rows, (Rows{row("a", 1), row("b", 3), row("c", 5)}));
  EXPECT_EQ(s.reading.losses, 1);
  EXPECT_EQ(s.reading.lost_bytes, 2);
}

TEST(KinetoDamage, AMissingCommaCostsNothing) {
  const Seen s = seen(kHead + event("a", 1) + "\n" + event("b", 3) + "]}");
  EXPECT_EQ(s.rows, (Rows{row("a", 1), row("b", 3)}));
  EXPECT_EQ(s.reading.losses, 0);
}

TEST(KinetoDamage, ACutFileKeepsEveryCompleteEvent) {
  const std::string first = kHead + event("a", 1), second = "," + event("b", 3),
                    whole = first + second + "]}";
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    const std::string text = whole.substr(0, cut);
    const auto trace = open_text(text);
    if (cut < first.size()) {
      EXPECT_FALSE(trace.ok()) << text;
      continue;
    }
    ASSERT_TRUE(trace.ok()) << text;
    const bool has_second = cut >= first.size() + second.size();
    EXPECT_EQ(dump_rows(*trace), (has_second ? Rows{row("a", 1), row("b", 3)} : Rows{row("a", 1)})) << text;
    const trace::Reading& reading = trace->ranks[0].reading;
    EXPECT_EQ(reading.complete, cut == whole.size()) << text;
    EXPECT_EQ(reading.text_bytes, static_cast<std::int64_t>(cut));
    const bool in_second = cut > first.size() + 1 && !has_second;
    EXPECT_EQ(reading.losses, in_second ? 1 : 0) << text;
    if (in_second) {
      EXPECT_EQ(reading.first_losses[0].byte, static_cast<std::int64_t>(first.size() + 1));
      EXPECT_EQ(reading.lost_bytes, static_cast<std::int64_t>(cut - first.size() - 1));
    }
  }
}

TEST(KinetoDamage, ACutGzipKeepsWhatItHolds) {
  std::string text = kHead + event("first", 0);
  for (int i = 1; i < 2000; ++i) text += "," + event("n" + std::to_string(i * 7919 % 10007), i);
  const std::string whole = test::gzip(text + "]}");
  const Seen s = seen(whole.substr(0, whole.size() / 2));
  EXPECT_GT(s.rows.size(), 500u);
  EXPECT_LT(s.rows.size(), 1500u);
  EXPECT_FALSE(s.reading.complete);
  ASSERT_GE(s.reading.first_losses.size(), 1u);
  EXPECT_EQ(s.reading.first_losses[0].byte, static_cast<std::int64_t>(whole.size() / 2))
      << "gzip damage is placed in the file as stored";
}

TEST(KinetoDamage, ADamagedGzipMemberCostsItself) {
  std::string middle = test::gzip("," + event("b", 3));
  for (std::size_t i = 12; i < middle.size(); ++i) middle[i] = static_cast<char>(middle[i] ^ 0x55);
  const std::string head = test::gzip(kHead + event("a", 1));
  const Seen s = seen(head + middle + test::gzip("," + event("c", 5) + "," + event("d", 7) + "]}"));
  ASSERT_GE(s.rows.size(), 2u);
  EXPECT_EQ(s.rows.front(), row("a", 1));
  EXPECT_EQ(s.rows.back(), row("d", 7));
  ASSERT_GE(s.reading.losses, 1);
  EXPECT_GE(s.reading.first_losses[0].byte, static_cast<std::int64_t>(head.size()));
  EXPECT_LE(s.reading.first_losses[0].byte, static_cast<std::int64_t>(head.size() + middle.size()));
}

TEST(KinetoDamage, TextBehindTheEndIsOneLoss) {
  const std::string whole = kHead + event("a", 1) + "]}";
  const Seen s = seen(whole + " garbage " + event("old", 7) + "," + event("older", 8));
  EXPECT_EQ(s.rows, Rows{row("a", 1)});
  EXPECT_EQ(s.reading.losses, 1);
  EXPECT_EQ(s.reading.first_losses[0].byte, static_cast<std::int64_t>(whole.size() + 1));
  EXPECT_FALSE(s.reading.complete);
}

TEST(KinetoDamage, AnUnescapedQuoteInTheHeadDoesNotHideTheEvents) {
  const Seen s = seen(R"({"INFO": ["say "hi""], "traceEvents":[)" + event("a", 1) + "," + event("b", 3) +
                      "," + event("c", 5) + "]}");
  EXPECT_EQ(s.rows, (Rows{row("b", 3), row("c", 5)}));
  EXPECT_EQ(s.reading.losses, 1);
  EXPECT_EQ(s.reading.first_losses[0].byte, 1);
}

TEST(KinetoDamage, NothingReadableIsAnErrorWithAPlace) {
  for (std::string_view text : {"", " ", "hello", "{}", "[]", "{\"traceEvents\":[]}", "{\"traceEvents\":{}}",
                                "{\"traceEvents\":[{\"ph\":\"X\"", "\x1f\x8b", "\x1f\x8b\x08", "null",
                                "{\"a\"", "[[[[", "]", "}", "\"", "{\"traceEvents\":["}) {
    const auto trace = open_text(text);
    ASSERT_FALSE(trace.ok()) << text;
    EXPECT_EQ(trace.error().file, "text");
    EXPECT_FALSE(trace.error().message.empty());
  }
  EXPECT_EQ(open_text("hello").error().byte, 0);
  EXPECT_EQ(open_text("{\"traceEvents\":[{\"ph\":\"X\"").error().byte, 16);
}

TEST(KinetoDamage, EventsWithoutAUsableTimeAreNoSuccess) {
  EXPECT_FALSE(open_text(kHead + R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"x"}}]})").ok());
  EXPECT_FALSE(open_text(kHead + R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":null,"dur":3}]})").ok());
  EXPECT_FALSE(open_text(kHead + "{},{}]}").ok());
}

TEST(KinetoDamage, AbsurdTimesAreCountedAndNeverOverflow) {
  const auto at = [](std::string_view times) {
    return "{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":1," + std::string(times) + "}";
  };
  const Seen s = seen(kHead + event("a", 1) + "," + at("\"ts\":2,\"dur\":-5") + "," +
                      at("\"ts\":3,\"dur\":NaN") + "," + at("\"ts\":4,\"dur\":1e300") + "," +
                      at("\"ts\":1e300,\"dur\":1") + "," + at("\"ts\":NaN,\"dur\":1") + "," +
                      at("\"ts\":-1e30,\"dur\":1") + "," + at("\"ts\":\"5\",\"dur\":\"2.5\"") + "," +
                      at("\"ts\":6,\"dur\":99999999999999999999999") + "," + at("\"ts\":7") + "]}");
  EXPECT_EQ(s.rows, (Rows{row("a", 1), "1/1 op n [2000, 2000) {}", "1/1 op n [3000, 3000) {}",
                          "1/1 op n [4000, 4000) {}", "1/1 op n [5000, 7500) {}", "1/1 op n [6000, 6000) {}",
                          "1/1 op n [7000, 7000) {}"}));
  EXPECT_EQ(s.reading.clamped_times, 7);
  EXPECT_EQ(s.reading.events, 10);
}

TEST(KinetoDamage, PidsAndTidsOfAnyKindAreKept) {
  const Seen s = seen(
      kHead +
      R"({"ph":"X","name":"a","pid":12345678901234567890,"tid":1.5,"ts":1,"dur":1},{"ph":"X","name":"b","pid":null,"tid":[1],"ts":1,"dur":1},)" +
      R"({"ph":"X","name":"c","ts":1,"dur":1}]})");
  EXPECT_EQ(s.rows.size(), 3u);
  EXPECT_EQ(s.reading.losses, 0);
}

TEST(KinetoDamage, ManyLossesAreCountedButFewDescribed) {
  std::string text = kHead + event("a", 1);
  for (int i = 0; i < 5000; ++i) text += ",{\"ph\":,\"name\":1}";
  const Seen s = seen(text + "," + event("b", 3) + "]}");
  EXPECT_EQ(s.rows, (Rows{row("a", 1), row("b", 3)}));
  EXPECT_EQ(s.reading.losses, 5000);
  EXPECT_EQ(s.reading.first_losses.size(), 16u);
}

TEST(KinetoDamage, GzipFaultsAreCountedButFewDescribed) {
  std::string bytes = test::gzip(kHead + event("a", 1) + ",");
  for (int i = 0; i < 3000; ++i) bytes += "\x1f\x8b\x08\0\0\0\0\0\0\xff\xff\xff"s;
  const Seen s = seen(bytes + test::gzip(event("b", 3) + "]}"));
  EXPECT_EQ(s.rows, (Rows{row("a", 1), row("b", 3)}));
  EXPECT_GE(s.reading.losses, 3000);
  EXPECT_LE(s.reading.first_losses.size(), 16u);
}

}  // namespace
}  // namespace stepscope::read
